import ReachCore
import ReachProbe
import ReachRecords

/// Situations in which what was seen leaves a question open, or a witness shows less than it seems to.
extension DiagnosisSituation {
    private typealias World = DiagnosisWorld

    private static let literal = "tcp://198.51.100.80:443"
    private static let anchor = HostAddress(IPAddress.at("198.51.100.4"))
    private static let anchor6 = HostAddress(IPAddress.at("2001:db8:80::4"))
    private static let neighbour = NameServerAddress(HostAddress(IPAddress.at("192.0.2.53")))

    static let ofOpenQuestions: [DiagnosisSituation] = [
        Self(
            "an anchor and the target are silent behind a link without a gateway, and a name server answers", .failed,
            .undecided, .internet, .internet
        ) {
            $0.target = literal
            $0.anchors = [anchor.address]
            $0.change = { task in
                switch task {
                case .path(let host): return .path(World.pathWithoutGateway(to: host.address))
                case .solicit: return .solicited(.noNeighbours)
                case .trace:
                    return .traced(PathTrace(hops: [PathTrace.Hop(distance: 1, address: .at("203.0.113.1"))]))
                case .ask: return nil
                default: return World.dark([.ipv4])(task)
                }
            }
        },
        Self("the gateway is off, and a neighbour's resolver is silent", .failed, .localNetwork, .gateway, .gateway) {
            $0.anchors = [anchor.address]
            $0.change = { task in
                switch task {
                case .servers: .servers([neighbour])
                case .solicit(let hop): .solicited(hop.address == World.gateway ? .silent : .answered)
                default: World.dark([.ipv4, .ipv6])(task)
                }
            }
        },
        Self("IPv4 alone is dark, and a neighbour's resolver fails", .failed, .undecided, .name, .nameServer) {
            $0.anchors = [anchor.address, anchor6.address]
            $0.change = { task in
                switch task {
                case .servers: .servers([neighbour])
                case .ask: .asked(.failure(code: 2))
                default: World.dark([.ipv4])(task)
                }
            }
        },
        Self("a resolver fails, and of the Internet only echoes come back", .failed, .undecided, .name, .nameServer) {
            $0.anchors = [anchor.address]
            $0.change = { task in
                switch task {
                case .servers: .servers([neighbour])
                case .ask: .asked(.failure(code: 2))
                case .ping: nil
                default: World.dark([.ipv4, .ipv6])(task)
                }
            }
        },
        Self("a host without a port has a fault at its root", .degraded, .server, .target, .http) {
            $0.target = "www.example.net"
            $0.change = { if case .exchange = $0 { .exchanged(.init(.response(500))) } else { nil } }
        },
        Self("only the hosts file has the name, and its address is silent", .failed, .undecided, .name, .name) {
            $0.anchors = [anchor.address]
            $0.change = { task in
                let dead = HostAddress(IPAddress.at("198.51.100.99"))
                return switch task {
                case .resolve: .resolved(.addresses([dead.address]))
                case .hosts: .listed([dead.address])
                case .ask: .asked(.silent)
                case .connect(dead, _): .connected(.silent)
                default: nil
                }
            }
        },
        Self(
            "one server of two leads elsewhere, and the system's resolver is slow", .degraded, .undecided, .name,
            .connect
        ) {
            $0.anchors = [anchor.address]
            $0.change = { task in
                let dead = HostAddress(IPAddress.at("198.51.100.99"))
                return switch task {
                case .resolve: .resolved(.notAsked)
                case .ask(let question)
                where question.server == World.secondServer && question.family == .ipv4
                    && question.name == "www.example.net":
                    .asked(.addresses([dead.address]))
                case .connect(dead, _): .connected(.silent)
                default: nil
                }
            }
        },
    ]
}
