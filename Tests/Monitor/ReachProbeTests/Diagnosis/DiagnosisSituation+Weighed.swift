@testable import ReachCore
import ReachProbe
import ReachRecords

/// Situations in which one sign alone would convict the wrong one.
extension DiagnosisSituation {
    private typealias World = DiagnosisWorld

    private static let first = IPAddress.at("203.0.113.1")
    private static let second = IPAddress.at("203.0.113.5")
    private static let literal = "tcp://198.51.100.80:443"
    private static let page = "http://198.51.100.70/204"

    private static func way(_ end: PathTrace.End, _ routers: IPAddress..., isHostMissing: Bool = false)
        -> DiagnosisResult
    {
        let hops = ([World.gateway] + routers).enumerated().map { PathTrace.Hop(distance: $0 + 1, address: $1) }
        return .traced(PathTrace(hops: hops, end: end, isHostMissing: isHostMissing))
    }

    static let weighed: [DiagnosisSituation] = [
        Self("the provider is dark behind its first router", .failed, .provider, .internet, .internet) {
            $0.change = { task in
                if case .trace = task { way(.silent, first) } else { World.dark([.ipv4, .ipv6])(task) }
            }
        },
        Self("a routing loop", .failed, .provider, .internet, .internet) {
            $0.target = literal
            $0.change = { task in
                if case .trace = task { way(.silent, first, second, first, second) } else { World.dark([.ipv4])(task) }
            }
        },
        Self("host unreachable for everything from the second router", .failed, .provider, .internet, .internet) {
            $0.target = literal
            $0.change = { task in
                if case .trace = task {
                    way(.unreachable(by: first), isHostMissing: true)
                } else {
                    World.dark([.ipv4])(task)
                }
            }
        },
        Self("host unreachable from the last router", .failed, .server, .target, .connect) {
            $0.target = literal
            $0.change = { task in
                switch task {
                case .connect: .connected(.unreachable(113))
                case .trace(World.web): way(.unreachable(by: second), first, second, isHostMissing: true)
                default: nil
                }
            }
        },
        Self("only one host was asked, and it is silent", .failed, .undecided, .internet, .internet) {
            $0.target = literal
            $0.change = { task in
                if case .servers = task { .servers([]) } else { World.dark([.ipv4])(task) }
            }
        },
        Self("a link without a gateway works", .ok) {
            $0.target = literal
            $0.change = bare { _ in nil }
        },
        Self("a host on the link that only answers connections", .ok) {
            $0.target = "tcp://192.0.2.7:80"
            $0.change = { if case .solicit = $0 { .solicited(.unconfirmed) } else { nil } }
        },
        Self("nothing passes a link without a gateway", .failed, .provider, .internet, .internet) {
            $0.target = literal
            $0.change = bare { World.dark([.ipv4])($0) }
        },
        Self("the far end of WireGuard is silent", .failed, .provider, .internet, .internet) {
            $0.target = literal
            $0.silentTunnels = silentTunnel
            $0.change = bare { World.dark([.ipv4])($0) }
        },
        Self(
            "the far end of WireGuard is silent, and others answer by another link", .failed, .provider, .internet,
            .internet
        ) {
            $0.target = literal
            $0.silentTunnels = silentTunnel
            $0.change = bare { if case .connect(World.web, _) = $0 { .connected(.silent) } else { nil } }
        },
        Self("one host is silent behind a link without a gateway", .failed, .server, .target, .connect) {
            $0.target = literal
            $0.change = bare { if case .connect = $0 { .connected(.silent) } else { nil } }
        },
        Self("no TCP passes", .failed, .undecided, .internet, .internet) {
            $0.target = literal
            $0.endpoints = [page]
            $0.change = noTCP
        },
        Self(
            "no TCP passes, and a router beyond the gateway sees the segments", .failed, .provider, .internet, .internet
        ) {
            $0.target = literal
            $0.endpoints = [page]
            $0.change = { task in
                if case .burst = task { .burst(BurstAnswer(sent: 8, passedBy: first)) } else { noTCP(task) }
            }
        },
        Self("port 443 is dropped for everybody", .failed, .undecided, .internet, .internet) {
            $0.target = literal
            $0.endpoints = [page]
            $0.change = { task in
                switch task {
                case .connect(_, 443): .connected(.silent)
                case .trace(World.web): way(.reached)
                default: nil
                }
            }
        },
        Self("a port is silent here, and answers elsewhere", .failed, .server, .target, .connect) {
            $0.target = literal
            $0.endpoints = [page]
            $0.change = { task in
                switch task {
                case .connect(World.web, _): .connected(.silent)
                case .trace(World.web): way(.reached)
                default: nil
                }
            }
        },
        Self("one authority, which is unknown, signs for all", .failed, .localNetwork, .target, .tls) {
            $0.endpoints = ["https://198.51.100.70/204"]
            $0.change = { untrusted($0) { _ in "CN=Box" } }
        },
        Self("different authorities are all unknown", .failed, .thisMachine, .target, .tls) {
            $0.endpoints = ["https://198.51.100.70/204"]
            $0.change = { untrusted($0) { "CN=\($0)" } }
        },
        Self("a firewall of this machine resets connections", .failed, .thisMachine, .route, .connect) {
            $0.change = { task in
                switch task {
                case .connect: .connected(.refused)
                case .burst: .burst(BurstAnswer(sent: 8, isRefusedHere: true))
                default: nil
                }
            }
        },
        Self("a firewall of this machine drops answers by TCP alone", .failed, .thisMachine, .route, .connect) {
            $0.target = literal
            $0.change = { task in
                switch task {
                case .connect: .connected(.silent)
                case .burst: .burst(BurstAnswer(sent: 8, droppedHere: 8))
                case .trace(World.web): way(.reached)
                default: nil
                }
            }
        },
        Self("two machines have the gateway's address", .failed, .localNetwork, .address, .gateway) {
            $0.target = literal
            $0.change = { task in
                if case .owners(let hop) = task, hop.address == World.gateway {
                    return .owners([.at("02:00:00:00:00:01"), .at("02:00:00:00:00:66")])
                }
                return World.dark([.ipv4])(task)
            }
        },
        Self("another machine has this machine's address", .failed, .localNetwork, .address, .gateway) {
            $0.target = literal
            $0.change = { task in
                if case .owners = task { .owners([.at("02:00:00:00:00:66")]) } else { World.dark([.ipv4])(task) }
            }
        },
        Self(
            "the default route leads to a host that passes nothing on, and another neighbour does", .failed,
            .thisMachine, .route, .gateway
        ) {
            $0.target = literal
            $0.change = { printer($0, isProved: true) }
        },
        Self("the gateway is mute, and a name server on the link answers", .failed, .undecided, .route, .gateway) {
            $0.target = literal
            $0.change = { printer($0, isProved: false) }
        },
        Self("a prefix length of 4", .failed, .thisMachine, .address, .address) {
            $0.target = literal
            $0.change = { task in
                switch task {
                case .path(let host): return .path(World.pathWithoutGateway(to: host.address))
                case .solicit: return .solicited(.silent)
                default: return World.dark([.ipv4])(task)
                }
            }
        },
        Self("a name server's answers cannot be used", .failed, .nameServer, .name, .nameServer) {
            $0.change = { task in
                switch task {
                case .ask: .asked(.unusable)
                case .resolve: .resolved(.notAsked)
                default: nil
                }
            }
        },
        Self("A is never answered, and AAAA is empty", .failed, .nameServer, .name, .nameServer) {
            $0.change = { task in
                switch task {
                case .ask(let question): .asked(question.family == .ipv6 ? .noAddress : .silent)
                case .resolve: .resolved(.notAsked)
                default: nil
                }
            }
        },
        Self("AAAA is never answered", .degraded, .nameServer, .name, .nameServer) {
            $0.change = { task in
                if case .ask(let question) = task, question.family == .ipv6 { .asked(.silent) } else { nil }
            }
        },
        Self("a name server blocks the name by 0.0.0.0", .failed, .nameServer, .name, .nameServer) {
            $0.change = { task in
                switch task {
                case .ask(let question) where question.name == "www.example.net":
                    .asked(question.family == .ipv4 ? .addresses([IPAddress.at("0.0.0.0")]) : .noAddress)
                case .resolve: .resolved(.addresses([IPAddress.at("0.0.0.0")]))
                default: nil
                }
            }
        },
        Self("the hosts file leads elsewhere", .failed, .thisMachine, .name, .name) {
            $0.change = { task in
                let dead = HostAddress(IPAddress.at("198.51.100.99"))
                return switch task {
                case .resolve: .resolved(.addresses([dead.address]))
                case .hosts: .listed([dead.address])
                case .connect(dead, _): .connected(.silent)
                default: nil
                }
            }
        },
        Self("the first of two name servers leads elsewhere", .failed, .nameServer, .name, .nameServer) {
            $0.change = { task in
                let dead = HostAddress(IPAddress.at("198.51.100.99"))
                return switch task {
                case .resolve: .resolved(.addresses([dead.address]))
                case .ask(let question) where question.server == World.server && question.name == "www.example.net":
                    .asked(question.family == .ipv4 ? .addresses([dead.address]) : .noAddress)
                case .connect(dead, _): .connected(.silent)
                default: nil
                }
            }
        },
    ]

    private static func printer(_ task: DiagnosisTask, isProved: Bool) -> DiagnosisResult? {
        switch task {
        case .servers: .servers([NameServerAddress(HostAddress(IPAddress.at("192.0.2.53")))])
        case .owners(let hop): .owners(hop.address == IPAddress.at("192.0.2.2") ? [] : [.at("02:00:00:00:00:09")])
        case .ask: nil
        case .trace: .traced(PathTrace())
        case .forward: .pinged(isProved ? .answered : .silent)
        default: World.dark([.ipv4])(task)
        }
    }

    private static func noTCP(_ task: DiagnosisTask) -> DiagnosisResult? {
        switch task {
        case .connect: .connected(.silent)
        case .ask(let question) where question.isByTCP: .asked(.silent)
        case .trace(World.web): way(.reached)
        default: nil
        }
    }

    private static let silentTunnel: [InterfaceIndex: TunnelSilence] = [
        2: TunnelSilence(farEnds: [.at("203.0.113.51")], since: .seconds(720))
    ]

    /// The link has no gateway and no neighbours.
    private static func bare(_ change: @escaping @Sendable (DiagnosisTask) -> DiagnosisResult?) -> World.Change {
        { task in
            switch task {
            case .path(let host): return .path(World.pathWithoutGateway(to: host.address))
            case .solicit: return .solicited(.noNeighbours)
            case .trace: return change(task) ?? .traced(PathTrace())
            default: return change(task)
            }
        }
    }

    private static func untrusted(_ task: DiagnosisTask, _ issuer: (String) -> String) -> DiagnosisResult? {
        guard case .exchange(let exchange) = task else { return nil }
        var answer = ExchangeAnswer(.failure(.certificateUntrusted, "a reason"))
        answer.issuer = issuer(exchange.address.description)
        return .exchanged(answer)
    }

    // MARK: - Lines

    static let lines: [DiagnosisSituation] = [
        Self("packets are lost between this machine and the gateway", .degraded, .localNetwork, .gateway, .gateway) {
            $0.change = { loses($0, gateway: 12, router: 11, far: 13) }
        },
        Self("packets are lost between this machine and a modem", .degraded, .provider, .gateway, .gateway) {
            $0.change = { onModem($0) ?? loses($0, gateway: 12, router: 11, far: 13) }
        },
        Self("packets are lost between the gateway and the first router", .degraded, .provider, .internet, .internet) {
            $0.change = { loses($0, gateway: 0, router: 9, far: 12) }
        },
        Self("packets are lost beyond the first router", .degraded, .provider, .internet, .internet) {
            $0.change = { loses($0, gateway: 0, router: 0, far: 6) }
        },
        Self("too few packets are lost to tell where", .degraded, .undecided, .internet, .internet) {
            $0.change = { loses($0, gateway: 0, router: 0, far: 2) }
        },
        Self("some packets are lost, by chance none before the gateway", .degraded, .undecided, .internet, .internet) {
            $0.change = { loses($0, gateway: 0, router: 4, far: 4) }
        },
        Self("a gateway answers few pings, and passes everything on", .ok) {
            $0.change = { loses($0, gateway: 90, router: 0, far: 0) }
        },
        Self("a question is lost on a lossy line", .degraded, .localNetwork, .gateway, .gateway) {
            $0.change = { task in
                if case .ask(let question) = task, question.isByTCP { return .asked(.silent) }
                return loses(task, gateway: 12, router: 11, far: 13)
            }
        },
        Self("two packets of many are lost, as on any line", .ok) {
            $0.change = { loses($0, gateway: 0, router: 0, far: 1) }
        },
        Self("a line with jitter", .ok) {
            $0.change = { task in
                guard case .sample(let host) = task else { return nil }
                let jitter: Duration? = host == World.web ? .milliseconds(30) : .milliseconds(40)
                return .sampled(
                    LineSample(sent: 120, answered: 120, roundTrip: .milliseconds(20), jitter: jitter))
            }
        },
        Self("a round trip of a second and a half", .ok) {
            $0.change = { task in
                switch task {
                case .sample: .sampled(LineSample(sent: 120, answered: 120, roundTrip: .milliseconds(1500)))
                case .ask(let question) where question.isByTCP: .asked(.silent)
                default: nil
                }
            }
        },
    ]

    private static func onModem(_ task: DiagnosisTask) -> DiagnosisResult? {
        var fact: PathFact
        switch task {
        case .internet:
            fact = PathFact(
                status: .reachable, ipv4: DiagnosisWorld.path(.ipv4), ipv6: DiagnosisWorld.path(.ipv6))
        case .path(let host): fact = DiagnosisWorld.path(to: host.address)
        default: return nil
        }
        if fact.ipv4.interface != nil { fact.ipv4.linkClass = .wwan }
        if fact.ipv6.interface != nil { fact.ipv6.linkClass = .wwan }
        return .path(fact)
    }

    private static func loses(_ task: DiagnosisTask, gateway: Int, router: Int, far: Int) -> DiagnosisResult? {
        switch task {
        case .trace: return way(.reached, first)
        case .sample(let host):
            let lost = host.address == World.gateway ? gateway : host.address == first ? router : far
            return .sampled(LineSample(sent: 120, answered: 120 - lost, roundTrip: .milliseconds(12)))
        default: return nil
        }
    }
}
