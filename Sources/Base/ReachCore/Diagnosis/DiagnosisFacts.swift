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

    private var connections: [ConnectionAnswer] { ports.compactMap { evidence.connected(host, $0) } }

    private var hasAnswered: Bool { evidence.hasAnswered(host) == true }

    // MARK: - The host itself

    private var ofHost: [WeighedFact] {
        if connections.contains(.refused) {
            let port = ports.first { evidence.connected(host, $0) == .refused } ?? 0
            return [WeighedFact(.hostRefuses, "\(host) refuses TCP port \(port).")] + refusedElsewhere
        }
        // A neighbour that is silent to ARP is named already.
        if hasAnswered || !evidence.isBeyondGateway(host) {
            return [WeighedFact(.hostAnswers, "\(host) itself is there.")]
        }
        var facts = [WeighedFact(.hostSilent, "Nothing comes from \(host).")]
        if let alive = siblings.first(where: { evidence.hasAnswered($0) == true }) {
            facts.append(WeighedFact(.hostAnswersInOtherFamily, "The same name answers at \(alive)."))
        }
        if evidence.target == nil, role == .server {
            facts.append(WeighedFact(.standsForInternet, "\(host) was chosen to stand for the Internet."))
        }
        if role == .nameServer, evidence.pinged(host) == .silent {
            facts.append(WeighedFact(.silentToEcho, "\(host) does not answer ping either."))
        }
        return facts
    }

    /// The pages that stand for the Internet refuse what they serve.
    private var refusedElsewhere: [WeighedFact] {
        let pages = evidence.endpoints.flatMap { endpoint in
            evidence.addresses(of: endpoint).filter { $0 != host }.flatMap { page in
                evidence.connections(of: endpoint, to: page).map { (page, $0.answer) }
            }
        }
        guard !pages.isEmpty, pages.allSatisfy({ $0.1 == .refused }) else { return [] }
        let hosts = Set(pages.map(\.0))
        return [WeighedFact(.refusedEverywhere, hosts.count + 1, "\(list(Array(hosts))) refuse what they serve, too.")]
    }

    /// The addresses of the same name in the other family.
    private var siblings: [HostAddress] {
        let all = evidence.destinations.map(evidence.addresses).first { $0.contains(host) } ?? []
        return all.filter { $0.family != host.family }
    }

    // MARK: - Others

    /// Other destinations beyond the first hop, in the same family.
    private var others: [HostAddress] {
        let own = evidence.target.map(evidence.addresses) ?? []
        return (evidence.witnesses + (role == .nameServer ? own : [])).filter {
            $0 != host && $0.family == host.family && evidence.isBeyondGateway($0)
        }
    }

    private var ofOthers: [WeighedFact] {
        // What a translator answers for is no witness for the rest, nor the rest for it.
        let isTranslated = evidence.isTranslated(host)
        let direct = others.filter { isTranslated || !evidence.isTranslated($0) }
        let answering = direct.filter { evidence.hasAnswered($0) == true }
        let silent = direct.filter { evidence.hasAnswered($0) == false && !evidence.isTranslated($0) }
        var facts: [WeighedFact] = []
        if !answering.isEmpty {
            facts.append(
                WeighedFact(
                    .othersAnswer, answering.count, "\(list(answering)) answer\(answering.count == 1 ? "s" : "")."))
        }
        if !silent.isEmpty, answering.isEmpty {
            facts.append(
                WeighedFact(.othersSilent, silent.count, "Nothing comes from \(list(silent)) either."))
        }
        return facts
    }

    /// Whether the packets leave IPv6 on the way (NAT64), and what else does there.
    private var ofTranslator: [WeighedFact] {
        guard evidence.isTranslated(host), let inner = host.address.embedded else { return [] }
        let same = others.filter(evidence.isTranslated)
        let answering = same.filter { evidence.hasAnswered($0) == true }
        let silent = same.filter { evidence.hasAnswered($0) == false }
        var facts = [WeighedFact(.translated, "\(host) is \(inner) behind a translator (NAT64).")]
        if !answering.isEmpty {
            facts.append(
                WeighedFact(
                    .translatorAnswers, answering.count, "\(list(answering)), behind the translator, too, answers."))
        } else if !silent.isEmpty {
            facts.append(
                WeighedFact(
                    .translatorSilent, silent.count, "Nothing comes from \(list(silent)) behind the translator either.")
            )
        }
        return facts
    }

    private func list(_ hosts: [HostAddress]) -> String { hosts.map(\.description).sorted().listed }

    private var ofPorts: [WeighedFact] {
        guard !ports.isEmpty, !connections.isEmpty, connections.allSatisfy({ $0 == .silent }) else { return [] }
        var facts: [WeighedFact] = []
        let living = others.filter { evidence.hasAnswered($0) == true }
        // A name server may well drop all but questions: its silence on another port means nothing.
        let pages = Set(evidence.endpoints.flatMap(evidence.addresses))
        let tried = others.filter { pages.contains($0) && !evidence.connections(to: $0).isEmpty }
        if let other = living.first(where: { host in ports.contains { evidence.connected(host, $0)?.isFromHost == true }
        }) {
            facts.append(WeighedFact(.portAnswersElsewhere, "\(other) answers on the same port."))
        } else if hasAnswered || !living.isEmpty, !tried.isEmpty {
            if !others.contains(where: evidence.hasAnsweredByTCP) {
                facts.append(
                    WeighedFact(
                        .tcpSilentEverywhere, tried.count + 1,
                        "No TCP connection to \(list(tried)) succeeds either, though something answers."))
            } else if tried.contains(where: { host in ports.contains { evidence.connected(host, $0) == .silent } }) {
                // Many hosts drop what is not for the web.
                let isWeb = ports.allSatisfy { [80, 443].contains($0) }
                facts.append(
                    WeighedFact(
                        .portSilentEverywhere, isWeb ? tried.count + 1 : 1,
                        "The same port is silent at \(list(tried)), which answer otherwise."))
            }
        }
        if let router = ports.lazy.compactMap({ evidence.burst(host, $0)?.passedBy }).first {
            facts.append(WeighedFact(.passesGateway, "The router \(router) beyond the first hop saw the segments."))
        }
        return facts
    }

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
                    .routersAnswer, "Routers on the way answer (\(names)), which proves the way up to them alone."))
        }
        guard let trace = evidence.traced(host) else { return facts }
        if let router = trace.loop {
            facts.append(WeighedFact(.loop, 3, "Packets to \(host) come by \(router) more than once."))
        }
        return facts + ofEnd(trace)
    }

    private func ofEnd(_ trace: PathTrace) -> [WeighedFact] {
        let (speaker, isForbidden): (IPAddress, Bool)
        switch trace.end {
        case .prohibited(let by): (speaker, isForbidden) = (by, true)
        case .unreachable(let by): (speaker, isForbidden) = (by, false)
        case .reached, .silent, .failed: return []
        }
        let isGateway = speaker == gateway || trace.hops.contains { $0.address == speaker && $0.distance == 1 }
        let bare = evidence.isBehindBareLink(host)
        switch (speaker, isForbidden) {
        case (evidence.path(.path(host))?[host.family].source, true):
            return [WeighedFact(.notSent, 3, "This machine itself rejects packets to \(host).")]
        // This machine itself reports a neighbour that is silent.
        case (evidence.path(.path(host))?[host.family].source, false): return []
        case (host.address, true): return [WeighedFact(.hostForbids, 2, "\(host) itself forbids the packets.")]
        case (host.address, false): return [WeighedFact(.hostForbids, 2, "\(host) itself has no way for the packets.")]
        case (_, true) where isGateway && !bare:
            return [WeighedFact(.gatewayForbids, 3, "The gateway \(speaker) forbids packets to \(host).")]
        case (_, true): return [WeighedFact(.routerForbids, 3, "The router \(speaker) forbids packets to \(host).")]
        case (_, false) where isGateway && !bare && !trace.isHostMissing:
            return [WeighedFact(.gatewayNoWay, 2, "The gateway \(speaker) has no way for packets to \(host).")]
        case (_, false) where trace.isHostMissing:
            return [WeighedFact(.hostMissing, 2, "The router \(speaker) has the way, but finds no \(host) at its end.")]
        case (_, false): return [WeighedFact(.noWay, 2, "The router \(speaker) has no way for packets to \(host).")]
        }
    }

    // MARK: - The first hop

    private var ofFirstHop: [WeighedFact] {
        guard let hop = evidence.hop(to: host) else { return [] }
        var facts: [WeighedFact] = []
        if evidence.isBehindBareLink(host) {
            let name = DisplayText.sanitized(hop.interface)
            facts.append(
                WeighedFact(.bareLink, "\(name) has no gateway that could be asked: every host is behind it."))
            if let silence = evidence.silentTunnels[hop.interfaceIndex] {
                facts.append(WeighedFact(.noHandshake, 2, "\(name) is WireGuard, and \(silence.text)."))
            }
        } else if gateway != nil {
            let traces = evidence.traces(host.family)
            if !traces.isEmpty, !traces.contains(where: { $0.hops.contains { $0.distance == 1 } || $0.end != .silent })
            {
                facts.append(
                    WeighedFact(
                        .gatewayMute,
                        "The gateway \(hop.address) never says that a packet's life ends there, as routers do."))
                if let server = neighbourServing(besides: hop) {
                    facts.append(WeighedFact(.neighbourServes, "\(server), another neighbour, resolves names."))
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
                    "\(hop.address) has \(gateways.count) owners: \(gateways.map(\.description).listed)."))
        }
        if let source = evidence.path(.path(host))?[host.family].source {
            let twins = evidence.owners(
                FirstHop(interface: hop.interface, interfaceIndex: hop.interfaceIndex, address: source))
            if let twin = twins.first {
                facts.append(WeighedFact(.twinHere, 3, "\(source), this machine's address, is also \(twin)'s."))
            }
        }
        return facts
    }

    // MARK: - This machine

    private var ofThisMachine: [WeighedFact] {
        var facts: [WeighedFact] = []
        var numbers = connections.compactMap { if case .failed(let number) = $0 { number } else { nil } }
        if case .failed(let number)? = evidence.traced(host)?.end { numbers.append(number) }
        if case .failed(let number)? = evidence.pinged(host) { numbers.append(number) }
        if let number = numbers.first {
            facts.append(WeighedFact(.notSent, 3, "This machine did not send to \(host) (\(number.errorWords))."))
        }
        let bursts = ports.compactMap { evidence.burst(host, $0) }
        if bursts.contains(where: \.isRefusedHere) {
            facts.append(
                WeighedFact(
                    .refusedHere, 3, "The refusals come over the loopback: this machine makes them, and nothing leaves."
                ))
        }
        if let dropped = droppedAnswers(bursts) {
            facts.append(WeighedFact(.droppedHere, 3, dropped))
        }
        if let source = evidence.source(to: host), source.isUniqueLocal, !host.address.isUniqueLocal,
            evidence.isBeyondGateway(host)
        {
            facts.append(
                WeighedFact(
                    .localSource,
                    "Packets leave from \(source), a unique local address, to which the Internet has no way back."))
        }
        facts += ofSource
        if host.family == .ipv4, evidence.reversePathDrops > 0 {
            facts.append(
                WeighedFact(
                    .droppedByReversePath, 2,
                    "Packets came in by another interface than answers would leave by, and the kernel dropped them (rp_filter)."
                ))
        }
        return facts
    }

    /// Fewer than what is asked causes answers.
    static let dropsThatShow: UInt64 = 3

    private func droppedAnswers(_ bursts: [BurstAnswer]) -> String? {
        // What the reverse path filter drops is counted there as well.
        let other = host.family == .ipv4 ? evidence.reversePathDrops : 0
        guard UInt64(bursts.map(\.droppedHere).max() ?? .max) > other || other == 0 else { return nil }
        if let burst = bursts.first(where: { $0.sent > 0 && $0.droppedHere * 4 >= $0.sent * 3 }) {
            return
                "Of \(burst.sent) questions to \(host), this machine dropped \(burst.droppedHere) answers as they came in."
        }
        // Without such a test, which is by TCP, drops explain only that nothing at all is heard: stray packets may be
        // dropped as well.
        guard bursts.isEmpty || role == .nameServer, evidence.inputDrops[host.family] ?? 0 >= Self.dropsThatShow,
            !evidence.hasHeard(host.family)
        else { return nil }
        return "Packets came in, and no program was given them (\(evidence.inputDrops[host.family] ?? 0))."
    }
}

extension DiagnosisEvidence {
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
