import ReachCore
import ReachProbe
import ReachRecords

extension DiagnosisSituation {
    private typealias World = DiagnosisWorld

    static let names: [DiagnosisSituation] = [
        Self("name servers silent, though the way to them works", .failed, .nameServer, .name, .nameServer) {
            $0.change = { task in
                switch task {
                case .ask: .asked(.silent)
                case .resolve: .resolved(.notAsked)
                case .trace(let host): .traced(PathTrace(end: host == World.server.host ? .reached : .silent))
                default: nil
                }
            }
        },
        Self("name servers refuse", .failed, .nameServer, .name, .nameServer) { $0.change = { all(.refused, $0) } },
        Self("name servers fail", .failed, .nameServer, .name, .nameServer) {
            $0.change = { all(.failure(code: 2), $0) }
        },
        Self("the servers of one name fail", .failed, .server, .name, .name) {
            $0.change = { task in
                switch task {
                case .ask(let question) where question.name == "www.example.net": .asked(.failure(code: 2))
                case .resolve: .resolved(.notAsked)
                default: nil
                }
            }
        },
        Self("one name server silent", .degraded, .nameServer, .name, .nameServer) {
            $0.change = { second(.silent, $0) }
        },
        Self("one name server fails", .degraded, .nameServer, .name, .nameServer) {
            $0.change = { second(.failure(code: 5), $0) }
        },
        Self("TCP to the name server broken", .degraded, .nameServer, .name, .nameServer) {
            $0.change = { task in
                if case .ask(let question) = task, question.isByTCP { .asked(.silent) } else { nil }
            }
        },
        Self("name servers disagree, and the first knows", .degraded, .nameServer, .name, .nameServer) {
            $0.change = { second(.noSuchName, $0) }
        },
        Self("name servers disagree, and the first denies", .failed, .nameServer, .name, .nameServer) {
            $0.change = { task in
                if case .resolve = task { .resolved(.noAddress) } else { second(.noSuchName, task) }
            }
        },
        Self("a name server to which there is no path", .ok) {
            $0.change = { task in
                guard case .path(World.secondServer.host) = task else { return nil }
                let path = NetworkPath(status: .notReachable, reason: .noRoute)
                return .path(PathFact(status: .notReachable, reason: .noRoute, ipv4: path, ipv6: .notAsked))
            }
        },
        Self("name servers silent, where ping is not permitted", .failed, .provider, .internet, .internet) {
            $0.change = { task in
                if case .ping = task { .pinged(.notPermitted) } else { World.dark([.ipv4, .ipv6])(task) }
            }
        },
        Self("no such name", .failed, .server, .name, .name) { $0.target = "https://wwww.example.net/" },
        Self("a name without addresses", .failed, .server, .name, .name) {
            $0.change = { task in
                switch task {
                case .ask: .asked(.noAddress)
                case .resolve: .resolved(.noAddress)
                default: nil
                }
            }
        },
        Self("the system's resolver does not find what the servers know", .failed, .thisMachine, .name, .name) {
            $0.change = { if case .resolve = $0 { .resolved(.noAddress) } else { nil } }
        },
        Self("a firewall of this machine forbids questions", .failed, .thisMachine, .name, .nameServer) {
            $0.change = { all(.failed(1), $0) }
        },
        Self("only a resolver of this machine, and the gateway dead", .failed, .localNetwork, .gateway, .gateway) {
            $0.change = { task in
                if case .solicit = task { return .solicited(.silent) }
                return ownResolver(task) ?? all(.failure(code: 2), task)
            }
        },
        Self("only a resolver of this machine, which does not run", .failed, .thisMachine, .name, .nameServer) {
            $0.change = { ownResolver($0) ?? all(.refused, $0) }
        },
        Self("every name leads to a portal", .failed, .localNetwork, .portal, .portal) {
            $0.change = { task in
                switch task {
                case .ask(let question):
                    .asked(question.family == .ipv4 ? .addresses([World.gateway]) : .noAddress)
                case .resolve: .resolved(.addresses([World.gateway]))
                default: nil
                }
            }
        },
        Self("a name server answers for names that do not exist", .degraded, .nameServer, .name, .nameServer) {
            $0.change = { task in
                guard case .ask(let question) = task, question.name.hasSuffix(".invalid") else { return nil }
                return .asked(.addresses([IPAddress.at("198.51.100.99")]))
            }
        },
    ]

    private static func all(_ answer: NameServerAnswer, _ task: DiagnosisTask) -> DiagnosisResult? {
        switch task {
        case .ask: .asked(answer)
        case .resolve: .resolved(.notAsked)
        default: nil
        }
    }

    /// The only name server is one on the loopback.
    private static func ownResolver(_ task: DiagnosisTask) -> DiagnosisResult? {
        switch task {
        case .servers: return .servers([NameServerAddress(HostAddress(IPAddress.at("127.0.0.53")))])
        case .path(let host) where host.address.isLoopback:
            var path = NetworkPath(status: .reachable)
            path.interface = "lo"
            path.interfaceIndex = 1
            path.linkClass = .loopback
            return .path(PathFact(status: .reachable, ipv4: path))
        default: return nil
        }
    }

    private static func second(_ answer: NameServerAnswer, _ task: DiagnosisTask) -> DiagnosisResult? {
        if case .ask(let question) = task, question.server == World.secondServer { .asked(answer) } else { nil }
    }
}
