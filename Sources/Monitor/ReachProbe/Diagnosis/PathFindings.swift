internal import ReachCore
internal import ReachRecords

/// Link, address, route and first hop.
extension DiagnosisFinding {
    mutating func examinePaths(of destination: DiagnosisDestination) {
        let hosts = evidence.addresses(of: destination)
        guard !hosts.isEmpty else { return examinePathsToServers() }
        for family in IPAddress.Family.allCases {
            let facts = hosts.filter { $0.family == family }.compactMap { host in
                evidence.path(.path(host)).map { (host, $0) }
            }
            guard let (host, fact) = facts.first(where: { $0.1.isUsable(family) }) ?? facts.first else { continue }
            let isWhole = evidence.usableAddresses(of: destination).isEmpty && evidence.isComplete(destination)
            examine(fact, to: host, families: [family], isWhole: isWhole)
        }
    }

    /// Without an address of the target, what matters is the way to the name servers, and that to the Internet.
    private mutating func examinePathsToServers() {
        let facts = evidence.servers.compactMap { server in evidence.path(.path(server.host)).map { (server.host, $0) }
        }
        if let (host, fact) = facts.first(where: { $1.isUsable($0.family) && $1[$0.family].linkClass != .loopback }) {
            examine(fact, to: host, families: [host.family], isWhole: true)
        } else if let fact = evidence.path(.internet), evidence.servers.allSatisfy({ !hasAnswered($0) }) {
            examine(fact, to: nil, families: IPAddress.Family.allCases, isWhole: true)
        }
    }

    private func hasAnswered(_ server: NameServerAddress) -> Bool {
        evidence.datagramAnswers(of: server).contains(where: \.isGood)
    }

    /// - Parameter isWhole: Whether the target cannot be reached if these families cannot.
    mutating func examine(
        _ fact: PathFact, to host: HostAddress?, families: [IPAddress.Family], isWhole: Bool
    ) {
        for family in families where fact[family].reason != .notAsked {
            if fact.isUsable(family) {
                describe(fact[family], family, to: host)
            } else {
                describeFailure(fact, family, isWhole: isWhole)
            }
        }
        guard isWhole, !families.contains(where: { fact.isUsable($0) }),
            let blame = Blame(fact, families.first { fact[$0].reason != .notAsked } ?? .ipv4)
        else { return }
        if let family = families.first(where: { fact[$0].reason != .notAsked }), families.count == 1,
            let missing = missingAddress(fact, family)
        {
            let host = host.map { ", and \($0) is one of \(family.title)" } ?? ""
            return fatal.append(Blame(blame.party, blame.layer, blame.subject, "\(missing)\(host)"))
        }
        fatal.append(blame)
    }

    private mutating func describe(_ path: NetworkPath, _ family: IPAddress.Family, to host: HostAddress?) {
        guard path.linkClass != .loopback else {
            let subject = host?.description ?? "The target"
            return steps.append(Step(.link, .good, "\(subject) is this machine itself."))
        }
        let name = DisplayText.sanitized(path.interface ?? "the link")
        let kind = path.linkClass.map { " (\($0.rawValue))" } ?? ""
        steps.append(Step(.link, .good, "\(name)\(kind) is up."))
        if let source = path.source {
            steps.append(Step(.address, .good, "\(family.title) packets leave from \(source)."))
        }
        let target = host?.description ?? "the Internet"
        let way = path.gateway.map { "by the gateway \($0) on \(name)" } ?? "on \(name) itself"
        steps.append(Step(.route, .good, "The route to \(target) goes \(way)."))
    }

    /// The sentence about an address that is missing in one family alone; `nil` for other faults.
    private func missingAddress(_ fact: PathFact, _ family: IPAddress.Family) -> Clause? {
        guard fact.status == .notReachable, fact.rootCause?.kind == .noAddress,
            let other = IPAddress.Family.allCases.first(where: { $0 != family }),
            evidence.path(.internet)?.isUsable(other) == true
        else { return nil }
        let name = (fact.rootCause?.interface).map { Clause(name: DisplayText.sanitized($0)) } ?? "this machine"
        return "\(name) has no \(family.title) address, only \(other.title)"
    }

    private mutating func describeFailure(_ fact: PathFact, _ family: IPAddress.Family, isWhole: Bool) {
        let reason = fact[family].reason ?? .noRoute
        // The root cause is that of both families together.
        let cause = fact.status == .notReachable ? fact.rootCause : nil
        let layer = cause?.kind.layer ?? reason.layer
        let missing = missingAddress(fact, family)
        let clause = missing ?? cause?.clause ?? "\(family.title): \(reason.row.clause)"
        let remedy = missing == nil ? cause?.remedy.map { " " + $0 } ?? "" : ""
        let isHarmless = fact.status == .reachable || missing != nil && !isWhole
        steps.append(Step(layer.subject, isHarmless ? .neutral : .bad, clause.sentence + remedy))
    }

    // MARK: - First hops

    /// What a first hop is for this diagnosis.
    enum HopRole: Hashable {
        case gateway
        case target
        case proxy
        case nameServer
    }

    mutating func examineHops(of destination: DiagnosisDestination) {
        var hosts = evidence.usableAddresses(of: destination)
        var role = destination.proxy == nil ? HopRole.target : .proxy
        if hosts.isEmpty {
            hosts = evidence.servers.map(\.host).filter { evidence.path(.path($0))?.isUsable($0.family) == true }
            role = .nameServer
        }
        var hops = hosts.compactMap { host in
            evidence.hop(to: host).map { hop in
                // A router that answers questions itself is the gateway all the same.
                let isGateway = hop.address != host.address || evidence.internetHops.contains(hop)
                return (hop, isGateway ? HopRole.gateway : role)
            }
        }
        // Only a resolver on this machine is known, which asks others beyond the gateway.
        if hops.isEmpty, role == .nameServer { hops = evidence.internetHops.map { ($0, .gateway) } }
        examine(hops, works: evidence.firstConnection(of: destination) != nil)
    }

    /// The faults are fatal if no first hop answers.
    ///
    /// - Parameter works: Whether the destination answers all the same.
    mutating func examine(_ hops: [(hop: FirstHop, role: HopRole)], works: Bool = false) {
        var blames: [Blame] = []
        var seen: Set<FirstHop> = []
        for (hop, role) in hops where seen.insert(hop).inserted {
            if let blame = examine(hop, role) {
                blames.append(blame)
                hopFaults[hop] = blame
            }
            if role == .gateway, let blame = ownersFault(hop) { minor.append(blame) }
        }
        guard !blames.isEmpty else { return }
        // Where the kernel has found another router meanwhile, something may work, after seconds.
        let hasOther = works && seen.contains(where: evidence.isLeft)
        if blames.count == seen.count, !hasOther { fatal += blames } else { minor += blames }
    }

    /// The fault of a host's first hop, if that does not answer.
    mutating func hopFault(to host: HostAddress) -> Blame? {
        guard let hop = evidence.hop(to: host) else { return nil }
        if let known = hopFaults[hop] { return known }
        guard evidence.solicited(hop) == .silent else { return nil }
        hopFaults[hop] = examine(hop, hop.address == host.address ? .target : .gateway)
        return hopFaults[hop]
    }

    private mutating func examine(_ hop: FirstHop, _ role: HopRole) -> Blame? {
        let shown: Clause = role == .gateway ? "the gateway \(hop.address)" : "\(hop.address)"
        let name = DisplayText.sanitized(hop.interface)
        let means = hop.address.family.neighbourProtocol
        let duration = evidence.duration(.solicit(hop))
        func add(_ finding: Step.Finding, _ text: String) {
            let timed = finding == .good ? duration : nil
            steps.append(Step(.gateway, finding, "\(shown.start) \(text)", duration: timed))
        }
        var answer = evidence.solicited(hop)
        let isUnanswered = evidence.isUnanswered(hop)
        if isUnanswered, evidence.isLeft(hop) {
            answer = .silent
        } else if isUnanswered, evidence.isProvedByTraffic(hop) {
            add(.good, role == .gateway ? "passes packets on." : "answers on \(name).")
            return nil
        }
        switch answer {
        case .answered:
            add(.good, "answers \(means) on \(name).")
            return nil
        case .silent:
            if let own = ownFault(hop, shown, means) {
                let isSeen = own.party == .thisMachine
                add(
                    .bad,
                    isSeen
                        ? "answers \(means) on \(name), and this machine does not take it."
                        : "does not answer \(means) on \(name).")
                return own
            }
            add(.bad, "does not answer \(means) on \(name).")
            return silence(of: hop, role, "\(shown) does not answer \(means) on \(name)")
        case .unconfirmed:
            add(.neutral, "answered \(means) on \(name) some time ago; only root can ask it again at once.")
            return nil
        case .failed(let number):
            add(.neutral, "was not asked: error \(number) of this machine.")
            return nil
        case .notNeeded, .noNeighbours, nil: return nil
        }
    }
}

extension DiagnosisFinding {
    /// Whose fault it is that a first hop does not answer.
    private func silence(of hop: FirstHop, _ role: HopRole, _ text: Clause) -> Blame {
        if role != .gateway, let source = evidence.farSource(of: hop) {
            // No link is so large.
            return Blame(
                .thisMachine, .address, .address,
                "\(hop.address) counts as a neighbour on \(DisplayText.sanitized(hop.interface)): the prefix length of \(source) is too short, or a route is wrong"
            )
        }
        if let source = evidence.hosts(behind: hop).lazy.compactMap(evidence.source).first,
            let twin = evidence.owners(
                FirstHop(interface: hop.interface, interfaceIndex: hop.interfaceIndex, address: source)
            ).first
        {
            return Blame(
                .localNetwork, .address, .gateway,
                "\(source), this machine's address, is also \(twin)'s: answers go there")
        }
        switch role {
        case .gateway where evidence.isLeft(hop):
            return Blame(
                isOnModem(hop) ? .provider : .localNetwork, .gateway, .gateway,
                "\(text), and another router takes over after seconds")
        case .gateway:
            // Behind a modem's link there is the modem or the provider, and no local network.
            return Blame(isOnModem(hop) ? .provider : .localNetwork, .gateway, .gateway, text)
        case .proxy:
            return Blame(.proxy, .gateway, .gateway, "the proxy \(text): it is off, or not on this network")
        case .target: return Blame(.server, .gateway, .gateway, "\(text): it is off, or not on this network")
        case .nameServer:
            return Blame(
                .nameServer, .name, .gateway, "the name server \(text): it is off, or not on this network")
        }
    }

    /// A second owner of a gateway's address: which one gets the packets changes from minute to minute.
    private mutating func ownersFault(_ hop: FirstHop) -> Blame? {
        let owners = evidence.owners(hop)
        guard owners.count > 1 else { return nil }
        let blame = Blame(
            .localNetwork, .address, .gateway,
            "the gateway \(hop.address) has \(owners.count) owners: \(owners.map(\.description).listed)")
        steps.append(blame.step)
        return blame
    }

    /// A firewall of this machine that drops what neighbours answer: it was seen on the link. (ARP passes no such
    /// firewall.)
    private func ownFault(_ hop: FirstHop, _ shown: Clause, _ means: String) -> Blame? {
        guard hop.address.family == .ipv6, !evidence.hasHeard(.ipv6),
            evidence.inputDrops[.ipv6] ?? 0 >= DiagnosisFacts.dropsThatShow
        else { return nil }
        guard evidence.owners(hop).isEmpty else {
            return Blame(
                .thisMachine, .route, .gateway,
                "\(shown) answers \(means), and this machine drops the answers: its firewall lets no ICMPv6 in")
        }
        // Only root may listen on the link.
        return Blame(
            .undecided, .gateway, .gateway,
            "\(shown) does not answer \(means), or this machine drops the answers: it drops packets that come in, and only root can see whose",
            between: [.localNetwork, .thisMachine])
    }

    private func isOnModem(_ hop: FirstHop) -> Bool {
        evidence.allPaths.contains { $0.interfaceIndex == hop.interfaceIndex && $0.linkClass == .wwan }
    }
}

extension DiagnosisEvidence {
    /// Whether all links that carry the paths are modems'.
    var isOnModem: Bool {
        let classes = allPaths.compactMap(\.linkClass).filter { $0 != .loopback }
        return !classes.isEmpty && classes.allSatisfy { $0 == .wwan }
    }
}

extension Diagnosis.Blame {
    /// The same where a modem is what the link leads to: behind it are the modem itself and the provider, and no local
    /// network.
    var beyondModem: Diagnosis.Blame {
        guard layer != .portal, ([party] + between).contains(.localNetwork) else { return self }
        var others = between.filter { $0 != .localNetwork }
        if !between.isEmpty, !others.contains(.provider) { others.append(.provider) }
        let isUndecided = others.count > 1
        return Diagnosis.Blame(
            isUndecided ? party : .provider, layer, subject, clause, between: isUndecided ? others : [],
            isSilence: isSilence)
    }

    /// A fault that the kernel itself shows.
    init?(_ fact: PathFact, _ family: IPAddress.Family) {
        if let cause = fact.rootCause, fact.status == .notReachable {
            let row = cause.kind.row
            let isOnModem = cause.kind == .gatewayUnreachable && fact[family].linkClass == .wwan
            self.init(isOnModem ? .provider : row.party, row.layer, row.layer.subject, cause.clause)
        } else if let reason = fact[family].reason ?? fact.reason {
            self.init(.thisMachine, reason.layer, reason.layer.subject, reason.row.clause)
        } else {
            return nil
        }
    }
}
