import ReachCore
import ReachProbe
import ReachRecords

/// Machines with IPv6 alone, and what breaks there.
extension DiagnosisSituation {
    private typealias World = DiagnosisWorld

    private static let server = NameServerAddress(HostAddress(IPAddress.at("2001:db8:53::53")))
    private static let gateway = IPAddress.at("2001:db8::1")
    private static let other = IPAddress.at("2001:db8::2:1")
    private static let inner = IPAddress.at("198.51.100.80")
    private static let translated = HostAddress(IPAddress.at("64:ff9b::c633:6450"))
    private static let page = "http://[2001:db8:70::70]/204"
    private static let translatedPage = "http://[64:ff9b::c633:6446]/204"
    private static let ownPrefix = HostAddress(IPAddress.at("2001:db8:64::c633:6450"))

    /// A machine without IPv4, whose name server is reached by IPv6.
    private static func only(_ change: @escaping World.Change) -> World.Change {
        { task in
            if let result = change(task) { return result }
            switch task {
            case .internet:
                return .path(
                    PathFact(
                        status: .reachable, ipv4: NetworkPath(status: .notReachable, reason: .noRoute),
                        ipv6: World.path(.ipv6)))
            case .path(let host) where host.family == .ipv4:
                let path = NetworkPath(status: .notReachable, reason: .noRoute)
                return .path(
                    PathFact(
                        status: .notReachable, reason: .noRoute,
                        rootCause: RootCause(.noAddress, interface: "up0"), ipv4: path, ipv6: .notAsked))
            case .servers: return .servers([server])
            default: return nil
            }
        }
    }

    /// A name server that puts IPv4 addresses into IPv6 ones, and what is silent behind the translator.
    private static func translating(_ address: HostAddress = translated, silent: [HostAddress]) -> World.Change {
        only { task in
            switch task {
            case .ask(let question) where question.name == "www.example.net":
                .asked(.addresses([question.family == .ipv4 ? inner : address.address]))
            case .resolve: .resolved(.addresses([address.address, inner]))
            case .connect(let host, _) where silent.contains(host): .connected(.silent)
            case .ping(let host, _) where silent.contains(host): .pinged(.silent)
            default: nil
            }
        }
    }

    /// The path by another router than the first one, which was silent.
    private static func leavingRouter(to host: HostAddress) -> PathFact {
        var fact = World.path(to: host.address)
        fact.ipv6.gateway = other
        return fact
    }

    private static func from(_ source: String, _ change: @escaping World.Change) -> World.Change {
        only { task in
            guard case .path(let host) = task, host.family == .ipv6 else { return change(task) }
            var fact = World.path(to: host.address)
            fact.ipv6.source = IPAddress.at(source)
            return .path(fact)
        }
    }

    static let ofIPv6: [DiagnosisSituation] = [
        Self("IPv6 alone works", .ok) {
            $0.change = only { if case .resolve = $0 { .resolved(.addresses([World.web6.address])) } else { nil } }
        },
        Self("IPv6 alone works through a translator", .ok) { $0.change = translating(silent: []) },
        Self("a server of IPv4, where a machine has IPv6 alone", .failed, .localNetwork, .address, .address) {
            $0.target = "tcp://198.51.100.80:443"
            $0.change = only { _ in nil }
        },
        Self("a translator or the server behind it is silent", .failed, .undecided, .internet, .internet) {
            $0.endpoints = [page]
            $0.change = translating(silent: [translated])
        },
        Self("a translator passes nothing", .failed, .provider, .internet, .internet) {
            $0.endpoints = [page, translatedPage]
            $0.change = translating(silent: [translated, HostAddress(IPAddress.at("64:ff9b::c633:6446"))])
        },
        Self("one server is silent behind a translator", .failed, .server, .target, .connect) {
            $0.endpoints = [translatedPage]
            $0.change = translating(silent: [translated])
        },
        Self("a translator with a prefix of its own is silent", .failed, .undecided, .internet, .internet) {
            $0.endpoints = [page]
            $0.change = translating(ownPrefix, silent: [ownPrefix])
        },
        Self("an address that no host has, where nothing leads to it", .failed, .nameServer, .name, .nameServer) {
            $0.change = only { task in
                switch task {
                case .ask(let question) where question.name == "www.example.net":
                    .asked(.addresses([IPAddress.at("::")]))
                case .resolve: .resolved(.addresses([IPAddress.at("::")]))
                case .path(let host) where host.address.isUnspecified:
                    .path(PathFact(status: .notReachable, reason: .noRoute))
                default: nil
                }
            }
        },
        Self("only unique local addresses, and nothing answers", .failed, .undecided, .address, .address) {
            $0.change = from("fd00:db8::2") { World.dark([.ipv4, .ipv6])($0) }
        },
        Self("unique local addresses that a gateway translates", .ok) {
            $0.change = from("fd00:db8::2") {
                if case .resolve = $0 { .resolved(.addresses([World.web6.address])) } else { nil }
            }
        },
        Self("a silent router, which the kernel leaves for another one", .failed, .localNetwork, .gateway, .gateway) {
            $0.change = only { task in
                switch task {
                case .solicit: return .solicited(.silent)
                case .ask: return .asked(.silent)
                case .resolve: return .resolved(.notAsked)
                case .pathAgain(let host): return .path(leavingRouter(to: host))
                default: return nil
                }
            }
        },
        Self("a silent router, past which another destination answers", .failed, .localNetwork, .gateway, .gateway) {
            $0.endpoints = [page]
            $0.change = only { task in
                switch task {
                case .solicit: return .solicited(.silent)
                case .resolve: return .resolved(.addresses([World.web6.address]))
                case .connect(World.web6, _): return .connected(.silent)
                case .pathAgain(let host): return .path(leavingRouter(to: host))
                default: return nil
                }
            }
        },
        Self("a silent router, past which the target answers", .degraded, .localNetwork, .gateway, .gateway) {
            $0.change = only { task in
                switch task {
                case .solicit: return .solicited(.silent)
                case .resolve: return .resolved(.addresses([World.web6.address]))
                case .pathAgain(let host): return .path(leavingRouter(to: host))
                default: return nil
                }
            }
        },
        Self("a silent router, and the kernel has no other", .failed, .nameServer, .name, .nameServer) {
            $0.change = only { task in
                switch task {
                case .solicit: .solicited(.silent)
                case .ask: .asked(.silent)
                case .resolve: .resolved(.notAsked)
                default: nil
                }
            }
        },
        Self("a firewall of this machine drops what neighbours answer", .failed, .thisMachine, .route, .gateway) {
            $0.inputDrops = [.ipv6: 9]
            $0.change = only { task in
                switch task {
                case .solicit: .solicited(.silent)
                case .owners(let hop): .owners(hop.address == gateway ? [.at("02:00:00:00:00:01")] : [])
                case .trace: .traced(PathTrace())
                default: World.dark([.ipv4, .ipv6])(task)
                }
            }
        },
        Self("another machine has this machine's address of IPv6", .failed, .localNetwork, .address, .gateway) {
            $0.change = only { task in
                switch task {
                case .solicit: .solicited(.silent)
                case .owners(let hop): .owners(hop.address == gateway ? [] : [.at("02:00:00:00:00:66")])
                case .trace: .traced(PathTrace())
                default: World.dark([.ipv4, .ipv6])(task)
                }
            }
        },
        Self("two machines have the gateway's address of IPv6", .failed, .localNetwork, .address, .gateway) {
            $0.change = only { task in
                if case .owners(let hop) = task {
                    return .owners(
                        hop.address == gateway ? [.at("02:00:00:00:00:01"), .at("02:00:00:00:00:66")] : [])
                }
                return World.dark([.ipv4, .ipv6])(task)
            }
        },
        Self(
            "two machines have the gateway's address, and the right one is used", .degraded, .localNetwork, .address,
            .gateway
        ) {
            $0.change = { task in
                guard case .owners(let hop) = task, hop.address == World.gateway else { return nil }
                return .owners([.at("02:00:00:00:00:01"), .at("02:00:00:00:00:66")])
            }
        },
        Self(
            "a router that has not answered yet, which the kernel leaves for another one", .failed, .localNetwork,
            .gateway, .gateway
        ) {
            $0.change = only { task in
                switch task {
                case .solicit: return .solicited(.unconfirmed)
                case .ask: return .asked(.silent)
                case .resolve: return .resolved(.notAsked)
                case .pathAgain(let host): return .path(leavingRouter(to: host))
                default: return nil
                }
            }
        },
        Self("a firewall drops what name servers answer, and lets ICMP in", .failed, .thisMachine, .route, .connect) {
            $0.change = { task in
                switch task {
                case .ask: .asked(.silent)
                case .resolve: .resolved(.notAsked)
                case .burst(World.server.host, 53): .burst(BurstAnswer(sent: 8, droppedHere: 8))
                default: nil
                }
            }
        },
    ]
}
