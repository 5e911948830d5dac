import ReachCore
import ReachProbe
import ReachRecords

/// Situations in which a witness near this machine, or one alone, would convict the wrong one.
extension DiagnosisSituation {
    private typealias World = DiagnosisWorld

    private static let literal = "tcp://198.51.100.80:443"
    private static let page = "http://203.0.113.70/204"
    private static let anchor = HostAddress(IPAddress.at("198.51.100.4"))
    private static let router = IPAddress.at("203.0.113.1")
    private static let onLink = NameServerAddress(HostAddress(IPAddress.at("192.0.2.1")))

    static let ofWitnesses: [DiagnosisSituation] = [
        Self(
            "a page by its address is silent, and the gateway's resolver fails", .failed, .provider, .internet,
            .internet
        ) {
            $0.endpoints = [page]
            $0.change = { deadLine($0, .failure(code: 2)) }
        },
        Self(
            "a page by its address is silent, and the gateway's resolver, too", .failed, .provider, .internet, .internet
        ) {
            $0.endpoints = [page]
            $0.change = { deadLine($0, .silent) }
        },
        Self("an anchor is silent, and the gateway's resolver fails", .failed, .undecided, .name, .nameServer) {
            $0.anchors = [anchor.address]
            $0.change = { deadLine($0, .failure(code: 2)) }
        },
        Self("an anchor is silent, and the gateway's resolver, too", .failed, .undecided, .name, .nameServer) {
            $0.anchors = [anchor.address]
            $0.change = { deadLine($0, .silent) }
        },
        Self(
            "an anchor and the target are silent, and a name server answers", .failed, .undecided, .internet, .internet
        ) {
            $0.target = literal
            $0.anchors = [anchor.address]
            $0.change = { if case .ask = $0 { nil } else { World.dark([.ipv4])($0) } }
        },
        Self("the gateway's resolver fails, and the Internet answers", .failed, .nameServer, .name, .nameServer) {
            $0.anchors = [anchor.address]
            $0.change = { task in
                switch task {
                case .ping(anchor, _), .connect(anchor, _): nil
                default: deadLine(task, .failure(code: 2))
                }
            }
        },
        Self("the provider's own resolver answers, and nothing beyond it", .failed, .provider, .internet, .internet) {
            $0.target = literal
            $0.endpoints = [page]
            $0.anchors = [anchor.address]
            $0.change = { if case .ask = $0 { nil } else { World.dark([.ipv4])($0) } }
        },
        Self("each name has the page's address, and the page comes", .degraded, .nameServer, .name, .nameServer) {
            $0.target = "internet"
            $0.endpoints = ["http://www.example.net/204"]
            $0.change = { leadsEveryName(to: World.web, $0) }
        },
        Self("each name has the proxy's address, and the page comes by it", .degraded, .nameServer, .name, .nameServer)
        {
            $0.target = "internet"
            $0.endpoints = ["http://page.example.net/204"]
            $0.proxy = "www.example.net:3128"
            $0.change = { leadsEveryName(to: World.web, $0) }
        },
        Self("the page comes by a proxy, and no name is known here", .ok) {
            $0.target = "internet"
            $0.endpoints = ["http://page.example.net/204"]
            $0.proxy = "198.51.100.90:3128"
            $0.change = { if case .resolve = $0 { .resolved(.noAddress) } else { nil } }
        },
        Self("one host is silent, and a page in another network answers", .failed, .server, .target, .connect) {
            $0.target = literal
            $0.endpoints = [page]
            $0.change = { task in
                switch task {
                case .connect(World.web, _): .connected(.silent)
                case .ping(World.web, _): .pinged(.silent)
                default: nil
                }
            }
        },
        Self("every page answers with 503", .failed, .undecided, .internet, .http) {
            $0.endpoints = [page]
            $0.change = { task in
                guard case .exchange(let exchange) = task else { return nil }
                let page: ExchangeAnswer.Page? = exchange.destination.isEndpoint ? .unexpected : nil
                return .exchanged(ExchangeAnswer(.response(503), page: page))
            }
        },
        Self("a plain answer leads to another host, as a login page does", .unknown) {
            $0.target = "http://www.example.net/"
            $0.change = { redirected($0) }
        },
        Self("a plain answer leads to another host, and the Internet is proved", .ok) {
            $0.target = "http://www.example.net/"
            $0.endpoints = [page]
            $0.change = { redirected($0) }
        },
        Self("questions by UDP are dropped, and TCP is open", .failed, .nameServer, .name, .nameServer) {
            $0.change = { task in
                switch task {
                case .ask(let question) where !question.isByTCP: .asked(.silent)
                case .resolve: .resolved(.notAsked)
                default: nil
                }
            }
        },
        Self("no TCP passes, a name server answers by UDP, and only an echo is asked for", .ok) {
            $0.target = "icmp://198.51.100.80"
            $0.change = { task in
                if case .ask(let question) = task, question.isByTCP { .asked(.silent) } else { nil }
            }
        },
        Self("A is never answered, and this machine has IPv4 alone", .failed, .nameServer, .name, .nameServer) {
            $0.change = { ofIPv4Alone($0) }
        },
        Self("a router forbids the connection, and datagrams pass", .failed, .provider, .internet, .internet) {
            $0.target = literal
            $0.change = { task in
                switch task {
                case .connect(World.web, _): .connected(.unreachable(113, WayComplaint(by: router, .prohibited)))
                case .trace: .traced(PathTrace(end: .reached))
                default: nil
                }
            }
        },
        Self("one of two next hops passes nothing on", .degraded, .undecided, .internet, .internet) {
            $0.target = literal
            $0.change = { nextHops($0, isAnswered: true) }
        },
        Self("one of two next hops does not answer", .degraded, .localNetwork, .gateway, .gateway) {
            $0.target = literal
            $0.change = { nextHops($0, isAnswered: false) }
        },
        Self("some connections of many stand", .failed, .undecided, .internet, .internet) {
            $0.change = { task in
                switch task {
                case .exchange: .exchanged(ExchangeAnswer(.failure(.silent(.connect), "timed out")))
                case .burst: .burst(BurstAnswer(sent: 8, connected: 5))
                default: nil
                }
            }
        },
        Self("nothing was heard, and something else was dropped here", .failed, .provider, .internet, .internet) {
            $0.inputDrops = [.ipv4: 9, .ipv6: 9]
            $0.change = World.dark([.ipv4, .ipv6])
        },
        Self("packets live for two routers", .failed, .thisMachine, .route, .route) {
            $0.target = literal
            $0.life = 2
            $0.change = World.dark([.ipv4])
        },
        Self("the neighbour table leads elsewhere, and ARP contradicts it", .failed, .thisMachine, .gateway, .gateway) {
            $0.target = literal
            $0.change = { task in
                switch task {
                case .solicit: .solicited(.notNeeded)
                case .entry: .owners([.at("02:00:00:00:00:99")])
                case .trace: .traced(PathTrace())
                default: World.dark([.ipv4])(task)
                }
            }
        },
        Self("large packets vanish, and the host answers no echo", .failed, .provider, .internet, .mtu) {
            $0.change = { task in
                switch task {
                case .exchange(let exchange) where exchange.variant != .smallSegments:
                    .exchanged(ExchangeAnswer(.failure(.silent(.tls), "timed out")))
                case .ping(World.web, _), .ping(World.web6, _): .pinged(.silent)
                case .sample(World.web), .sample(World.web6): .sampled(LineSample(sent: 120, answered: 0))
                default: nil
                }
            }
        },
        Self("the hosts file leads to an address of the own link", .failed, .thisMachine, .name, .name) {
            $0.change = { task in
                let nobody = HostAddress(IPAddress.at("192.0.2.99"))
                return switch task {
                case .resolve: .resolved(.addresses([nobody.address]))
                case .hosts: .listed([nobody.address])
                case .solicit(let hop) where hop.address == nobody.address: .solicited(.silent)
                case .connect(nobody, _): .connected(.unreachable(113))
                default: nil
                }
            }
        },
        Self("a provider's page for names that do not exist", .failed, .server, .name, .name) {
            $0.endpoints = [namedPage]
            $0.change = { search($0, exists: ["check.example.net"]) }
        },
        Self("a provider's page for a name, and no other name was asked for", .failed, .undecided, .name, .name) {
            $0.endpoints = [page]
            $0.change = { search($0, exists: []) }
        },
    ]

    private static let namedPage = "http://check.example.net/204"

    /// A name server that gives a page for names that do not exist.
    private static func search(_ task: DiagnosisTask, exists: Set<String>) -> DiagnosisResult? {
        func address(_ name: String) -> IPAddress { .at(exists.contains(name) ? "203.0.113.70" : "203.0.113.99") }
        return switch task {
        case .ask(let question):
            .asked(question.family == .ipv4 ? .addresses([address(question.name)]) : .noAddress)
        case .resolve(let name): .resolved(.addresses([address(name)]))
        default: nil
        }
    }

    /// A gateway that resolves names, and a line behind it that carries nothing.
    private static func deadLine(_ task: DiagnosisTask, _ answer: NameServerAnswer) -> DiagnosisResult? {
        switch task {
        case .servers: .servers([onLink])
        case .ask: .asked(answer)
        default: World.dark([.ipv4, .ipv6])(task)
        }
    }

    private static func leadsEveryName(to host: HostAddress, _ task: DiagnosisTask) -> DiagnosisResult? {
        switch task {
        case .ask(let question): .asked(question.family == .ipv4 ? .addresses([host.address]) : .noAddress)
        case .resolve: .resolved(.addresses([host.address]))
        default: nil
        }
    }

    private static func redirected(_ task: DiagnosisTask) -> DiagnosisResult? {
        guard case .exchange(let exchange) = task, !exchange.destination.isEndpoint else { return nil }
        return .exchanged(ExchangeAnswer(.response(302), location: "http://login.example/"))
    }

    private static func ofIPv4Alone(_ task: DiagnosisTask) -> DiagnosisResult? {
        let none = NetworkPath(status: .notReachable, reason: .noRoute)
        switch task {
        case .internet: return .path(PathFact(status: .reachable, ipv4: World.path(.ipv4), ipv6: none))
        case .path(let host) where host.family == .ipv6:
            return .path(PathFact(status: .notReachable, reason: .noRoute, ipv6: none))
        case .ask(let question) where question.family == .ipv4: return .asked(.silent)
        case .resolve: return .resolved(.notAsked)
        default: return nil
        }
    }

    private static func nextHops(_ task: DiagnosisTask, isAnswered: Bool) -> DiagnosisResult? {
        let dead = FirstHop(interface: "up1", interfaceIndex: 3, address: .at("203.0.113.9"))
        let living = FirstHop(interface: "up0", interfaceIndex: 2, address: World.gateway)
        return switch task {
        case .nextHops: .nextHops([living, dead])
        case .connectBy(let hop, _, _): .connected(hop == living ? .connected : .silent)
        case .solicit(dead): .solicited(isAnswered ? .answered : .silent)
        default: nil
        }
    }
}
