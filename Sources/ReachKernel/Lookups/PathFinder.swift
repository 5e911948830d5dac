package import ReachCore

/// Asks the kernel for the paths to a target, and judges what it answers.
package struct PathFinder {
    let view: KernelView
    /// Packets with this firewall mark are meant (`ip rule ... fwmark`).
    private let mark: UInt32?
    /// Neighbours on which the paths found so far depend.
    package private(set) var neighbours: Set<Neighbour.Key> = []
    /// When a neighbour that is being asked must be looked at again.
    package private(set) var lookAgain: BootTime?
    /// The lookups on which the verdicts so far rest, if they are kept.
    package private(set) var findings: [PathFinding] = []
    private let keepsFindings: Bool

    package init(view: KernelView, mark: UInt32? = nil, keepsFindings: Bool = false) {
        self.view = view
        self.mark = mark
        self.keepsFindings = keepsFindings
    }

    /// The paths to whatever a target means.
    ///
    /// - Returns: `nil` for a name, which has to be resolved first.
    package mutating func verdict(
        on subject: Target.Subject, anchors: [IPAddress]
    ) throws(NetlinkError) -> Verdict? {
        switch subject {
        case .internet: return try internet(anchors: anchors)
        case .interface(let name): return try interface(named: name)
        case .prefix(let prefix): return try anyOf([prefix.representative])
        case .address(let address, zone: nil): return try anyOf([address])
        case .address(let address, let zone?):
            guard let link = view.table.link(named: zone) else { return Verdict(.notReachable, reason: .noInterface) }
            return try anyOf([address], interface: link.index)
        case .name: return nil
        }
    }

    /// The Internet, for which a few addresses far apart stand. A family reaches it when at least half of its anchors
    /// have a path: one host route to one of them proves nothing, nor does one that is missing.
    ///
    /// - Parameter family: The only one to look at; then `known` holds for the other.
    package mutating func internet(
        anchors: [IPAddress], only family: IPAddress.Family? = nil, known: Verdict? = nil
    ) throws(NetlinkError) -> Verdict {
        let only = known.flatMap { _ in family }
        var surveys: [ReferenceAddressSurvey] = []
        surveys.reserveCapacity(2)
        if only != .ipv6 { surveys.append(ReferenceAddressSurvey(.ipv4, among: anchors, known: known?.ipv4)) }
        if only != .ipv4 { surveys.append(ReferenceAddressSurvey(.ipv6, among: anchors, known: known?.ipv6)) }
        while try advance(&surveys) {}
        var ipv4 = known?.ipv4 ?? .notAsked
        var ipv6 = known?.ipv6 ?? .notAsked
        for survey in surveys {
            if keepsFindings { keep(survey) }
            if survey.family == .ipv4 { ipv4 = survey.path } else { ipv6 = survey.path }
        }
        return Verdict(ipv4: ipv4, ipv6: ipv6)
    }

    /// Asks what the surveys want to know next, all at once.
    ///
    /// - Returns: Whether there was anything.
    private mutating func advance(_ surveys: inout [ReferenceAddressSurvey]) throws(NetlinkError) -> Bool {
        var questions: [RouteQuestion] = []
        questions.reserveCapacity(8)
        for index in surveys.indices {
            let wanted = surveys[index].nextQuestions
            for place in wanted.ways { questions.append(RouteQuestion(surveys[index].anchors[place], mark: mark)) }
            if let place = wanted.matching {
                questions.append(RouteQuestion(surveys[index].anchors[place], mark: mark, matchesTable: true))
            }
        }
        guard !questions.isEmpty else { return false }
        let answers = try ask(questions)
        var taken = 0
        for index in surveys.indices {
            let wanted = surveys[index].nextQuestions
            for answer in answers[taken..<taken + wanted.ways.count] { try take(answer, for: &surveys[index]) }
            taken += wanted.count
            if let place = wanted.matching { surveys[index].take(matching: answers[taken - 1], at: place) }
        }
        return true
    }

    /// ReferenceAddresses mostly share their way, and it is judged once.
    private mutating func take(_ answer: RouteAnswer, for survey: inout ReferenceAddressSurvey) throws(NetlinkError) {
        guard let anchor = survey.nextAnchor, !survey.takeSame(answer) else { return }
        survey.take(try judge(anchor, answer, isInternet: true), answer)
    }

    /// Any of these addresses is enough, as it is for a host with several.
    package mutating func anyOf(
        _ addresses: [IPAddress], interface: InterfaceIndex? = nil
    ) throws(NetlinkError) -> Verdict {
        let question = { RouteQuestion($0, interface: interface, mark: mark) }
        let answers = try ask(addresses.map(question))
        var found: [IPAddress.Family: NetworkPath] = [:]
        for (address, answer) in zip(addresses, answers) where found[address.family]?.status != .reachable {
            let path = try withMetric(judge(address, answer), to: address, interface: interface)
            let isTelling = path.status == .reachable || found[address.family] == nil
            if isTelling { found[address.family] = path }
            keep(path, to: address, answer, isTelling)
        }
        return Verdict(ipv4: found[.ipv4] ?? .notAsked, ipv6: found[.ipv6] ?? .notAsked)
    }

    /// An interface of this machine: can it carry packets?
    package func interface(named name: String) throws(NetlinkError) -> Verdict {
        guard let link = view.table.link(named: name) else { return Verdict(.notReachable, reason: .noInterface) }
        let judge = judge(try view.underlay(of: link.index))
        return Verdict(
            ipv4: judge.path(ofInterface: link.index, family: .ipv4),
            ipv6: judge.path(ofInterface: link.index, family: .ipv6))
    }

    /// Asks; then asks again with a source where an IPv6 route may be for that source only, and by the table where an
    /// IPv4 answer for one interface means nothing.
    private func ask(_ questions: [RouteQuestion]) throws(NetlinkError) -> [RouteAnswer] {
        var answers = try view.queries.routes(questions)
        for (index, question) in questions.enumerated() {
            let family = question.destination.family
            if family == .ipv4, question.interface != nil {
                var strict = question
                strict.matchesTable = true
                let answer = try view.queries.routes([strict])[0]
                if case .refused = answer { answers[index] = answer }
            } else if family == .ipv6, answers[index] == .refused(errno: LinuxError.networkUnreachable),
                hasGlobalIPv6Address, let source = SourceFinder.source(for: question.destination)
            {
                var again = question
                again.source = source
                answers[index] = try view.queries.routes([again])[0]
            }
        }
        return answers
    }

    private var hasGlobalIPv6Address: Bool {
        view.table.addresses.values.contains { held in
            held.contains { $0.address.family == .ipv6 && $0.isPreferred }
        }
    }

    private mutating func judge(
        _ destination: IPAddress, _ answer: RouteAnswer, isInternet: Bool = false
    ) throws(NetlinkError) -> NetworkPath {
        guard case .route(let route) = answer, let hop = route.hops.first, let index = hop.interface else {
            return judge().path(to: destination, answer: answer, isInternet: isInternet)
        }
        try learnNeighbour(hop, of: route, on: index, destination: destination)
        let underlay = try view.underlay(of: index)
        var path = judge(underlay).path(to: destination, answer: answer, isInternet: isInternet)
        if path.linkClass == .tunnel, path.lower.isEmpty, let name = try likelyUnderlay(of: index, to: destination) {
            path.lower = [name]
        }
        return path
    }

    private mutating func keep(_ survey: ReferenceAddressSurvey) {
        for finding in survey.findings { keep(finding.path, to: finding.anchor, finding.answer, finding.isTelling) }
    }

    /// Notes what a verdict rests on. A later telling path of a family takes the place of an earlier one.
    private mutating func keep(
        _ path: NetworkPath, to destination: IPAddress, _ answer: RouteAnswer, _ isDecisive: Bool
    ) {
        guard keepsFindings else { return }
        if isDecisive {
            for index in findings.indices where findings[index].destination.family == destination.family {
                findings[index].isDecisive = false
            }
        }
        findings.append(
            PathFinding(destination: destination, answer: answer, path: path, isDecisive: isDecisive))
    }

    private func judge(_ underlay: [InterfaceIndex: InterfaceIndex] = [:]) -> PathJudge {
        PathJudge(table: view.table) { [view] in view.condition(of: $0, underlay: underlay) }
    }

    private mutating func learnNeighbour(
        _ hop: NextHop, of route: Route, on index: InterfaceIndex, destination: IPAddress
    ) throws(NetlinkError) {
        guard route.type != .local, let link = view.table.links[index], !link.flags.contains(.noARP),
            !link.flags.contains(.loopback)
        else { return }
        let key = Neighbour.Key(interface: index, address: hop.gateway ?? destination)
        neighbours.insert(key)
        guard let deadline = try view.learn(key) else { return }
        lookAgain = min(lookAgain ?? deadline, deadline)
    }

    /// The metric is a property of the route, and only a lookup of the route tells it.
    private func withMetric(
        _ path: NetworkPath, to destination: IPAddress, interface: InterfaceIndex? = nil
    ) throws(NetlinkError) -> NetworkPath {
        guard path.interfaceIndex != nil, path.metric == nil else { return path }
        let question = RouteQuestion(
            destination, interface: interface, source: path.source.flatMap { $0.family == .ipv6 ? $0 : nil },
            mark: mark, matchesTable: true)
        guard case .route(let route) = try view.queries.routes([question])[0] else { return path }
        var result = path
        result.metric = route.metric
        return result
    }

    /// Where a tunnel does not tell its far end (WireGuard to all but root, tun): the link that would carry the packet
    /// if there were no tunnel, which is the one with the best route of those that are none. A guess, so it is shown
    /// and nothing is concluded from it.
    private func likelyUnderlay(of tunnel: InterfaceIndex, to destination: IPAddress) throws(NetlinkError) -> String? {
        let candidates = view.table.links.values.filter { link in
            guard link.index != tunnel, link.isUsable, !link.flags.contains(.loopback) else { return false }
            return ![.tunnel, .loopback].contains(view.condition(of: link.index).linkClass)
        }.sorted { $0.index < $1.index }
        let answers = try view.queries.routes(
            candidates.map { RouteQuestion(destination, interface: $0.index, matchesTable: true) })
        let routed = zip(candidates, answers).compactMap { link, answer -> (name: String, metric: UInt32)? in
            guard case .route(let route) = answer, RouteType.unicast == route.type else { return nil }
            return (link.name, route.metric ?? 0)
        }
        return routed.min { $0.metric < $1.metric }?.name
    }
}
