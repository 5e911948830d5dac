internal import ReachCore
internal import ReachRecords

/// Collects the facts about one host that does not answer as it should.
struct DiagnosisFacts {
    /// What the host in question is.
    enum Role { case server, proxy, nameServer }

    let evidence: DiagnosisEvidence
    let host: HostAddress
    let role: Role
    /// The ports of the host that were tried by TCP.
    let ports: [UInt16]

    var all: [WeighedFact] { ofHost + ofOthers + ofTranslator + ofPorts + ofWay + ofFirstHop + ofThisMachine }

    var connections: [ConnectionAnswer] { ports.compactMap { evidence.connected(host, $0) } }

    var hasAnswered: Bool { evidence.hasAnswered(host) == true }

    // MARK: - The host itself

    private var ofHost: [WeighedFact] {
        if connections.contains(.refused) {
            let port = ports.first { evidence.connected(host, $0) == .refused } ?? 0
            return [WeighedFact(.hostRefuses, "\(host) refuses TCP port \(port)")] + refusedElsewhere
                + passedGateway
        }
        // A neighbour that is silent to ARP is named already.
        if hasAnswered || !evidence.isBeyondGateway(host) {
            return [WeighedFact(.hostAnswers, "\(host) itself is there")]
        }
        var facts = [WeighedFact(.hostSilent, "nothing comes from \(host)")]
        if let alive = siblings.first(where: { evidence.hasAnswered($0) == true }) {
            facts.append(WeighedFact(.hostAnswersInOtherFamily, "the same name answers at \(alive)"))
        }
        if role == .server, evidence.target == nil || standsForInternet {
            facts.append(WeighedFact(.standsForInternet, "\(host) was chosen to stand for the Internet"))
        }
        if role == .nameServer, evidence.pinged(host) == .silent {
            facts.append(WeighedFact(.silentToEcho, "\(host) does not answer ping either"))
        }
        return facts
    }

    /// Whether it is a page or an anchor, and not the target.
    private var standsForInternet: Bool {
        evidence.farWitnesses.contains(host) && evidence.target.map(evidence.addresses)?.contains(host) != true
    }

    /// The addresses of the same name in the other family.
    private var siblings: [HostAddress] {
        let all = evidence.destinations.map(evidence.addresses).first { $0.contains(host) } ?? []
        return all.filter { $0.family != host.family }
    }

    // MARK: - Others

    /// Other destinations beyond the first hop, in the same family. What goes by another link says nothing about this
    /// one.
    var others: [HostAddress] {
        (evidence.witnesses + targets).filter {
            $0 != host && $0.family == host.family && evidence.isBeyondGateway($0)
                && evidence.hop(to: $0)?.interfaceIndex == evidence.hop(to: host)?.interfaceIndex
        }
    }

    /// The target's own addresses, where it is another host that is in question.
    private var targets: [HostAddress] {
        role == .nameServer || evidence.anchors.contains(host) ? evidence.target.map(evidence.addresses) ?? [] : []
    }

    /// Those that bear witness. Where hosts were asked whose ways lead through the Internet, name servers that answer
    /// bear none: they prove the way to themselves. An anchor that is silent contradicts them, and proves no more: some
    /// networks let nothing pass to it.
    var bearing: [HostAddress] {
        guard others.contains(where: { evidence.hasAnswered($0) == true }) else { return others }
        let (pages, anchors) = (Set(evidence.endpoints.flatMap(evidence.addresses) + targets), evidence.askedAnchors)
        let asked = others.filter { evidence.hasAnswered($0) != nil }
        let answering = anchors.filter { asked.contains($0) && evidence.hasAnswered($0) == true }
        let far = asked.filter(pages.contains) + answering
        return far.isEmpty && !(asked + [host]).contains(where: anchors.contains) ? others : far
    }

    private var ofOthers: [WeighedFact] {
        // What a translator answers for is no witness for the rest, nor the rest for it.
        let isTranslated = evidence.isTranslated(host)
        let direct = bearing.filter { isTranslated || !evidence.isTranslated($0) }
        let answering = direct.filter { evidence.hasAnswered($0) == true }
        let silent = direct.filter { evidence.hasAnswered($0) == false && !evidence.isTranslated($0) }
        var facts: [WeighedFact] = []
        if !answering.isEmpty {
            facts.append(
                WeighedFact(
                    .othersAnswer, answering.count, "\(list(answering)) answer\(answering.count == 1 ? "s" : "")"))
        }
        if !silent.isEmpty, answering.isEmpty {
            facts.append(
                WeighedFact(.othersSilent, silent.count, "nothing comes from \(list(silent)) either"))
        }
        return facts
    }

    /// Whether the packets leave IPv6 on the way (NAT64), and what else does there.
    private var ofTranslator: [WeighedFact] {
        guard evidence.isTranslated(host), let inner = host.address.embedded else { return [] }
        let same = others.filter(evidence.isTranslated)
        let answering = same.filter { evidence.hasAnswered($0) == true }
        let silent = same.filter { evidence.hasAnswered($0) == false }
        var facts = [WeighedFact(.translated, "\(host) is \(inner) behind a translator (NAT64)")]
        if !answering.isEmpty {
            facts.append(
                WeighedFact(
                    .translatorAnswers, answering.count, "\(list(answering)), behind the translator, too, answers"))
        } else if !silent.isEmpty {
            facts.append(
                WeighedFact(
                    .translatorSilent, silent.count, "nothing comes from \(list(silent)) behind the translator either")
            )
        }
        return facts
    }

    func list(_ hosts: [HostAddress]) -> String { hosts.map(\.description).sorted().listed }

    // MARK: - The way

    private var gateway: IPAddress? { evidence.path(.path(host))?[host.family].gateway }

    private var ofWay: [WeighedFact] {
        var facts: [WeighedFact] = []
        let traces = evidence.traces(host.family)
        let first = evidence.isBehindBareLink(host) ? 1 : 2
        let routers = Set(traces.flatMap { $0.hops.filter { $0.distance >= first }.map(\.address) })
        if !routers.isEmpty {
            let names = routers.map(\.description).sorted().listed
            facts.append(
                WeighedFact(
                    .routersAnswer, "routers on the way answer (\(names)), which proves the way up to them alone"))
        }
        if let trace = evidence.traced(host), let router = trace.loop {
            facts.append(WeighedFact(.loop, 3, "packets to \(host) come by \(router) more than once"))
        }
        let answered = connections.compactMap { if case .unreachable(_, let complaint) = $0 { complaint } else { nil } }
        let complaints = Set(answered + (evidence.traced(host)?.complaint.map { [$0] } ?? []))
        return facts + complaints.sorted { $0.speaker.description < $1.speaker.description }.compactMap(fact)
    }

    /// What follows from who complains, and of what.
    private func fact(of complaint: WayComplaint) -> WeighedFact? {
        let speaker = complaint.speaker
        let isNeighbour = evidence.traces(host.family).contains {
            $0.hops.contains { $0.address == speaker && $0.distance == 1 }
        }
        let isGateway = (speaker == gateway || isNeighbour) && !evidence.isBehindBareLink(host)
        let isOwn = speaker == evidence.source(to: host)
        switch complaint.meaning {
        // This machine itself reports a neighbour that is silent.
        case .noWay where isOwn, .hostMissing where isOwn: return nil
        case .prohibited where isOwn:
            return WeighedFact(.notSent, 3, "this machine itself rejects packets to \(host)")
        case .prohibited where speaker == host.address:
            return WeighedFact(.hostForbids, 2, "\(host) itself forbids the packets")
        case _ where speaker == host.address:
            return WeighedFact(.hostForbids, 2, "\(host) itself has no way for the packets")
        case .prohibited where isGateway:
            return WeighedFact(.gatewayForbids, 3, "the gateway \(speaker) forbids packets to \(host)")
        case .prohibited: return WeighedFact(.routerForbids, 3, "the router \(speaker) forbids packets to \(host)")
        case .hostMissing:
            return WeighedFact(.hostMissing, 2, "the router \(speaker) has the way, but finds no \(host) at its end")
        case .noWay where isGateway:
            return WeighedFact(.gatewayNoWay, 2, "the gateway \(speaker) has no way for packets to \(host)")
        case .noWay: return WeighedFact(.noWay, 2, "the router \(speaker) has no way for packets to \(host)")
        }
    }

    // MARK: - The first hop

    private var ofFirstHop: [WeighedFact] {
        guard let hop = evidence.hop(to: host) else { return [] }
        var facts: [WeighedFact] = []
        if evidence.isBehindBareLink(host) {
            let name = DisplayText.sanitized(hop.interface)
            facts.append(
                WeighedFact(.bareLink, "\(name) has no gateway that could be asked: every host is behind it"))
            if let silence = evidence.silentTunnels[hop.interfaceIndex] {
                facts.append(WeighedFact(.noHandshake, 2, "\(name) is WireGuard, and \(silence.text)"))
            }
        } else if gateway != nil {
            let traces = evidence.traces(host.family)
            if !traces.isEmpty, !traces.contains(where: { $0.hops.contains { $0.distance == 1 } || $0.end != .silent })
            {
                facts.append(
                    WeighedFact(
                        .gatewayMute,
                        "the gateway \(hop.address) never says that a packet's life ends there, as routers do"))
                if let server = neighbourServing(besides: hop) {
                    facts.append(WeighedFact(.neighbourServes, "\(server), another neighbour, resolves names"))
                }
            }
            facts += routers(besides: hop)
        }
        return facts + owners(of: hop)
    }

    /// A name server on the link that finds names, while it is not the gateway.
    private func neighbourServing(besides hop: FirstHop) -> HostAddress? {
        evidence.servers.map(\.host).first { server in
            server.address != hop.address && !server.address.isLoopback && !evidence.isBeyondGateway(server)
                && evidence.servers.contains { $0.host == server && evidence.findsNames($0) }
        }
    }

    private func owners(of hop: FirstHop) -> [WeighedFact] {
        var facts: [WeighedFact] = []
        let gateways = evidence.owners(hop)
        if gateways.count > 1 {
            facts.append(
                WeighedFact(
                    .twoGateways, 3,
                    "\(hop.address) has \(gateways.count) owners: \(gateways.map(\.description).listed)"))
        }
        if let entry = evidence.entry(of: hop), let owner = gateways.first, !gateways.contains(entry) {
            facts.append(
                WeighedFact(
                    .entryContradicted, 3,
                    "this machine's neighbour table leads \(hop.address) to \(entry), where \(owner) answers for it"))
        }
        if let source = evidence.path(.path(host))?[host.family].source {
            let twins = evidence.owners(
                FirstHop(interface: hop.interface, interfaceIndex: hop.interfaceIndex, address: source))
            if let twin = twins.first {
                facts.append(WeighedFact(.twinHere, 3, "\(source), this machine's address, is also \(twin)'s"))
            }
        }
        return facts
    }

    // MARK: - This machine

    /// The first error with which this machine did not send.
    private var ownError: CInt? {
        for case .failed(let number) in connections { return number }
        if case .failed(let number)? = evidence.traced(host)?.end { return number }
        if case .failed(let number)? = evidence.pinged(host) { return number }
        return nil
    }

    /// Whether a firewall of this machine keeps it from sending.
    var isForbiddenHere: Bool {
        if case .prohibited(let speaker)? = evidence.traced(host)?.end, speaker == evidence.source(to: host) {
            return true
        }
        return ownError == LinuxError.operationNotPermitted || ownError == LinuxError.accessDenied
    }

    private var ofThisMachine: [WeighedFact] {
        var facts: [WeighedFact] = []
        if let number = ownError {
            facts.append(WeighedFact(.notSent, 3, "this machine did not send to \(host) (\(number.errorWords))"))
        }
        let bursts = ports.compactMap { evidence.burst(host, $0) }
        if bursts.contains(where: \.isRefusedHere) {
            facts.append(
                WeighedFact(
                    .refusedHere, 3, "the refusals come over the loopback: this machine makes them, and nothing leaves"
                ))
        }
        if let dropped = droppedAnswers {
            facts.append(WeighedFact(.droppedHere, 3, dropped))
        } else if connections.contains(.refused) || mayDropAnswers,
            DiagnosisComparison(evidence: evidence).isBurstLeft(host.family)
        {
            facts.append(.open(.ownUnheard, "whether this machine drops or makes the answers was not seen in time"))
        }
        if let source = evidence.source(to: host), source.isUniqueLocal, !host.address.isUniqueLocal,
            evidence.isBeyondGateway(host)
        {
            facts.append(
                WeighedFact(
                    .localSource,
                    "packets leave from \(source), a unique local address, to which the Internet has no way back"))
        }
        facts += ofSource
        if host.family == .ipv4, let life = evidence.life, life <= Self.shortLife, evidence.isBeyondGateway(host) {
            facts.append(
                WeighedFact(
                    .shortLife, 3, "packets of this machine live for \(life) routers only (net.ipv4.ip_default_ttl)"))
        }
        if host.family == .ipv4, evidence.reversePathDrops > 0 {
            facts.append(
                WeighedFact(
                    .droppedByReversePath, 2,
                    "packets came in by another interface than answers would leave by, and the kernel dropped them (rp_filter)"
                ))
        }
        return facts
    }

    /// Whether nothing shows that this machine takes the answers that come in. Where its counters stand still, it drops
    /// none.
    private var mayDropAnswers: Bool {
        !others.contains(where: evidence.hasAnsweredByTCP) && (role != .nameServer || !hasAnswered)
            && evidence.inputDrops[host.family] ?? 0 >= Self.dropsThatShow
    }

    /// Fewer than what is asked causes answers.
    static let dropsThatShow: UInt64 = 3

    /// Ways through the Internet are longer.
    private static let shortLife = 16

    /// Answers to questions of its own that this machine dropped, whichever host they were from. What else it dropped
    /// may be anybody's.
    private var droppedAnswers: Clause? {
        // What the reverse path filter drops is counted there as well.
        let other = host.family == .ipv4 ? evidence.reversePathDrops : 0
        let bursts = evidence.bursts(host.family)
        guard UInt64(bursts.map(\.answer.droppedHere).max() ?? 0) > other || other == 0,
            let burst = bursts.first(where: { $0.answer.sent > 0 && $0.answer.droppedHere * 4 >= $0.answer.sent * 3 })
        else { return nil }
        return
            "of \(burst.answer.sent) questions to \(burst.host), this machine dropped \(burst.answer.droppedHere) answers as they came in"
    }
}

extension DiagnosisEvidence {
    /// The connections at once to hosts of a family, those to the first address first.
    func bursts(_ family: IPAddress.Family) -> [(host: HostAddress, answer: BurstAnswer)] {
        answers.compactMap { task, answer -> (host: HostAddress, answer: BurstAnswer)? in
            guard case .burst(let host, _) = task, host.family == family, case .burst(let burst) = answer.result else {
                return nil
            }
            return (host, burst)
        }.sorted { $0.host.description < $1.host.description }
    }

    /// All connections to a host, by port.
    func connections(to host: HostAddress) -> [UInt16: ConnectionAnswer] {
        answers.reduce(into: [:]) { found, entry in
            if case .connect(host, let port) = entry.key, case .connected(let answer) = entry.value.result {
                found[port] = answer
            }
        }
    }

    /// Whether anything came from a host by TCP.
    func hasAnsweredByTCP(_ host: HostAddress) -> Bool {
        connections(to: host).values.contains(where: \.isFromHost)
            || answers.contains { task, answer in
                if case .ask(let question) = task, question.isByTCP, question.server.host == host,
                    case .asked(let answer) = answer.result
                {
                    answer.isSign
                } else {
                    false
                }
            }
    }

    func traces(_ family: IPAddress.Family) -> [PathTrace] {
        answers.compactMap { task, answer in
            if case .trace(let host) = task, host.family == family, case .traced(let trace) = answer.result {
                trace
            } else {
                nil
            }
        }
    }

    /// Whether a server finds addresses of names.
    func findsNames(_ server: NameServerAddress) -> Bool {
        names.contains { name in
            answers(of: server, about: name).contains { if case .addresses = $0 { true } else { false } }
        } || names.isEmpty && datagramAnswers(of: server).contains(where: \.isGood)
    }
}

extension ConnectionAnswer {
    /// Whether it came from the host.
    var isFromHost: Bool { self == .connected || self == .refused }
}

extension CInt {
    /// An `errno`, for a sentence.
    var errorWords: String {
        switch self {
        case LinuxError.hostUnreachable: "host unreachable"
        case LinuxError.networkUnreachable: "network unreachable"
        case LinuxError.accessDenied: "forbidden"
        case LinuxError.operationNotPermitted: "not permitted"
        default: "error \(self)"
        }
    }
}
