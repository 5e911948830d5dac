import ReachCore
import ReachProbe
import ReachRecords

extension DiagnosisSituation {
    private typealias World = DiagnosisWorld

    static let connections: [DiagnosisSituation] = [
        Self("port closed", .failed, .server, .target, .connect) {
            $0.change = { if case .connect = $0 { .connected(.refused) } else { nil } }
        },
        Self("port filtered", .failed, .server, .target, .connect) {
            $0.change = { task in
                switch task {
                case .connect: .connected(.silent)
                case .trace: .traced(PathTrace(end: .reached))
                default: nil
                }
            }
        },
        Self("host silent, though its name server answers", .failed, .server, .target, .connect) {
            $0.change = { if case .connect = $0 { .connected(.silent) } else { nil } }
        },
        Self("a host and one of two name servers silent", .failed, .server, .target, .connect) {
            $0.change = { task in
                switch task {
                case .connect: .connected(.silent)
                case .ask(let question) where question.server == World.secondServer: .asked(.silent)
                case .ping(World.secondServer.host, _): .pinged(.silent)
                default: nil
                }
            }
        },
        Self("the host itself forbids it", .failed, .server, .target, .connect) {
            $0.change = { task in
                switch task {
                case .connect: .connected(.unreachable(113))
                case .trace(let host): .traced(PathTrace(end: .prohibited(by: host.address)))
                default: nil
                }
            }
        },
        Self("one of two addresses dead", .degraded, .server, .target, .connect) {
            $0.change = { task in
                let dead = HostAddress(IPAddress.at("198.51.100.81"))
                switch task {
                case .resolve: return .resolved(.addresses([World.web.address, dead.address]))
                case .connect(dead, _): return .connected(.silent)
                default: return nil
                }
            }
        },
        Self("a firewall of this machine drops it", .failed, .thisMachine, .route, .connect) {
            $0.change = { task in
                switch task {
                case .connect: .connected(.silent)
                case .trace: .traced(PathTrace(end: .failed(1)))
                default: nil
                }
            }
        },
        Self("a firewall of this machine drops what is sent to a port", .failed, .thisMachine, .route, .connect) {
            $0.change = { task in
                switch task {
                case .connect: .connected(.failed(1))
                case .trace: .traced(PathTrace(end: .reached))
                default: nil
                }
            }
        },
        Self("the gateway on a modem is dead", .failed, .provider, .gateway, .gateway) {
            $0.target = "tcp://198.51.100.80:22"
            $0.change = { task in
                switch task {
                case .path(let host):
                    var fact = World.path(to: host.address)
                    fact.ipv4.linkClass = .wwan
                    return .path(fact)
                case .solicit: return .solicited(.silent)
                default: return World.dark([.ipv4, .ipv6])(task)
                }
            }
        },
        Self("a firewall of this machine drops all answers", .failed, .thisMachine, .route, .connect) {
            $0.target = "tcp://198.51.100.80:22"
            $0.change = { task in
                if case .burst = task {
                    .burst(BurstAnswer(sent: 8, droppedHere: 9))
                } else {
                    World.dark([.ipv4])(task)
                }
            }
        },
        Self(
            "a firewall of this machine drops all answers, also those about names", .failed, .thisMachine, .route,
            .connect
        ) {
            $0.change = { task in
                if case .burst = task {
                    .burst(BurstAnswer(sent: 8, droppedHere: 8))
                } else {
                    World.dark([.ipv4, .ipv6])(task)
                }
            }
        },
        Self("the provider is dead while a stray packet is dropped", .failed, .provider, .internet, .internet) {
            $0.target = "tcp://198.51.100.80:22"
            $0.inputDrops = [.ipv4: 2]
            $0.change = World.dark([.ipv4])
        },
        Self("a host is dead while stray packets are dropped by a firewall", .failed, .server, .target, .connect) {
            $0.inputDrops = [.ipv4: 9, .ipv6: 9]
            $0.change = { task in
                switch task {
                case .connect: .connected(.silent)
                case .ping: .pinged(.silent)
                default: nil
                }
            }
        },
        Self("answers by another way are dropped", .failed, .thisMachine, .route, .route) {
            $0.target = "tcp://198.51.100.80:22"
            $0.reversePathDrops = 3
            $0.change = World.dark([.ipv4])
        },
        Self("a host is dead while stray packets are dropped", .failed, .server, .target, .connect) {
            $0.reversePathDrops = 3
            $0.change = { task in
                switch task {
                case .connect: .connected(.silent)
                case .ping: .pinged(.silent)
                default: nil
                }
            }
        },
        Self("a rule of this machine rejects packets afterwards", .failed, .thisMachine, .route, .connect) {
            $0.target = "tcp://198.51.100.80:22"
            $0.change = { task in
                switch task {
                case .connect: .connected(.unreachable(113))
                case .trace(World.web): .traced(PathTrace(end: .prohibited(by: IPAddress.at("192.0.2.2"))))
                default: nil
                }
            }
        },
        Self("a host does not answer ping", .failed, .server, .target, .connect) {
            $0.target = "icmp://192.0.2.7"
            $0.change = { if case .ping = $0 { .pinged(.silent) } else { nil } }
        },
        Self("ping is not permitted, and nothing else was wanted", .unknown) {
            $0.target = "icmp://192.0.2.7"
            $0.change = { if case .ping = $0 { .pinged(.notPermitted) } else { nil } }
        },
        Self("ping is not permitted, and a datagram is answered", .ok) {
            $0.target = "icmp://192.0.2.7"
            $0.change = { task in
                switch task {
                case .ping: .pinged(.notPermitted)
                case .trace: .traced(PathTrace(end: .reached))
                default: nil
                }
            }
        },
        Self("proxy refuses", .failed, .proxy, .target, .proxy) {
            $0.proxy = "198.51.100.90:3128"
            $0.change = { if case .connect = $0 { .connected(.refused) } else { nil } }
        },
        Self("proxy dead", .failed, .proxy, .target, .proxy) {
            $0.proxy = "198.51.100.90:3128"
            $0.change = { task in
                switch task {
                case .connect: .connected(.silent)
                case .trace: .traced(PathTrace(end: .reached))
                default: nil
                }
            }
        },
        Self("proxy wants credentials", .failed, .proxy, .target, .proxy) {
            $0.proxy = "198.51.100.90:3128"
            $0.change = { failure(.proxyAuthentication, $0) }
        },
        Self("a proxy's name does not exist", .failed, .thisMachine, .name, .proxy) {
            $0.proxy = "proxy.example.net:3128"
        },
        Self("a proxy that works", .ok) { $0.proxy = "198.51.100.90:3128" },
    ]

    static let exchanges: [DiagnosisSituation] = [
        Self("large packets vanish", .failed, .provider, .internet, .mtu) { $0.change = { onlySmall($0) } },
        Self("large packets vanish before the gateway", .failed, .localNetwork, .gateway, .mtu) {
            $0.change = { task in
                if case .ping(World.gatewayHost, isLarge: true) = task { return .pinged(.silent) }
                return onlySmall(task)
            }
        },
        Self("large packets vanish, and the gateway answers no pings", .failed, .undecided, .internet, .mtu) {
            $0.change = { task in
                if case .ping(World.gatewayHost, _) = task { return .pinged(.silent) }
                return onlySmall(task)
            }
        },
        Self("large packets to a neighbour vanish", .failed, .localNetwork, .gateway, .mtu) {
            $0.target = "http://192.0.2.80/"
            $0.change = { onlySmall($0) }
        },
        Self("large packets vanish behind a link without a gateway", .failed, .provider, .internet, .mtu) {
            $0.target = "http://198.51.100.80/"
            $0.change = { task in
                switch task {
                case .path(let host): .path(World.pathWithoutGateway(to: host.address))
                case .solicit: .solicited(.noNeighbours)
                default: onlySmall(task)
                }
            }
        },
        Self("only small pings are answered", .ok) {
            $0.change = { if case .ping(_, isLarge: true) = $0 { .pinged(.silent) } else { nil } }
        },
        Self("handshake silent", .failed, .server, .target, .tls) { $0.change = { failure(.silent(.tls), $0) } },
        Self("handshake cut", .failed, .server, .target, .tls) { $0.change = { failure(.reset(.tls), $0) } },
        Self("no TLS at all", .failed, .server, .target, .tls) { $0.change = { failure(.handshake, $0) } },
        Self("certificate expired", .failed, .server, .target, .tls) {
            $0.change = { dates(skew: 1, isValid: false, $0) }
        },
        Self("certificate expired, and the clock is a little wrong", .failed, .server, .target, .tls) {
            $0.change = { dates(skew: 4000, isValid: false, $0) }
        },
        Self("this machine's clock far ahead", .failed, .thisMachine, .target, .clock) {
            $0.change = { dates(skew: -90_000_000, isValid: true, $0) }
        },
        Self("this machine's clock an hour off, and nothing fails", .degraded, .thisMachine, .target, .clock) {
            $0.change = { task in
                guard case .exchange = task else { return nil }
                return .exchanged(ExchangeAnswer(.response(200), clockSkew: .seconds(3600)))
            }
        },
        Self("another host's certificate", .failed, .server, .target, .tls) {
            $0.change = { failure(.certificateWrongHost, $0) }
        },
        Self("unknown authority", .failed, .server, .target, .tls) {
            $0.change = { failure(.certificateUntrusted, $0) }
        },
        Self("a host without a port has a bad certificate", .degraded, .server, .target, .tls) {
            $0.target = "www.example.net"
            $0.change = { failure(.certificateUntrusted, $0) }
        },
        Self("HTTP 500", .failed, .server, .target, .http) { $0.change = { status(500, $0) } },
        Self("HTTP 503", .failed, .server, .target, .http) { $0.change = { status(503, $0) } },
        Self("HTTP 404", .failed, .server, .target, .http) { $0.change = { status(404, $0) } },
        Self("HTTP hangs", .failed, .server, .target, .http) { $0.change = { failure(.silent(.http), $0) } },
        Self("no HTTP", .failed, .server, .target, .http) { $0.change = { failure(.notHTTP, $0) } },
        Self("status 511", .failed, .localNetwork, .portal, .portal) { $0.change = { status(511, $0) } },
        Self("a portal at the endpoint", .failed, .localNetwork, .portal, .portal) {
            $0.target = "internet"
            $0.endpoints = ["http://www.example.net/204"]
            $0.change = { page(.portal("http://login.example/"), $0) }
        },
        Self("a portal drops the target, and the endpoint shows it", .failed, .localNetwork, .portal, .portal) {
            $0.endpoints = ["http://198.51.100.70/204"]
            $0.change = { task in
                if case .connect(_, 443) = task { return .connected(.silent) }
                return page(.portal("http://login.example/"), task)
            }
        },
        Self("one endpoint of two fails", .degraded, .server, .target, .http) {
            $0.target = "internet"
            $0.endpoints = ["http://198.51.100.70/204", "http://198.51.100.71/204"]
            $0.change = { task in
                guard case .exchange(let exchange) = task, exchange.address.description.hasSuffix("71") else {
                    return nil
                }
                return .exchanged(ExchangeAnswer(.response(500), page: .unexpected))
            }
        },
    ]

    private static func failure(_ failure: ExchangeAnswer.Failure, _ task: DiagnosisTask) -> DiagnosisResult? {
        if case .exchange = task { .exchanged(ExchangeAnswer(.failure(failure, "a reason"))) } else { nil }
    }

    /// An exchange succeeds with small segments alone.
    static func onlySmall(_ task: DiagnosisTask) -> DiagnosisResult? {
        guard case .exchange(let exchange) = task, exchange.variant != .smallSegments else { return nil }
        return .exchanged(ExchangeAnswer(.failure(.silent(.http), "")))
    }

    private static func status(_ number: Int, _ task: DiagnosisTask) -> DiagnosisResult? {
        if case .exchange = task { .exchanged(ExchangeAnswer(.response(number))) } else { nil }
    }

    private static func page(_ page: ExchangeAnswer.Page, _ task: DiagnosisTask) -> DiagnosisResult? {
        guard case .exchange(let exchange) = task, exchange.destination.isEndpoint else { return nil }
        return .exchanged(ExchangeAnswer(.response(302), page: page))
    }

    /// The certificate has expired by this machine's clock.
    private static func dates(skew: Int, isValid: Bool, _ task: DiagnosisTask) -> DiagnosisResult? {
        guard case .exchange(let exchange) = task else { return nil }
        guard exchange.variant == .anyCertificate else { return failure(.certificateExpired, task) }
        var answer = ExchangeAnswer(.response(200), clockSkew: .seconds(skew))
        answer.isValidByServersClock = isValid
        return .exchanged(answer)
    }
}
