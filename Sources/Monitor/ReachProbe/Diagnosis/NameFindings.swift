internal import ReachCore
internal import ReachRecords

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
                steps.append(blame.step)
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
        let byTCP = evidence.streamAnswers(of: server)
        guard !byTCP.isEmpty || !evidence.datagramAnswers(of: server).isEmpty else {
            steps.append(Step(.nameServer, .neutral, "Nothing is known about \(host): no answer came in time."))
            return false
        }
        guard let observed = fault(of: server, about: name, byTCP) else {
            let means = byTCP.contains(where: \.isGood) ? "UDP and TCP" : "UDP"
            steps.append(
                Step(.nameServer, .good, "\(host) answers by \(means).", duration: evidence.duration(.ask(first))))
            return true
        }
        steps.append(observed.step)
        let fault = silence(of: server, byTCP) ?? observed
        serverFaults[server] = fault
        minor.append(isOwn(server) ? fault : blame(for: fault, of: [server]) ?? fault)
        return evidence.datagramAnswers(of: server).contains(where: \.isGood)
    }

    /// Whether a server's fault is its own. What fails or is silent may reach no others; and some deny by themselves
    /// what cannot exist, which is no answer of others.
    private func isOwn(_ server: NameServerAddress) -> Bool {
        let answers = evidence.datagramAnswers(of: server)
        if answers.contains(where: { [.refused, .unusable].contains($0) }) { return true }
        let isFailing = answers.contains { if case .failure = $0 { true } else { false } }
        return isFailing ? evidence.findsNames(server) : answers.contains(where: \.isGood)
    }

    /// What explains a server's silence better than its own fault. The port tests whether this machine drops the
    /// answers; a server of this machine that does not answer is no one else's fault.
    private mutating func silence(of server: NameServerAddress, _ byTCP: [NameServerAnswer]) -> Blame? {
        guard !server.host.address.isLoopback, !byTCP.contains(where: \.isSign),
            !evidence.datagramAnswers(of: server).contains(where: { $0 != .silent }),
            let way = weigh(server.host, .nameServer, ports: [server.port]), way.party != .nameServer
        else { return nil }
        return way
    }

    private func fault(of server: NameServerAddress, about name: String?, _ byTCP: [NameServerAnswer]) -> Blame? {
        let all = evidence.datagramAnswers(of: server)
        let asked = name.map { evidence.answers(of: server, about: $0) } ?? all
        for case .failure(let code) in asked {
            let what = name.map { " for " + DisplayText.sanitized($0) } ?? ""
            return complaint(server, "fails\(what) (\(Self.word(forCode: code)))")
        }
        if all.contains(where: \.isGood) {
            if let half = halfFault(of: server, about: name) { return half }
            // Where no TCP passes at all, that is no server's fault; and one lost connection is nobody's.
            let tcp = byTCP.first { $0 != .silent } ?? byTCP.first
            guard let tcp, !tcp.isGood, tcp != .silent || evidence.passesTCP(besides: server.host) else { return nil }
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
                let text: Clause =
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
        guard !byTCP.contains(where: \.isGood) else {
            return complaint(server, "answers by TCP, but questions by UDP vanish")
        }
        return complaint(server, "does not answer", isSilence: true)
    }

    /// A server that answers about one family alone: programs wait for the other.
    private func halfFault(of server: NameServerAddress, about name: String?) -> Blame? {
        guard let name else { return nil }
        let both = IPAddress.Family.allCases.compactMap { family in
            evidence.asked(NameServerQuestion(server: server, name: name, family: family)).map { (family, $0) }
        }
        guard let silent = both.first(where: { $0.1 == .silent }), both.contains(where: { $0.1.isGood }),
            // About this name alone, it may be the fault of the name's own servers, or of the line.
            evidence.asked(NameServerQuestion(server: server, name: evidence.canary, family: silent.0))?.isSign != true
        else { return nil }
        let records = silent.0 == .ipv4 ? "A" : "AAAA"
        return complaint(server, "never answers questions for \(records) records", isSilence: true)
    }

    func complaint(_ server: NameServerAddress, _ text: String, isSilence: Bool = false) -> Blame {
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
            // The system's resolver asks by TCP only where an answer is too long: what reach got so excuses nothing.
            if evidence.resolved(name) == .notAsked, !evidence.knowsByDatagram(name), let fault = serverFaults[knowing]
            {
                return fail(fault)
            }
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
            let text: Clause = exists ? "\(shown) has no address" : "there is no name \(shown)"
            if let proxy = destination.proxy, case .name(name) = proxy.host {
                return fail(
                    Blame(.thisMachine, .name, .proxy, "\(text), which this machine's proxy setting names"))
            }
            return fail(Blame(.server, .name, .name, text))
        }
        // Some deny by themselves what cannot exist, so that only an answer from afar shows that they work.
        if isFaultOfName(answers), let blame = blameForName(shown, answers.map(\.0)) { return fail(blame) }
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

    /// The blame where servers fail for one name alone; `nil` where questions do not get out.
    private func blameForName(_ shown: String, _ servers: [NameServerAddress]) -> Blame? {
        let clause: Clause = "the name servers of \(shown) fail (SERVFAIL)"
        let alone = Blame(.server, .name, .name, clause)
        if servers.contains(where: evidence.findsNames) || evidence.anchors.isEmpty { return alone }
        switch evidence.passesQuestions(like: servers) {
        case true?: return alone
        case false?: return nil
        case nil:
            let whole: Clause = "\(clause), or those that this machine asks cannot ask others"
            return Blame(.undecided, .name, .name, whole, between: [.server, .nameServer, .provider])
        }
    }

    mutating func fail(_ blame: Blame) {
        if !steps.contains(blame.step) { steps.append(blame.step) }
        fatal.append(blame)
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

    /// Why a name has addresses only of a family that this machine does not have: its server answers about one alone.
    mutating func examineFamilies(of destination: DiagnosisDestination) {
        guard case .name(let name) = destination.nextHost, evidence.usableAddresses(of: destination).isEmpty,
            !evidence.addresses(of: destination).isEmpty
        else { return }
        examineCanary(of: destination)
        guard fatal.isEmpty else { return }
        if let half = evidence.servers.compactMap({ halfFault(of: $0, about: name) }).first { fail(half) }
    }

    /// The fault of a destination whose name has no usable address at all, so that no path need be looked at.
    mutating func examineAddresses(of destination: DiagnosisDestination) {
        guard case .name(let name) = destination.nextHost,
            let blame = unusableAddresses(
                evidence.addresses(of: destination).map(\.address), of: name, DisplayText.sanitized(name))
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
        let teller = evidence.servers.first { evidence.addresses(by: $0, of: name).contains(first) }
        guard let teller else {
            if evidence.listed(name).contains(first) {
                return Blame(.thisMachine, .name, .name, "this machine's hosts file leads \(shown) to \(first)")
            }
            return Blame(
                .undecided, .name, .name,
                "\(shown) leads to \(first), which is no host's address: no name server was seen to say so",
                between: [.nameServer, .thisMachine])
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
        let shown = DisplayText.sanitized(name)
        guard !others.isEmpty else {
            guard let first = fatal.first, first.party == .server, evidence.listed(name).contains(where: used.contains)
            else { return }
            fatal[0] = Blame(
                .undecided, .name, .name,
                "\(first.clause), or this machine's hosts file, which leads \(shown) there, is wrong: no name server says",
                between: [.server, .thisMachine])
            return
        }
        let works = others.first { host in
            destination.nextPorts.contains { evidence.connected(host, $0)?.isFromHost == true }
        }
        let isListed = evidence.listed(name).contains { used.contains($0) }
        guard isListed || works != nil else { return }
        let other = works ?? others[0]
        let source: Clause =
            isListed
            ? "this machine's hosts file"
            : evidence.servers.first { !Set(used).isDisjoint(with: evidence.addresses(by: $0, of: name)) }.map {
                "the name server \($0.host)" as Clause
            } ?? "the resolver"
        let what = works == nil ? "a name server has \(other)" : "\(other), which another has, does"
        let blame = Blame(
            isListed ? .thisMachine : .nameServer, .name, isListed ? .name : .nameServer,
            "\(source) leads \(shown) to \(used.map(\.description).listed), which does not answer; \(what)")
        steps.append(blame.step)
        fatal.insert(blame, at: 0)
    }
}
