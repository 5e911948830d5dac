import ReachCore
import ReachProbe
import ReachRecords

/// Situations that draws of small Internets have found.
extension DiagnosisSituation {
    private typealias World = DiagnosisWorld

    private static let proxy = "198.51.100.90:3128"
    private static let neighbour = NameServerAddress(HostAddress(IPAddress.at("192.0.2.53")))
    private static let anchor = HostAddress(IPAddress.at("198.51.100.4"))
    private static let page = HostAddress(IPAddress.at("198.51.100.81"))

    private static func ending(_ failure: ExchangeAnswer.Failure) -> World.Change {
        { if case .exchange = $0 { .exchanged(ExchangeAnswer(.failure(failure, "a reason"))) } else { nil } }
    }

    /// Names fail, and an anchor is silent, up to which so many routers answer.
    private static func nameless(_ routers: Int) -> World.Change {
        { task in
            switch task {
            case .servers: .servers([neighbour])
            case .ask: .asked(.failure(code: 2))
            case .trace:
                .traced(
                    PathTrace(
                        hops: (1...routers).map { .init(distance: $0, address: .at("203.0.113.\($0)")) }))
            default: World.dark([.ipv4, .ipv6])(task)
            }
        }
    }

    static let ofDraws: [DiagnosisSituation] = [
        Self("a proxy on the link is off", .failed, .proxy, .gateway, .gateway) {
            $0.proxy = "192.0.2.90:3128"
            $0.change = { task in
                if case .solicit(let hop) = task, hop.address == .at("192.0.2.90") { return .solicited(.silent) }
                if case .connect = task { return .connected(.silent) }
                return nil
            }
        },
        Self("a proxy makes no connection", .failed, .undecided, .target, .proxy) {
            $0.proxy = proxy
            $0.change = ending(.proxyFailed)
        },
        Self("a handshake by a proxy is cut", .failed, .undecided, .target, .proxy) {
            $0.proxy = proxy
            $0.change = ending(.reset(.tls))
        },
        Self("a proxy answers that it reaches nobody", .failed, .undecided, .target, .proxy) {
            ($0.target, $0.proxy) = ("http://www.example.net/", proxy)
            $0.change = { if case .exchange = $0 { .exchanged(.init(.response(502))) } else { nil } }
        },
        Self("a proxy answers that it reaches nobody, as squid does", .failed, .undecided, .target, .proxy) {
            ($0.target, $0.proxy) = ("http://www.example.net/", proxy)
            $0.change = { if case .exchange = $0 { .exchanged(.init(.response(503))) } else { nil } }
        },
        Self("names fail, and an anchor is silent beyond the second router", .failed, .provider, .internet, .internet) {
            $0.anchors = [anchor.address]
            $0.change = nameless(2)
        },
        Self("names fail, and an anchor is silent beyond the gateway", .failed, .undecided, .name, .nameServer) {
            $0.anchors = [anchor.address]
            $0.change = nameless(1)
        },
        Self("a host answers echoes alone, and so does an anchor", .failed, .undecided, .internet, .internet) {
            ($0.target, $0.anchors) = ("https://198.51.100.80/", [anchor.address])
            $0.change = { task in
                switch task {
                case .servers: .servers([neighbour])
                case .connect: .connected(.silent)
                default: nil
                }
            }
        },
        Self("pages are silent by TCP beyond the provider's name server", .failed, .undecided, .internet, .internet) {
            ($0.target, $0.endpoints) = ("http://198.51.100.80/", ["http://\(page)/204"])
            $0.anchors = [anchor.address]
            $0.change = { if case .connect = $0 { .connected(.silent) } else { nil } }
        },
        Self("the second router sees datagrams, and no segment", .failed, .localNetwork, .internet, .internet) {
            ($0.target, $0.endpoints) = ("http://198.51.100.80/", ["http://\(page)/204"])
            $0.anchors = [anchor.address]
            $0.change = { task in
                switch task {
                case .connect: .connected(.silent)
                case .trace:
                    .traced(PathTrace(hops: (1...2).map { .init(distance: $0, address: .at("203.0.113.\($0)")) }))
                default: nil
                }
            }
        },
        Self("a target is late, and no page answers", .unknown, .provider, .internet, .internet) {
            ($0.target, $0.endpoints) = ("icmp://198.51.100.80", ["http://\(page)/204"])
            $0.change = { task in
                if case .trace = task { return .traced(PathTrace(hops: [.init(distance: 1, address: World.gateway)])) }
                return World.dark([.ipv4])(task)
            }
            $0.isLate = { $0 == .ping(World.web, isLarge: false) }
        },
        Self("nothing is dropped here, whatever was too late to show it", .failed, .provider, .internet, .internet) {
            $0.target = "tcp://198.51.100.80:443"
            $0.anchors = [anchor.address]
            $0.change = World.dark([.ipv4])
            $0.isLate = { if case .burst = $0 { true } else { false } }
        },
        Self("something is dropped here, and whose answers was too late", .failed, .undecided, .route, .connect) {
            $0.target = "tcp://198.51.100.80:443"
            $0.anchors = [anchor.address]
            $0.inputDrops = [.ipv4: 9]
            $0.change = World.dark([.ipv4])
            $0.isLate = { if case .burst = $0 { true } else { false } }
        },
        Self("a gateway has two owners, and another router works", .failed, .localNetwork, .address, .gateway) {
            $0.target = "tcp://198.51.100.80:443"
            $0.change = { task in
                switch task {
                case .owners(let hop) where hop.address == World.gateway:
                    .owners([.at("02:00:00:00:00:01"), .at("02:00:00:00:00:66")])
                case .owners(let hop) where hop.address == .at("192.0.2.3"): .owners([.at("02:00:00:00:00:03")])
                case .routers: .routers([.at("192.0.2.3")])
                case .forward: .pinged(.answered)
                default: World.dark([.ipv4])(task)
                }
            }
        },
    ]
}
