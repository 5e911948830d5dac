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
            let isWhole = evidence.usableAddresses(of: destination).isEmpty
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
            return fatal.append(Blame(blame.party, blame.layer, blame.subject, missing + host))
        }
        fatal.append(blame)
    }

    private mutating func describe(_ path: NetworkPath, _ family: IPAddress.Family, to host: HostAddress?) {
        guard path.linkClass != .loopback else {
            let subject = host?.description ?? "the target"
            return steps.append(Step(.link, .good, "\(subject) is this machine itself.".sentenceStart))
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
    private func missingAddress(_ fact: PathFact, _ family: IPAddress.Family) -> String? {
        guard fact.status == .notReachable, fact.rootCause?.kind == .reason(.noAddress),
            let other = IPAddress.Family.allCases.first(where: { $0 != family }),
            evidence.path(.internet)?.isUsable(other) == true
        else { return nil }
        let name = (fact.rootCause?.interface).map(DisplayText.sanitized) ?? "this machine"
        return "\(name) has no \(family.title) address, only \(other.title)"
    }

    private mutating func describeFailure(_ fact: PathFact, _ family: IPAddress.Family, isWhole: Bool) {
        let reason = fact[family].reason ?? .noRoute
        // The root cause is that of both families together.
        let cause = fact.status == .notReachable ? fact.rootCause : nil
        let layer = cause?.kind.layer ?? reason.layer
        let subject = Step.Subject(rawValue: layer.rawValue) ?? .route
        let missing = missingAddress(fact, family)
        let sentence = (missing ?? cause?.sentence ?? "\(family.title): \(reason.sentence)").sentenceStart
        let remedy = missing == nil ? cause?.remedy.map { " " + $0 } ?? "" : ""
        let isHarmless = fact.status == .reachable || missing != nil && !isWhole
        steps.append(Step(subject, isHarmless ? .neutral : .bad, "\(sentence).\(remedy)"))
    }

    // MARK: - First hops

    /// What a first hop is for this diagnosis.
    enum HopRole: Hashable {
        case gateway
        case target
        case nameServer
    }

    mutating func examineHops(of destination: DiagnosisDestination) {
        var hosts = evidence.usableAddresses(of: destination)
        var role = HopRole.target
        if hosts.isEmpty {
            hosts = evidence.servers.map(\.host).filter { evidence.path(.path($0))?.isUsable($0.family) == true }
            role = .nameServer
        }
        var hops = hosts.compactMap { host in
            evidence.hop(to: host).map { ($0, $0.address == host.address ? role : HopRole.gateway) }
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
            if let blame = examine(hop, role) { blames.append(blame) }
            if role == .gateway, let blame = ownersFault(hop) { minor.append(blame) }
        }
        guard !blames.isEmpty else { return }
        // Where the kernel has found another router meanwhile, something may work, after seconds.
        let hasOther = works && seen.contains(where: evidence.isLeft)
        if blames.count == seen.count, !hasOther { fatal += blames } else { minor += blames }
    }

    private mutating func examine(_ hop: FirstHop, _ role: HopRole) -> Blame? {
        let shown = (role == .gateway ? "the gateway " : "") + hop.address.description
        let name = DisplayText.sanitized(hop.interface)
        let means = hop.address.family.neighbourProtocol
        let duration = evidence.duration(.solicit(hop))
        func add(_ finding: Step.Finding, _ text: String) {
            let timed = finding == .good ? duration : nil
            steps.append(Step(.gateway, finding, "\(shown) \(text)".sentenceStart, duration: timed))
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
                add(.bad, "answers \(means) on \(name), and this machine does not take it.")
                return own
            }
            add(.bad, "does not answer \(means) on \(name).")
            let text = "\(shown) does not answer \(means) on \(name)"
            if role != .gateway, let source = evidence.farSource(of: hop) {
                // No link is so large.
                return Blame(
                    .thisMachine, .address, .address,
                    "\(hop.address) counts as a neighbour on \(name): the prefix length of \(source) is too short, or a route is wrong"
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
                    text + ", and another router takes over after seconds")
            case .gateway:
                // Behind a modem's link there is the modem or the provider, and no local network.
                return Blame(isOnModem(hop) ? .provider : .localNetwork, .gateway, .gateway, text)
            case .target: return Blame(.server, .gateway, .gateway, text + ": it is off, or not on this network")
            case .nameServer:
                return Blame(
                    .nameServer, .name, .gateway, "the name server " + text + ": it is off, or not on this network")
            }
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
    /// A second owner of a gateway's address: which one gets the packets changes from minute to minute.
    private mutating func ownersFault(_ hop: FirstHop) -> Blame? {
        let owners = evidence.owners(hop)
        guard owners.count > 1 else { return nil }
        let text = "the gateway \(hop.address) has \(owners.count) owners: \(owners.map(\.description).listed)"
        steps.append(Step(.gateway, .bad, "\(text.sentenceStart)."))
        return Blame(.localNetwork, .address, .gateway, text)
    }

    /// A firewall of this machine that drops what neighbours answer: it was seen on the link. (ARP passes no such
    /// firewall.)
    private func ownFault(_ hop: FirstHop, _ shown: String, _ means: String) -> Blame? {
        guard hop.address.family == .ipv6, !evidence.owners(hop).isEmpty, !evidence.hasHeard(.ipv6),
            evidence.inputDrops[.ipv6] ?? 0 >= DiagnosisFacts.dropsThatShow
        else { return nil }
        return Blame(
            .thisMachine, .route, .gateway,
            "\(shown) answers \(means), and this machine drops the answers: its firewall lets no ICMPv6 in")
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
            isUndecided ? party : .provider, layer, subject, text, between: isUndecided ? others : [],
            isSilence: isSilence)
    }

    /// A fault that the kernel itself shows.
    init?(_ fact: PathFact, _ family: IPAddress.Family) {
        if let cause = fact.rootCause, fact.status == .notReachable {
            let subject = Diagnosis.Step.Subject(rawValue: cause.kind.layer.rawValue) ?? .route
            let isOnModem = cause.kind == .reason(.gatewayUnreachable) && fact[family].linkClass == .wwan
            self.init(isOnModem ? .provider : cause.kind.party, cause.kind.layer, subject, cause.sentence)
        } else if let reason = fact[family].reason ?? fact.reason {
            let subject = Diagnosis.Step.Subject(rawValue: reason.layer.rawValue) ?? .route
            self.init(.thisMachine, reason.layer, subject, reason.sentence)
        } else {
            return nil
        }
    }
}

extension RootCause.Kind {
    /// Who can mend it.
    var party: Diagnosis.Party {
        switch self {
        // The cable, the access point or the DHCP server.
        case .reason(.noCarrier), .reason(.noAddress), .reason(.gatewayUnreachable), .detail(.notAssociated),
            .detail(.authenticating), .detail(.authenticationFailed), .detail(.notAuthorised),
            .detail(.portNotForwarding), .detail(.selfAssignedAddress), .detail(.addressDuplicate):
            .localNetwork
        case .detail(.modemNotConnected): .provider
        case .reason(.neighbourUnreachable): .server
        case .reason(.nameNotResolved): .nameServer
        case .reason, .detail: .thisMachine
        }
    }
}
