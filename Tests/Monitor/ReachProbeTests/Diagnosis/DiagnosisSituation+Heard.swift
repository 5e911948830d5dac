import ReachCore
import ReachProbe
import ReachRecords

/// Situations that draws have found: who is not heard in time, or by one way alone.
extension DiagnosisSituation {
    private typealias World = DiagnosisWorld

    private static let anchor = HostAddress(IPAddress.at("198.51.100.4"))
    private static let neighbour = NameServerAddress(HostAddress(IPAddress.at("192.0.2.53")))
    private static let ofGateway = NameServerAddress(HostAddress(World.gateway))

    static let ofHearing: [DiagnosisSituation] = [
        Self(
            "the network of the address was left, and the target is off", .failed, .localNetwork, .address, .address
        ) {
            $0.target = "tcp://198.51.100.80:443"
            $0.anchors = [anchor.address]
            $0.change = { task in
                let fresh = IPAddress.at("203.0.113.7")
                return switch task {
                case .addresses(let link, .ipv4):
                    .addresses(
                        [.at("192.0.2.2"), fresh].map {
                            InterfaceAddress(interface: link, address: $0, prefixLength: 24)
                        })
                case .connectFrom(fresh, anchor, _): .connected(.connected)
                default: World.dark([.ipv4])(task)
                }
            }
        },
        // Whether it has an address of IPv6 no one has said.
        Self("a machine with IPv6 alone, and a server that is silent about the name's AAAA", .unknown) {
            $0.change = { task in
                switch task {
                case .path(let host) where host.family == .ipv4 && host == World.web:
                    let path = NetworkPath(status: .notReachable, reason: .noRoute)
                    return .path(PathFact(status: .notReachable, reason: .noRoute, ipv4: path))
                case .resolve: return .resolved(.addresses([World.web.address]))
                case .ask(let question) where question.family == .ipv6 && question.name == "www.example.net":
                    return .asked(.silent)
                default: return nil
                }
            }
        },
        Self(
            "a resolver fails for the name and denies what cannot exist, and only echoes come back", .degraded,
            .undecided, .name, .nameServer
        ) {
            $0.target = "www.example.net"
            $0.anchors = [anchor.address]
            $0.change = { task in
                switch task {
                case .servers: .servers([ofGateway, neighbour])
                case .ask(let question) where question.server == neighbour && question.name == "www.example.net":
                    .asked(.failure(code: 2))
                case .connect: .connected(.silent)
                default: nil
                }
            }
        },
        Self("large packets vanish on a line that loses many", .failed, .undecided, .target, .http) {
            $0.change = { onLine(answered: 103, $0) }
        },
        Self("large packets vanish, and another link loses many", .failed, .provider, .internet, .mtu) {
            $0.target = "http://198.51.100.80/"
            $0.change = { task in
                switch task {
                case .path(let host) where [World.server.host, World.secondServer.host].contains(host):
                    var other = World.pathWithoutGateway(to: host.address)
                    (other.ipv4.interface, other.ipv4.interfaceIndex) = ("vpn0", 3)
                    return .path(other)
                case .solicit(let hop) where hop.interface == "vpn0": return .solicited(.noNeighbours)
                case .sample(World.web): return nil
                default: return onLine(answered: 103, task)
                }
            }
        },
        Self("a ping is lost on a line that loses many", .failed, .undecided, .target, .connect) {
            $0.target = "icmp://198.51.100.80"
            $0.change = { task in
                switch task {
                case .ping(World.web, _): return .pinged(.silent)
                case .trace(World.web):
                    return .traced(
                        PathTrace(hops: [PathTrace.Hop(distance: 1, address: World.gateway)], end: .reached))
                default: return onLine(answered: 76, task)
                }
            }
        },
        Self("a proxy wants a login for a plain page", .failed, .proxy, .target, .proxy) {
            ($0.target, $0.proxy) = ("http://www.example.net/", "198.51.100.90:3128")
            $0.change = { if case .exchange = $0 { .exchanged(.init(.response(407))) } else { nil } }
        },
        Self("large packets vanish on a line that loses few", .failed, .provider, .internet, .mtu) {
            $0.change = { onLine(answered: 115, $0) }
        },
        Self(
            "a server answers no pings, and nothing with small segments was heard", .failed, .undecided, .internet, .mtu
        ) {
            $0.isLate = { if case .exchange(let exchange) = $0 { exchange.variant == .smallSegments } else { false } }
            $0.change = { if case .ping(World.web, _) = $0 { .pinged(.silent) } else { onlySmall($0) } }
        },
        Self("a name leads to no host's address, and no server was heard", .failed, .undecided, .name, .name) {
            $0.isLate = { if case .ask = $0 { true } else { false } }
            $0.change = { if case .resolve = $0 { .resolved(.addresses([.at("0.0.0.0")])) } else { nil } }
        },
    ]

    /// Only small segments pass, on a line that loses what is missing of 120 beyond the gateway.
    private static func onLine(answered: Int, _ task: DiagnosisTask) -> DiagnosisResult? {
        guard case .sample(let host) = task, host != World.gatewayHost else { return onlySmall(task) }
        return .sampled(LineSample(sent: 120, answered: answered, roundTrip: .milliseconds(12)))
    }
}
