internal import ReachCore
internal import ReachRecords

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
        for blame in hosts.compactMap(deadHop) where !minor.contains(blame) {
            steps.append(blame.step)
            minor.append(blame)
        }
        // A first hop that does not answer is named already.
        failing.removeAll { host in evidence.hop(to: host).map { evidence.solicited($0) == .silent } ?? false }
        // Of a host nothing is known while an answer may still come.
        isOpen = !failing.allSatisfy { isSettled($0, destination) }
        failing.removeAll { !isSettled($0, destination) }
        // Without a ping nothing is known about a host of which only a ping was wanted.
        if destination.ports.isEmpty { failing.removeAll { evidence.pinged($0) == .notPermitted } }
        guard !failing.isEmpty else { return }
        let blames = failing.compactMap { blame(for: $0, destination) }
        if let first = blames.first, let host = failing.first, !isProved, !isOpen {
            addEvidence(about: host, first)
            fatal += blames
        } else {
            if isProved { for (host, blame) in zip(failing, blames) { addEvidence(about: host, blame) } }
            minor += blames
        }
    }

    /// Whether all that was asked of a host has ended, so that no answer may come yet.
    private func isSettled(_ host: HostAddress, _ destination: DiagnosisDestination) -> Bool {
        let isPinged = destination.proxy == nil && (destination.isBare || destination.ports.isEmpty)
        // An error came back, and the trace would say whose.
        if evidence.traced(host) == nil, hasNamelessError(host, destination) { return false }
        return (!isPinged || evidence.pinged(host) != nil)
            && evidence.connections(of: destination, to: host).count == destination.nextPorts.count
    }

    private func hasNamelessError(_ host: HostAddress, _ destination: DiagnosisDestination) -> Bool {
        if case .unreachable? = evidence.pinged(host) { return true }
        return evidence.connections(of: destination, to: host).contains {
            if case .unreachable(_, nil) = $0.answer { true } else { false }
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
        let subject: Diagnosis.Subject = destination.proxy == nil ? .connect : .proxy
        let whose: Clause = destination.proxy == nil ? "\(host)" : "the proxy \(host)"
        for (port, answer) in evidence.connections(of: destination, to: host) {
            let duration = evidence.duration(.connect(host, port: port))
            let (finding, text): (Step.Finding, String) =
                switch answer {
                case .connected: (.good, "accepts TCP connections to port \(port).")
                case .refused: (destination.isBare ? .neutral : .bad, "refuses TCP connections to port \(port).")
                case .unreachable(let number, _):
                    (.bad, "port \(port): an error came back (\(number.errorWords)).")
                case .silent: (destination.isBare ? .neutral : .bad, "does not answer on TCP port \(port).")
                case .failed(let number): (.bad, "port \(port): this machine did not send (\(number.errorWords)).")
                }
            let timed = answer == .connected || answer == .refused ? duration : nil
            steps.append(Step(subject, finding, "\(whose.start) \(text)", duration: timed))
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
        if let blame = deadHop(to: host) { return blame }
        if evidence.isLost(host, of: destination), let blame = silentRival(to: host) { return blame }
        if let blame = destination.nextPorts.compactMap({ farSpreading(host, $0) }).first { return blame }
        let blame = weigh(host, destination.proxy == nil ? .server : .proxy, ports: destination.nextPorts)
        guard let blame, ([blame.party] + blame.between).contains(.server), let server = doubtful(host, destination)
        else { return blame }
        return Blame(
            .undecided, .name, blame.subject, "\(blame.clause), or \(server.host) is wrong to lead its name there",
            between: (blame.between.isEmpty ? [.server] : blame.between) + [.nameServer])
    }

    /// The name server that alone leads a name to a host, where another one does not, or that leads it to the gateway.
    private func doubtful(_ host: HostAddress, _ destination: DiagnosisDestination) -> NameServerAddress? {
        guard case .name(let name) = destination.nextHost else { return nil }
        var leading: [NameServerAddress] = []
        var others = 0
        for server in evidence.servers {
            let found = evidence.addresses(by: server, of: name)
            if found.contains(host.address) { leading.append(server) } else if !found.isEmpty { others += 1 }
        }
        let isGateway = evidence.internetHops.contains { $0.address == host.address }
        return isGateway || leading.count == 1 && others > 0 ? leading.first : nil
    }

    /// One of the route's next hops by which nothing answers, while something does by another one.
    func deadHop(to host: HostAddress) -> Blame? {
        guard let hop = evidence.deadHops(to: host).first else { return nil }
        let count = evidence.nextHops(to: host).count
        let link = DisplayText.sanitized(hop.interface)
        let start: Clause = "of the \(count) next hops of the route to \(host), \(hop.address) on \(link)"
        if evidence.solicited(hop) == .silent {
            return Blame(.localNetwork, .gateway, .gateway, "\(start) does not answer")
        }
        return Blame(
            .undecided, .internet, .internet, "\(start) passes nothing on", between: [.localNetwork, .provider])
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
            steps.append(Step(blame.subject, finding, blame.clause.sentence))
        }
    }
}
