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
        let blames = failing.compactMap { blame(for: $0, destination) }
        if let first = blames.first, let host = failing.first, !isProved {
            addEvidence(about: host, first)
            fatal += blames
        } else {
            if isProved { for (host, blame) in zip(failing, blames) { addEvidence(about: host, blame) } }
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
                    (.bad, "port \(port): an error came back (\(number.errorWords)).")
                case .silent: (destination.isBare ? .neutral : .bad, "does not answer on TCP port \(port).")
                case .failed(let number): (.bad, "port \(port): this machine did not send (\(number.errorWords)).")
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

    // MARK: - Why

    /// The reason why a host does not answer.
    private mutating func blame(for host: HostAddress, _ destination: DiagnosisDestination) -> Blame? {
        if evidence.isLost(host, of: destination), let blame = silentRival(to: host) { return blame }
        return weigh(host, destination.proxy == nil ? .server : .proxy, ports: destination.nextPorts)
    }

    /// A router that is off, and that the kernel may have used in place of the one that it shows.
    func silentRival(to host: HostAddress) -> Blame? {
        let rivals = evidence.hop(to: host).map(evidence.rivals) ?? []
        guard let router = rivals.first(where: { evidence.solicited($0) == .silent }) else { return nil }
        let link = DisplayText.sanitized(router.interface)
        return Blame(
            .localNetwork, .gateway, .gateway,
            "the router \(router.address), to which another default route of \(link) leads, does not answer there: what the kernel sends by it is lost"
        )
    }

    private mutating func addEvidence(about host: HostAddress, _ blame: Blame) {
        // A refusal has come the whole way. Whether there is a trace nevertheless depends on who answered first: name
        // servers, too, are sampled.
        let trace = evidence.connections(to: host).values.contains(.refused) ? nil : evidence.traced(host)
        if let trace, trace.end == .reached {
            steps.append(Step(.internet, .neutral, "Datagrams reach \(host)."))
        } else if let hops = trace?.hops, let last = hops.max(by: { $0.distance < $1.distance }) {
            let far = last.distance == 1 ? "the gateway" : "hop \(last.distance)"
            steps.append(Step(.internet, .neutral, "Packets to \(host) get as far as \(far), \(last.address)."))
        }
        let finding: Step.Finding = blame.layer == .internet ? .bad : .neutral
        if blame.subject == .internet || blame.party == .thisMachine {
            steps.append(Step(blame.subject, finding, "\(blame.text.sentenceStart)."))
        }
    }
}
