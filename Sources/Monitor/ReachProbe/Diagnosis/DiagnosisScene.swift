internal import ReachCore
internal import ReachRecords

/// What the sentence of a hypothesis may name: the host in question, and what was observed about it.
struct DiagnosisScene {
    let facts: DiagnosisFacts
    let observed: [WeighedFact]

    private var evidence: DiagnosisEvidence { facts.evidence }
    private var host: HostAddress { facts.host }
    private var hop: FirstHop? { evidence.hop(to: host) }

    /// The first of some facts, as it was observed.
    func said(_ facts: DiagnosisFact...) -> Clause { observed.first { facts.contains($0.fact) }?.clause ?? "" }

    func hasObserved(_ fact: DiagnosisFact) -> Bool { observed.contains { $0.fact == fact } }

    var shown: Clause {
        switch facts.role {
        case .server: "\(host)"
        case .proxy: "the proxy \(host)"
        case .nameServer: "the name server \(host)"
        }
    }

    var link: Clause { hop.map { Clause(name: DisplayText.sanitized($0.interface)) } ?? "the link" }

    /// The gateway, with a space before it.
    var gateway: String { hop.map { " \($0.address)" } ?? "" }

    var source: String { evidence.source(to: host)?.description ?? "an address" }

    var otherSource: String { evidence.answeringSource(host.family)?.source.description ?? "another one" }

    var otherForwarder: String? { evidence.forwarder(host.family).map { ", while \($0.hop.address) does" } }

    var usualRouter: String? {
        hop.flatMap(evidence.routerOfOtherFamily)
            .map { ", and it is not the machine by which \($0.address.family.title) works, \($0.address)" }
    }

    /// Nothing at all, or nothing by one family where the Internet answers by the other.
    var nothing: Clause {
        evidence.answersInOtherFamily(than: host) ? "by \(host.family.title) nothing" : "nothing"
    }

    /// What nothing answers beyond.
    var border: Clause {
        if let server = evidence.servers.first(where: {
            $0.host != host && $0.host.family == host.family && evidence.isBeyondGateway($0.host)
                && evidence.hasAnswered($0.host) == true
        }) {
            return "the name server \(server.host)"
        }
        return evidence.isBehindBareLink(host) ? link : "the gateway\(gateway)"
    }

    var notEvenServer: String { facts.role == .nameServer ? ", not even the name server \(host)" : "" }

    var tunnelSilence: String { evidence.silentTunnels[hop?.interfaceIndex ?? 0]?.text ?? "its far end is silent" }

    var translated: String { host.address.embedded?.description ?? shown.text }

    /// What a filter lets not pass.
    var filtered: String {
        if hasObserved(.tcpSilentEverywhere) || hasObserved(.refusedEverywhere) { return "lets no TCP pass" }
        guard !facts.ports.isEmpty else { return "lets no echo requests pass" }
        return "\(hasObserved(.hostRefuses) ? "refuses" : "drops") TCP port \(ports) for every host"
    }

    /// What a host that is there does not answer.
    var deafness: String {
        facts.ports.isEmpty ? "does not answer ping" : "does not answer on TCP port \(ports): a firewall drops it"
    }

    private var ports: String { facts.ports.map { "\($0)" }.listed }

    var refusedPort: UInt16 {
        facts.ports.first { evidence.connected(host, $0) == .refused } ?? facts.ports.first ?? 0
    }

    /// Another destination that answers, while the host does not.
    var butWitness: String {
        facts.role == .nameServer ? "" : witness.map { ", though \($0) does" } ?? ""
    }

    /// A destination beyond the first hop that answers: a name server, or else the first in their order.
    private var witness: String? {
        let living = evidence.witnesses.filter {
            $0 != host && $0.family == host.family && evidence.isBeyondGateway($0) && evidence.hasAnswered($0) == true
        }
        if let server = evidence.servers.first(where: { living.contains($0.host) }) {
            return "the name server \(server.host)"
        }
        return living.map(\.description).min()
    }

    static let untrusted: @Sendable (DiagnosisScene) -> Clause = {
        $0.hasObserved(.trustUnheard)
            ? "somebody on the way answers in place of \($0.shown)"
            : "no certificate is of an authority that this machine trusts: somebody on the way answers in place of the servers, or this machine lacks the authority"
    }
}
