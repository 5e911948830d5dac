import ReachCore
import ReachProbe
import ReachRecords
import Testing

/// A way to be broken, and what the diagnosis must say.
struct DiagnosisSituation: Sendable, CustomTestStringConvertible {
    let name: String
    let world: @Sendable () -> DiagnosisWorld
    let outcome: Diagnosis.Outcome
    let party: Diagnosis.Party?
    let layer: OutageLayer?
    let subject: Diagnosis.Step.Subject?

    var testDescription: String { name }

    init(
        _ name: String, _ outcome: Diagnosis.Outcome, _ party: Diagnosis.Party? = nil, _ layer: OutageLayer? = nil,
        _ subject: Diagnosis.Step.Subject? = nil, _ change: @escaping @Sendable (inout DiagnosisWorld) -> Void
    ) {
        self.name = name
        self.outcome = outcome
        self.party = party
        self.layer = layer
        self.subject = subject
        world = {
            var world = DiagnosisWorld()
            change(&world)
            return world
        }
    }

    static let all: [DiagnosisSituation] =
        healthy + kernel + hops + names + connections + exchanges + weighed + lines
        + ofIPv6 + ofRouters + ofWitnesses + ofOpenQuestions + ofDraws + ofHearing

    private typealias World = DiagnosisWorld

    private static let healthy: [DiagnosisSituation] = [
        Self("everything works", .ok) { _ in },
        Self("an address literal works", .ok) { $0.target = "tcp://198.51.100.80:22" },
        Self("the Internet is proved by a name server beyond the gateway", .ok) { $0.target = "internet" },
        Self("the Internet is proved by an endpoint", .ok) {
            $0.target = "internet"
            $0.endpoints = ["http://www.example.net/204"]
        },
        Self("nothing proves the Internet if the name server is on the link", .unknown) {
            $0.target = "internet"
            $0.change = { if case .servers = $0 { .servers([onLink]) } else { nil } }
        },
        Self("a host without a port answers by refusing", .ok) {
            $0.target = "198.51.100.80"
            $0.change = { if case .connect = $0 { .connected(.refused) } else { nil } }
        },
        Self("a host without a port has no page at its root", .ok) {
            $0.target = "www.example.net"
            $0.change = { if case .exchange = $0 { .exchanged(.init(.response(404))) } else { nil } }
        },
        Self("a server wants a login", .ok) {
            $0.change = { if case .exchange = $0 { .exchanged(.init(.response(401))) } else { nil } }
        },
        Self("two name servers give different addresses, as large sites do", .ok) {
            $0.change = { task in
                guard case .ask(let question) = task, question.server == World.secondServer,
                    question.name == "www.example.net", question.family == .ipv4
                else { return nil }
                return .asked(.addresses([IPAddress.at("198.51.100.81")]))
            }
        },
    ]

    private static let onLink = NameServerAddress(HostAddress(IPAddress.at("192.0.2.1")))

    private static let kernel: [DiagnosisSituation] = [
        Self("carrier out", .failed, .localNetwork, .link, .link) {
            $0.change = World.broken(.noRoute, .noCarrier)
        },
        Self("link down", .failed, .thisMachine, .link, .link) {
            $0.change = World.broken(.linkDown, .linkDown)
        },
        Self("radio off", .failed, .thisMachine, .link, .link) {
            $0.change = World.broken(.noRoute, .radioBlocked)
        },
        Self("no modem connection", .failed, .provider, .link, .link) {
            $0.change = World.broken(.noRoute, .modemNotConnected)
        },
        Self("no address", .failed, .localNetwork, .address, .address) {
            $0.change = World.broken(.noRoute, .noAddress)
        },
        Self("no route", .failed, .thisMachine, .route, .route) {
            $0.change = World.broken(.noRoute, .noDefaultRoute)
        },
        Self("blackhole route", .failed, .thisMachine, .route, .route) {
            $0.target = "198.51.100.80"
            $0.change = World.broken(.blackhole, .blackhole)
        },
        Self("prohibit route", .failed, .thisMachine, .route, .route) {
            $0.target = "tcp://198.51.100.80:22"
            $0.change = World.broken(.prohibited, .prohibited)
        },
    ]

    private static let hops: [DiagnosisSituation] = [
        Self("gateway dead", .failed, .localNetwork, .gateway, .gateway) {
            $0.change = { task in
                if case .solicit = task { .solicited(.silent) } else { World.dark([.ipv4, .ipv6])(task) }
            }
        },
        Self("gateway dead in IPv6 only", .degraded, .localNetwork, .gateway, .gateway) {
            $0.change = { task in
                if case .solicit(let hop) = task, hop.address.family == .ipv6 { return .solicited(.silent) }
                return World.dark([.ipv6])(task)
            }
        },
        Self("a host on the link is off", .failed, .server, .gateway, .gateway) {
            $0.target = "tcp://192.0.2.7:22"
            $0.change = { task in
                if case .solicit = task { .solicited(.silent) } else { World.dark([.ipv4])(task) }
            }
        },
        Self("provider dark", .failed, .provider, .internet, .internet) { $0.change = World.dark([.ipv4, .ipv6]) },
        Self("provider dark for an address", .failed, .provider, .internet, .internet) {
            $0.target = "tcp://198.51.100.80:22"
            $0.change = World.dark([.ipv4, .ipv6])
        },
        Self("provider dark in IPv6 only", .degraded, .provider, .internet, .internet) {
            $0.change = World.dark([.ipv6])
        },
        Self("the Internet dark behind a name server on the gateway", .failed, .provider, .internet, .internet) {
            $0.target = "internet"
            $0.endpoints = ["http://198.51.100.80/204"]
            $0.change = { task in
                if case .servers = task { return .servers([onLink]) }
                if case .ask = task { return nil }
                return World.dark([.ipv4])(task)
            }
        },
        Self("the gateway has no way", .failed, .provider, .internet, .internet) {
            $0.target = "tcp://198.51.100.80:22"
            $0.change = { trace(.unreachable(by: World.gateway), .unreachable(101), $0) }
        },
        Self("the gateway forbids it", .failed, .localNetwork, .internet, .internet) {
            $0.target = "tcp://198.51.100.80:22"
            $0.change = { trace(.prohibited(by: World.gateway), .unreachable(113), $0) }
        },
        Self("a router of the provider forbids it", .failed, .provider, .internet, .internet) {
            $0.target = "tcp://198.51.100.80:22"
            $0.change = { trace(.prohibited(by: IPAddress.at("203.0.113.1")), .unreachable(113), $0) }
        },
    ]

    private static func trace(
        _ end: PathTrace.End, _ answer: ConnectionAnswer, _ task: DiagnosisTask
    ) -> DiagnosisResult? {
        switch task {
        case .connect: .connected(answer)
        case .trace: .traced(PathTrace(hops: [.init(distance: 1, address: World.gateway)], end: end))
        default: nil
        }
    }
}
