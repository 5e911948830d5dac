/// Connections and echo requests, and why none succeeds.
extension DiagnosisFinding {
    mutating func examineConnections(of destination: DiagnosisDestination) {
        let hosts = evidence.usableAddresses(of: destination)
        var failing: [HostAddress] = []
        for host in hosts {
            describeConnections(to: host, of: destination)
            if !answers(host, destination) { failing.append(host) }
        }
        isProved = failing.count < hosts.count
        // A first hop that does not answer is named already.
        failing.removeAll { host in evidence.hop(to: host).map { evidence.solicited($0) == .silent } ?? false }
        // Without a ping nothing is known about a host of which only a ping was wanted.
        if destination.ports.isEmpty { failing.removeAll { evidence.pinged($0) == .notPermitted } }
        guard !failing.isEmpty else { return }
        let blames = failing.map { blame(for: $0, destination) }
        if let first = blames.first, let host = failing.first, !isProved {
            addEvidence(about: host, first)
            fatal += blames
        } else {
            for (host, blame) in zip(failing, blames) { addEvidence(about: host, blame) }
            minor += blames
        }
    }

    /// Whether a host answers as far as the target asks for it.
    private func answers(_ host: HostAddress, _ destination: DiagnosisDestination) -> Bool {
        let isEnough = destination.proxy == nil && (destination.isBare || destination.ports.isEmpty)
        let ping = evidence.pinged(host)
        if isEnough, ping == .answered { return true }
        // An answer to a datagram is one, too, where a ping was not asked for, or was not permitted.
        if isEnough, destination.isBare || ping == .notPermitted, evidence.traced(host)?.end == .reached { return true }
        return evidence.connections(of: destination, to: host).contains {
            $0.answer == .connected || isEnough && $0.answer == .refused
        }
    }

    private mutating func describeConnections(to host: HostAddress, of destination: DiagnosisDestination) {
        let subject: Step.Subject = destination.proxy == nil ? .connect : .proxy
        let whose = destination.proxy == nil ? "" : "the proxy "
        for (port, answer) in evidence.connections(of: destination, to: host) {
            let duration = evidence.duration(.connect(host, port: port))
            let (finding, text): (Step.Finding, String) =
                switch answer {
                case .connected: (.good, "accepts TCP connections to port \(port).")
                case .refused: (destination.isBare ? .neutral : .bad, "refuses TCP connections to port \(port).")
                case .unreachable(let number):
                    (.bad, "port \(port): an error came back (\(Self.word(for: number))).")
                case .silent: (destination.isBare ? .neutral : .bad, "does not answer on TCP port \(port).")
                case .failed(let number): (.bad, "port \(port): this machine did not send (\(Self.word(for: number))).")
                }
            let timed = answer == .connected || answer == .refused ? duration : nil
            steps.append(Step(subject, finding, "\(whose)\(host) \(text)".sentenceStart, duration: timed))
        }
        guard destination.isBare || destination.ports.isEmpty, let ping = evidence.pinged(host) else { return }
        switch ping {
        case .answered:
            steps.append(
                Step(.connect, .good, "\(host) answers ping.", duration: evidence.duration(.ping(host, isLarge: false)))
            )
        case .silent:
            let finding: Step.Finding = destination.ports.isEmpty ? .bad : .neutral
            steps.append(Step(.connect, finding, "\(host) does not answer ping."))
        case .notPermitted:
            steps.append(
                Step(.connect, .neutral, "ping was not tried: the sysctl net.ipv4.ping_group_range excludes this user.")
            )
        case .unreachable, .tooLarge, .failed:
            steps.append(Step(.connect, .neutral, "ping to \(host) ended with an error."))
        }
    }

    private static func word(for number: CInt) -> String {
        switch number {
        case LinuxError.hostUnreachable: "host unreachable"
        case LinuxError.networkUnreachable: "network unreachable"
        case LinuxError.accessDenied: "forbidden"
        case LinuxError.operationNotPermitted: "not permitted"
        default: "error \(number)"
        }
    }

    // MARK: - Why

    /// The reason why a host does not answer.
    private func blame(for host: HostAddress, _ destination: DiagnosisDestination) -> Blame {
        let party: Diagnosis.Party = destination.proxy == nil ? .server : .proxy
        let subject: Step.Subject = destination.proxy == nil ? .connect : .proxy
        let shown = (destination.proxy == nil ? "" : "the proxy ") + host.description
        let connections = evidence.connections(of: destination, to: host)
        if let refused = connections.first(where: { $0.answer == .refused }) {
            return Blame(
                party, .target, subject, "\(shown) refuses TCP port \(refused.port): no program serves it there")
        }
        if let own = blameOfThisMachine(host, connections.map(\.answer)) { return own }
        if let spoken = blameOfRouter(host, shown, party, subject) { return spoken }
        // The counter is one for all of IPv4, and a stray packet counts as well: it explains only a silence that nothing
        // else breaks.
        if host.family == .ipv4, evidence.reversePathDrops > 0, evidence.traced(host)?.end != .reached,
            evidence.pinged(host) != .answered, witnessBeyondGateway(except: host, .ipv4) == nil
        {
            return Blame(
                .thisMachine, .route, .route,
                "answers come in by another interface than packets leave by, and the kernel drops them (rp_filter)")
        }
        if let own = blameForDroppedAnswers(host.family) { return own }
        let ports = connections.map { "\($0.port)" }.listed
        let isAlive = evidence.traced(host)?.end == .reached || evidence.pinged(host) == .answered
        if isAlive || !evidence.isBeyondGateway(host) {
            let what =
                ports.isEmpty ? "does not answer ping" : "does not answer on TCP port \(ports): a firewall drops it"
            return Blame(party, .target, subject, "\(shown) is there, but \(what)")
        }
        if let witness = witnessBeyondGateway(except: host, host.family) {
            return Blame(party, .target, subject, "\(shown) does not answer, though \(witness) does")
        }
        let gateway = evidence.hop(to: host).map { " \($0.address)" } ?? ""
        return Blame(.provider, .internet, .internet, "nothing answers beyond the gateway\(gateway)")
    }

    /// Answers come in, and this machine's firewall drops them. Stray packets may be dropped as well, so that this explains only
    /// that nothing at all is heard.
    func blameForDroppedAnswers(_ family: IPAddress.Family) -> Blame? {
        guard evidence.inputDrops[family] ?? 0 >= Self.dropsThatTell, witnessBeyondGateway(except: nil, family) == nil,
            !evidence.hasHeard(family)
        else { return nil }
        return Blame(
            .thisMachine, .route, .connect,
            "packets come in, and this machine drops them before any program sees them: its firewall drops the answers")
    }

    /// Fewer than what is asked causes answers.
    private static let dropsThatTell: UInt64 = 3

    private func blameOfThisMachine(_ host: HostAddress, _ answers: [ConnectionAnswer]) -> Blame? {
        var numbers = answers.compactMap { if case .failed(let number) = $0 { number } else { nil } }
        if case .failed(let number)? = evidence.traced(host)?.end { numbers.append(number) }
        if case .failed(let number)? = evidence.pinged(host) { numbers.append(number) }
        guard let number = numbers.first else { return nil }
        let forbidden = [LinuxError.operationNotPermitted, LinuxError.accessDenied].contains(number)
        let text =
            forbidden
            ? "a firewall of this machine forbids packets to \(host)"
            : "this machine cannot send to \(host) (\(Self.word(for: number)))"
        return Blame(.thisMachine, .route, .connect, text)
    }

    /// What a router, or the host itself, said about the packets.
    private func blameOfRouter(
        _ host: HostAddress, _ shown: String, _ party: Diagnosis.Party, _ subject: Step.Subject
    ) -> Blame? {
        guard let trace = evidence.traced(host) else { return nil }
        let (speaker, verb): (IPAddress, String)
        switch trace.end {
        case .prohibited(let by): (speaker, verb) = (by, "forbids")
        case .unreachable(let by): (speaker, verb) = (by, "has no way for")
        case .reached, .silent, .failed: return nil
        }
        if speaker == evidence.path(.path(host))?[host.family].source {
            // This machine itself reports a neighbour that is silent, and what its own rules reject.
            guard case .prohibited = trace.end else { return nil }
            return Blame(.thisMachine, .route, .connect, "a firewall of this machine forbids packets to \(host)")
        }
        if speaker == host.address { return Blame(party, .target, subject, "\(shown) itself \(verb) the packets") }
        let isGateway =
            speaker == evidence.hop(to: host)?.address
            || trace.hops.contains { $0.address == speaker && $0.distance == 1 }
        let who = isGateway ? "the gateway \(speaker)" : "the router \(speaker)"
        // A gateway that forbids is set up so; one that has no way has lost its line.
        let isLocal = isGateway && verb == "forbids"
        return Blame(
            isLocal ? .localNetwork : .provider, .internet, .internet, "\(who) \(verb) packets to \(host)")
    }

    private mutating func addEvidence(about host: HostAddress, _ blame: Blame) {
        if let trace = evidence.traced(host), trace.end == .reached {
            steps.append(Step(.internet, .neutral, "Datagrams reach \(host)."))
        } else if let hops = evidence.traced(host)?.hops, let last = hops.max(by: { $0.distance < $1.distance }) {
            let far = last.distance == 1 ? "the gateway" : "hop \(last.distance)"
            steps.append(Step(.internet, .neutral, "Packets to \(host) get as far as \(far), \(last.address)."))
        }
        let finding: Step.Finding = blame.layer == .internet ? .bad : .neutral
        if blame.subject == .internet || blame.party == .thisMachine {
            steps.append(Step(blame.subject, finding, "\(blame.text.sentenceStart)."))
        }
    }

    /// Something beyond the gateway that answered; `nil` if nothing did.
    func witnessBeyondGateway(except host: HostAddress?, _ family: IPAddress.Family? = nil) -> String? {
        func counts(_ other: HostAddress) -> Bool {
            other != host && (family == nil || other.family == family) && evidence.isBeyondGateway(other)
        }
        for server in evidence.servers where counts(server.host) {
            if evidence.datagramAnswers(of: server).contains(where: \.isSign) {
                return "the name server \(server.host)"
            }
        }
        var hosts: [String] = []
        var routers: [String] = []
        for (task, answer) in evidence.answers {
            switch (task, answer.result) {
            case (.connect(let other, _), .connected(.connected)), (.connect(let other, _), .connected(.refused)),
                (.ping(let other, _), .pinged(.answered)):
                if counts(other) { hosts.append("\(other)") }
            case (.trace(let other), .traced(let trace)):
                guard family == nil || other.family == family else { continue }
                if trace.end == .reached, counts(other) { hosts.append("\(other)") }
                routers += trace.hops.filter { $0.distance > 1 }.map { "the router \($0.address)" }
            default: continue
            }
        }
        // The same each time, whatever came first.
        return hosts.min() ?? routers.min()
    }
}
