/// Name servers, and the target's name.
extension DiagnosisFinding {
    mutating func examineNames(_ name: String, of destination: DiagnosisDestination) {
        examineServers(about: name)
        examineCanary(of: destination)
        let shown = DisplayText.sanitized(name)
        switch evidence.resolved(name) {
        case .addresses(let addresses)?:
            let list = addresses.map(\.description).listed
            steps.append(Step(.name, .good, "\(shown) is \(list).", duration: evidence.duration(.resolve(name))))
            if let blame = disagreement(about: name) {
                steps.append(Step(.nameServer, .bad, "\(blame.text.sentenceStart)."))
                minor.append(blame)
            }
        case .noAddress?, .notAsked?, nil: examineFailure(of: name, shown, destination)
        }
    }

    /// Describes each server. Faults in spite of which names may be found are minor.
    ///
    /// - Parameter name: The name in question; `nil` for none.
    /// - Returns: Whether a server answers as one that works.
    @discardableResult
    mutating func examineServers(about name: String?) -> Bool {
        var works = false
        for server in evidence.servers {
            if examine(server, about: name) { works = true }
        }
        if evidence.servers.isEmpty { steps.append(Step(.nameServer, .neutral, "No name server is configured.")) }
        return works
    }

    /// - Returns: Whether it answers as a server that works.
    private mutating func examine(_ server: NameServerAddress, about name: String?) -> Bool {
        let host = server.host
        guard let fact = evidence.path(.path(host)), fact.isUsable(host.family) else {
            let reason = evidence.path(.path(host))?[host.family].reason?.sentence ?? "nothing is known about its path"
            steps.append(Step(.nameServer, .bad, "\(host) cannot be asked: \(reason)."))
            return false
        }
        let subject = name ?? evidence.canary
        let first = NameServerQuestion(server: server, name: subject, family: .ipv4)
        let tcp = evidence.asked(NameServerQuestion(server: server, name: subject, family: .ipv4, isByTCP: true))
        let fault = fault(of: server, about: name, tcp)
        guard let fault else {
            let means = tcp?.isGood == true ? "UDP and TCP" : "UDP"
            steps.append(
                Step(.nameServer, .good, "\(host) answers by \(means).", duration: evidence.duration(.ask(first))))
            return true
        }
        steps.append(Step(.nameServer, .bad, "\(fault.text.sentenceStart)."))
        minor.append(fault)
        serverFaults[server] = fault
        return evidence.datagramAnswers(of: server).contains(where: \.isGood)
    }

    private func fault(of server: NameServerAddress, about name: String?, _ tcp: NameServerAnswer?) -> Blame? {
        let all = evidence.datagramAnswers(of: server)
        let asked = name.map { evidence.answers(of: server, about: $0) } ?? all
        for case .failure(let code) in asked {
            let what = name.map { " for " + DisplayText.sanitized($0) } ?? ""
            return complaint(server, "fails\(what) (\(Self.word(forCode: code)))")
        }
        if all.contains(where: \.isGood) {
            if let half = halfFault(of: server, about: name) { return half }
            guard let tcp, !tcp.isGood else { return nil }
            return complaint(
                server, "answers by UDP, but not by TCP, which long answers need", isSilence: tcp == .silent)
        }
        if all.contains(.unusable) {
            return complaint(server, "sends answers that no program can use: with another number, or malformed")
        }
        if all.contains(.refused) {
            // A resolver of this machine does not run, or no server is configured: the resolver of the C library then
            // asks 127.0.0.1 (resolv.conf(5)).
            if server.host.address.isLoopback {
                let text =
                    evidence.namesServers
                    ? "this machine is its own name server (\(server.host)), but no program serves port \(server.port) on it"
                    : "no name server is configured, and none runs on this machine (\(server.host), port \(server.port))"
                return Blame(.thisMachine, .name, .nameServer, text)
            }
            return complaint(server, "refuses questions: no program serves port \(server.port)")
        }
        for case .failed(let number) in all where number == LinuxError.operationNotPermitted {
            return Blame(
                .thisMachine, .name, .nameServer,
                "a firewall of this machine forbids packets to the name server \(server.host)")
        }
        guard tcp?.isGood != true else { return complaint(server, "answers by TCP, but questions by UDP vanish") }
        return complaint(server, "does not answer", isSilence: true)
    }

    /// A server that answers about one family alone: programs wait for the other.
    private func halfFault(of server: NameServerAddress, about name: String?) -> Blame? {
        guard let name else { return nil }
        let both = IPAddress.Family.allCases.compactMap { family in
            evidence.asked(NameServerQuestion(server: server, name: name, family: family)).map { (family, $0) }
        }
        guard let silent = both.first(where: { $0.1 == .silent }), both.contains(where: { $0.1.isGood }) else {
            return nil
        }
        let records = silent.0 == .ipv4 ? "A" : "AAAA"
        return complaint(server, "never answers questions for \(records) records", isSilence: true)
    }

    private func complaint(_ server: NameServerAddress, _ text: String, isSilence: Bool = false) -> Blame {
        Blame(.nameServer, .name, .nameServer, "the name server \(server.host) \(text)", isSilence: isSilence)
    }

    private static func word(forCode code: UInt8) -> String {
        switch code {
        case 1: "FORMERR"
        case 2: "SERVFAIL"
        case 4: "NOTIMP"
        case 5: "REFUSED"
        default: "code \(code)"
        }
    }

    // MARK: - A name without addresses

    private mutating func examineFailure(of name: String, _ shown: String, _ destination: DiagnosisDestination) {
        let answers = evidence.servers.map { ($0, evidence.answers(of: $0, about: name)) }
        let knowing = answers.filter { $0.1.contains { if case .addresses = $0 { true } else { false } } }.map(\.0)
        let denying = answers.map(\.0).filter { denies($0, name) }
        if knowing.isEmpty, denying.isEmpty, let half = evidence.servers.compactMap({ serverFaults[$0] }).first,
            answers.contains(where: { $0.1.contains(.noAddress) })
        {
            return fail(half)
        }
        if let knowing = knowing.first {
            if let blame = disagreement(about: name) { return fail(blame) }
            // Its addresses are used below, as programs do that ask again.
            if evidence.resolved(name) != .noAddress {
                return steps.append(
                    Step(
                        .name, .bad,
                        "The system's resolver has no answer for \(shown) yet, though \(knowing.host) knows it."))
            }
            return fail(
                Blame(
                    .thisMachine, .name, .name,
                    "the system's resolver does not find \(shown), though the name server \(knowing.host) knows it"))
        }
        if !denying.isEmpty || (evidence.servers.isEmpty && evidence.resolved(name) == .noAddress) {
            let exists = answers.contains { $0.1.contains(.noAddress) }
            let text = exists ? "\(shown) has no address" : "there is no name \(shown)"
            if let proxy = destination.proxy, case .name(name) = proxy.host {
                return fail(
                    Blame(.thisMachine, .name, .proxy, "\(text), which this machine's proxy setting names"))
            }
            return fail(Blame(.server, .name, .name, text))
        }
        if isFaultOfName(answers) {
            return fail(Blame(.server, .name, .name, "the name servers of \(shown) fail (SERVFAIL)"))
        }
        if let blame = blameForServers() { return fail(blame) }
        steps.append(Step(.name, .neutral, "Nothing is known about \(shown): no answer came in time."))
    }

    /// Whether a server says that a name has no address in any family, and not of one family alone.
    private func denies(_ server: NameServerAddress, _ name: String) -> Bool {
        let byFamily = IPAddress.Family.allCases.map {
            evidence.asked(NameServerQuestion(server: server, name: name, family: $0))
        }
        return byFamily.contains(.noSuchName)
            || byFamily.allSatisfy { $0 == .noAddress || $0 == nil }
                && byFamily.contains(.noAddress)
    }

    /// Whether all servers that were asked fail for this name alone: they answer about another.
    private func isFaultOfName(_ answers: [(server: NameServerAddress, answers: [NameServerAnswer])]) -> Bool {
        let asked = answers.filter { !$0.answers.isEmpty }
        return !asked.isEmpty
            && asked.allSatisfy { server, answers in
                let canary = NameServerQuestion(server: server, name: evidence.canary, family: .ipv4)
                return answers.contains(.failure(code: 2)) && evidence.asked(canary)?.isGood == true
            }
    }

    private mutating func fail(_ blame: Blame) {
        let step = Step(blame.subject, .bad, "\(blame.text.sentenceStart).")
        if !steps.contains(step) { steps.append(step) }
        fatal.append(blame)
    }

    /// The reason why no server answers as one that works. A server that answers at all is at fault itself; of silent
    /// ones, the evidence on the way decides.
    mutating func blameForServers() -> Blame? {
        var reached = evidence.servers.filter { evidence.path(.path($0.host))?.isUsable($0.host.family) == true }
        // A resolver on this machine passes on what the others do.
        let others = reached.filter { !$0.host.address.isLoopback }
        if !others.isEmpty { reached = others }
        guard let first = reached.first else {
            return evidence.path(.internet).flatMap { Blame($0, .ipv4) }
                ?? (evidence.servers.isEmpty
                    ? Blame(.thisMachine, .name, .nameServer, "no name server is configured") : nil)
        }
        let faults = reached.compactMap { serverFaults[$0] }
        if let speaking = reached.first(where: { evidence.datagramAnswers(of: $0).contains(where: \.isSign) }),
            let fault = serverFaults[speaking]
        {
            return fault
        }
        if let own = faults.first(where: { $0.party == .thisMachine }) { return own }
        // A server of this machine that does not answer is no one else's.
        guard evidence.isBeyondGateway(first.host) else { return faults.first }
        // The ports of tests whether this machine drops the answers.
        return weigh(first.host, .nameServer, ports: [first.port]) ?? faults.first
    }

    /// One server knows the name, and another denies it. Different addresses alone are usual: large sites give each
    /// asker others.
    private func disagreement(about name: String) -> Blame? {
        var knowing: NameServerAddress?
        var denying: NameServerAddress?
        for server in evidence.servers {
            let answers = evidence.answers(of: server, about: name)
            let knows = answers.contains { if case .addresses = $0 { true } else { false } }
            if knows {
                knowing = knowing ?? server
            } else if answers.contains(where: \.isGood) {
                denying = denying ?? server
            }
        }
        guard let knowing, let denying else { return nil }
        return Blame(
            .nameServer, .name, .nameServer,
            "the name servers disagree: \(knowing.host) knows \(DisplayText.sanitized(name)), \(denying.host) denies it"
        )
    }

    /// The fault of a destination whose name has no usable address at all, so that no path need be looked at.
    mutating func examineAddresses(of destination: DiagnosisDestination) {
        guard case .name(let name) = destination.nextHost, case .addresses(let addresses)? = evidence.resolved(name),
            let blame = unusableAddresses(addresses, of: name, DisplayText.sanitized(name))
        else { return }
        fail(blame)
    }

    /// Addresses that no other host can have, as name servers give that block a name.
    private func unusableAddresses(_ addresses: [IPAddress], of name: String, _ shown: String) -> Blame? {
        let isLocalName = name == "localhost" || name.hasUTF8Suffix(".localhost") || !name.containsUTF8(".")
        guard let first = addresses.first, addresses.allSatisfy({ $0.scope == .nowhere }), !isLocalName
        else {
            return nil
        }
        let teller = evidence.servers.first { server in
            evidence.answers(of: server, about: name).contains {
                if case .addresses(let found) = $0 { found.contains(first) } else { false }
            }
        }
        guard let teller else {
            return evidence.listed(name).contains(first)
                ? Blame(.thisMachine, .name, .name, "this machine's hosts file leads \(shown) to \(first)") : nil
        }
        return Blame(
            .nameServer, .name, .nameServer,
            "the name server \(teller.host) answers \(first) for \(shown), which is no host's address: it blocks the name"
        )
    }

    /// Why the addresses of a name do not answer, where the hosts file or one name server gives others than the rest.
    mutating func examineSources(of destination: DiagnosisDestination) {
        guard case .name(let name) = destination.nextHost, case .addresses(let used)? = evidence.resolved(name),
            !fatal.isEmpty
        else { return }
        let others = evidence.otherAddresses(of: destination)
        guard !others.isEmpty else { return }
        let shown = DisplayText.sanitized(name)
        let works = others.first { host in
            destination.nextPorts.contains { evidence.connected(host, $0)?.isFromHost == true }
        }
        let isListed = evidence.listed(name).contains { used.contains($0) }
        guard isListed || works != nil else { return }
        let other = works ?? others[0]
        let source =
            isListed
            ? "this machine's hosts file"
            : evidence.servers.first { server in
                evidence.answers(of: server, about: name).contains {
                    if case .addresses(let found) = $0 { !Set(found).isDisjoint(with: used) } else { false }
                }
            }.map { "the name server \($0.host)" } ?? "the resolver"
        let what = works == nil ? "a name server has \(other)" : "\(other), which another has, does"
        let text = "\(source) leads \(shown) to \(used.map(\.description).listed), which does not answer; \(what)"
        let blame = Blame(isListed ? .thisMachine : .nameServer, .name, isListed ? .name : .nameServer, text)
        steps.append(Step(blame.subject, .bad, "\(text.sentenceStart)."))
        fatal.insert(blame, at: 0)
    }

    // MARK: - Servers that answer everything

    private mutating func examineCanary(of destination: DiagnosisDestination) {
        let own = Set(evidence.addresses(of: destination).map(\.address))
        for server in evidence.servers {
            let question = NameServerQuestion(server: server, name: evidence.canary, family: .ipv4)
            guard case .addresses(let addresses)? = evidence.asked(question), let first = addresses.first else {
                continue
            }
            let text = "the name server \(server.host) answers even for a name that cannot exist, with \(first)"
            steps.append(Step(.nameServer, .bad, "\(text.sentenceStart)."))
            if own.isDisjoint(with: addresses) {
                minor.append(Blame(.nameServer, .name, .nameServer, text))
            } else {
                fatal.append(
                    Blame(
                        .localNetwork, .portal, .portal,
                        "the name server \(server.host) leads every name to \(first), as login pages do"))
            }
        }
    }
}
