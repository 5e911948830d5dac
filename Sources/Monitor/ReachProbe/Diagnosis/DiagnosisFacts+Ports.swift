internal import ReachCore
internal import ReachRecords

/// What ports of other hosts show about a port that does not answer as it should.
extension DiagnosisFacts {
    var ofPorts: [WeighedFact] {
        guard !ports.isEmpty else {
            let living = bearing.filter { evidence.farWitnesses.contains($0) && evidence.hasAnswered($0) == true }
            return !hasAnswered && !living.isEmpty && living.allSatisfy(answersQuestionsAlone) ? [portUnheard] : []
        }
        guard !connections.isEmpty, connections.allSatisfy({ $0 == .silent }) else { return [] }
        var facts: [WeighedFact] = []
        facts += comparedPorts
        facts += passedGateway
        return facts
    }

    /// Whether the segments got beyond the first hop.
    var passedGateway: [WeighedFact] {
        let bursts = ports.compactMap { evidence.burst(host, $0) }
        if let router = bursts.compactMap(\.passedBy).first {
            return [WeighedFact(.passesGateway, "the router \(router) beyond the first hop saw the segments")]
        }
        // Providers drop some ports before they look at a segment's life, but not those of the web.
        guard !bursts.isEmpty, isOfWeb, !evidence.isBehindBareLink(host),
            let router = ([host] + others).compactMap(evidence.traced).flatMap(\.hops).first(where: { $0.distance == 2 }
            )
        else { return [] }
        return [
            WeighedFact(
                .endsAtGateway,
                "the router \(router.address) beyond the first hop answers datagrams, and saw no segment")
        ]
    }

    /// What connections to others show. A name server may well drop all but questions, and may be the provider's own,
    /// so only hosts farther on show what passes.
    private var comparedPorts: [WeighedFact] {
        let living = bearing.filter { evidence.hasAnswered($0) == true }
        if let other = living.first(where: { host in ports.contains { evidence.connected(host, $0)?.isFromHost == true }
        }) {
            return [WeighedFact(.portAnswersElsewhere, "\(other) answers on the same port")]
        }
        let far = others.filter(Set(evidence.farWitnesses).contains)
        guard hasAnswered || !living.isEmpty, !far.isEmpty else { return [] }
        let tried = far.filter { !evidence.connections(to: $0).isEmpty }
        if !far.contains(where: evidence.hasAnsweredByTCP) {
            let speaking = others.filter(evidence.hasAnsweredByTCP)
            guard !tried.isEmpty, speaking.allSatisfy(Set(evidence.servers.map(\.host)).contains) else {
                return [portUnheard]
            }
            // A name server may be the provider's own: beyond it no TCP may pass.
            guard speaking.isEmpty else { return silentAlike(far) ?? [portUnheard] }
            return [
                WeighedFact(
                    .tcpSilentEverywhere, tried.count + 1,
                    "no TCP connection to \(list(tried)) succeeds either, though something answers")
            ]
        }
        if let alike = silentAlike(far) { return alike }
        let isSilent = far.contains { host in ports.contains { evidence.connected(host, $0) == .silent } }
        let isLeft =
            isOfWeb
            && (hasUnknownPage || pages.contains { page in ports.contains { evidence.connected(page, $0) == nil } })
        return isSilent || isLeft || far.allSatisfy(answersQuestionsAlone) ? [portUnheard] : []
    }

    /// Whether the same port of the web is silent elsewhere.
    private func silentAlike(_ far: [HostAddress]) -> [WeighedFact]? {
        let silent = far.filter { host in ports.contains { evidence.connected(host, $0) == .silent } }
        guard !silent.isEmpty, isOfWeb else { return nil }
        return [
            WeighedFact(
                .portSilentEverywhere, silent.count + 1,
                "the same port is silent at \(list(silent)), though something answers")
        ]
    }

    private static let questionPort: UInt16 = 53

    private var portUnheard: WeighedFact {
        let what = ports.isEmpty ? "echo requests pass" : "TCP port \(ports.map { "\($0)" }.listed) passes"
        return .open(.portUnheard, "no other host shows whether \(what)")
    }

    /// The addresses of pages that are another host's.
    private var pages: [HostAddress] {
        evidence.endpoints.flatMap(evidence.usableAddresses).filter { $0 != host && $0.family == host.family }
    }

    /// Whether there is a page of which no address is known.
    private var hasUnknownPage: Bool { evidence.endpoints.contains { evidence.addresses(of: $0).isEmpty } }

    /// Whether a host that stands for the Internet answers by its port for questions, which login pages let pass, and
    /// not otherwise.
    private func answersQuestionsAlone(_ host: HostAddress) -> Bool {
        evidence.pinged(host) != .answered
            && !evidence.connections(to: host).contains { $0 != Self.questionPort && $1.isFromHost }
    }

    /// What the pages that stand for the Internet do with connections where this host refuses them.
    var refusedElsewhere: [WeighedFact] {
        let pages = evidence.endpoints.flatMap { endpoint in
            evidence.addresses(of: endpoint).filter { $0 != host && $0.family == host.family }.map { page in
                (page, evidence.connections(of: endpoint, to: page).map(\.answer))
            }
        }
        if isOfWeb,
            let page = pages.first(where: { page in ports.contains { evidence.connected(page.0, $0) == .connected } })
        {
            return [WeighedFact(.portAnswersElsewhere, "\(page.0) answers on the same port")]
        }
        let answers = pages.map { page, served in
            (page, (isOfWeb ? ports.compactMap { evidence.connected(page, $0) } : []) + served)
        }
        guard answers.allSatisfy({ $1.isEmpty || $1.contains(.refused) }), !answers.isEmpty || hasUnknownPage else {
            return []
        }
        let refusing = Set(answers.filter { !$1.isEmpty }.map(\.0))
        guard !refusing.isEmpty else { return [portUnheard] }
        return [
            WeighedFact(
                .refusedEverywhere, refusing.count + 1, "\(list(Array(refusing))) refuse what they serve, too")
        ]
    }

    /// Many hosts drop or refuse what is not for the web.
    private var isOfWeb: Bool { ports.allSatisfy { [80, 443].contains($0) } }
}
