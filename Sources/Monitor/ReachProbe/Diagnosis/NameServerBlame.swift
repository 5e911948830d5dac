internal import ReachCore
internal import ReachRecords

/// Who is at fault where no name server answers as one that works.
extension DiagnosisFinding {
    /// The reason why no server answers as one that works. A server that answers at all is at fault itself; of silent
    /// ones, the evidence on the way decides.
    mutating func blameForServers() -> Blame? {
        var reached = evidence.servers.filter { evidence.path(.path($0.host))?.isUsable($0.host.family) == true }
        // A resolver on this machine passes on what the others do.
        let others = reached.filter { !$0.host.address.isLoopback }
        if !others.isEmpty { reached = others }
        guard !reached.isEmpty else {
            return evidence.path(.internet).flatMap { Blame($0, .ipv4) }
                ?? (evidence.servers.isEmpty
                    ? Blame(.thisMachine, .name, .nameServer, "no name server is configured") : nil)
        }
        let faults = reached.compactMap { serverFaults[$0] }
        if let own = faults.first(where: { $0.party == .thisMachine }) { return own }
        // Unlike a server that fails, one that refuses or garbles does so by itself.
        let own = reached.first { server in
            evidence.datagramAnswers(of: server).contains { [.refused, .unusable].contains($0) }
        }
        if let own { return serverFaults[own] }
        return blame(for: serverFault(of: reached), of: reached)
    }

    /// A fault of names is named only if something answers beyond the name servers' own way, on which they depend.
    mutating func blame(for fault: Blame?, of servers: [NameServerAddress]) -> Blame? {
        let way = silentInternet(besides: servers).flatMap { weighLine(to: $0) }
        let line = way?.blame
        if let line, hasSilentPage || way?.isShown == true { return line }
        guard let fault, fault.party == .nameServer else { return fault ?? line }
        if line == nil, evidence.passesQuestions(like: servers) == false {
            return Blame(
                .undecided, .name, fault.subject,
                "\(fault.clause), or somebody on the way lets no questions pass: no other server answers one, though hosts answer otherwise",
                between: [fault.party, .localNetwork, .provider])
        }
        let open: Clause = "no host that stands for the Internet has shown in time whether anything answers"
        guard let clause = line?.clause ?? (isInternetUnheard ? open : nil) else { return fault }
        let suspects = line?.suspects ?? [.provider]
        return Blame(
            .undecided, .name, fault.subject, "\(fault.clause), or \(clause)\(Self.missingPage)",
            between: [fault.party] + suspects.filter { $0 != fault.party })
    }

    private static let missingPage =
        ": a page with a known answer that is given by its address ([connectivity] endpoints) would decide"

    /// The fault of servers of which none works: that of one which answers, or else the first one's.
    private func serverFault(of reached: [NameServerAddress]) -> Blame? {
        if let speaking = reached.first(where: { evidence.datagramAnswers(of: $0).contains(where: \.isSign) }),
            let fault = serverFaults[speaking]
        {
            return fault
        }
        return reached.lazy.compactMap { [serverFaults] in serverFaults[$0] }.first
    }

    /// Whether a page that is known by its address is silent.
    private var hasSilentPage: Bool {
        evidence.destinations.contains { destination in
            guard case .address(let host) = destination.nextHost else { return false }
            return evidence.isBeyondGateway(host) && evidence.hasAnswered(host) == false
        }
    }

    /// A host that stands for the Internet and is silent, where none of its family answers: of the family in which name
    /// servers are asked. One on this machine may ask by any.
    private func silentInternet(besides servers: [NameServerAddress]) -> HostAddress? {
        let far = evidence.farWitnesses.filter { host in
            // A prefix that is too short makes neighbours of all.
            evidence.isBeyondGateway(host) || evidence.hop(to: host).flatMap(evidence.solicited) == .silent
        }
        let targets = evidence.target.map(evidence.usableAddresses) ?? []
        let families = IPAddress.Family.allCases.filter { family in
            servers.contains { $0.host.family == family || $0.host.address.isLoopback }
                && !(far + targets).contains { $0.family == family && evidence.hasAnswered($0) == true }
        }
        return far.first { families.contains($0.family) && evidence.hasAnswered($0) == false }
    }

    /// Whether there are hosts that stand for the Internet, and nothing that was asked of them has ended.
    private var isInternetUnheard: Bool {
        let far = evidence.farWitnesses + (evidence.target.map(evidence.usableAddresses) ?? [])
        return !(far + evidence.anchors).isEmpty && far.allSatisfy { evidence.hasAnswered($0) == nil }
    }
}
