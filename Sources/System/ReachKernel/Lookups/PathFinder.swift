internal import Glibc
package import ReachCore
internal import ReachLoop

/// Queries the kernel for the paths to a target, and judges the answers.
package struct PathFinder {
    let view: KernelView
    /// The firewall mark of the packets (`ip rule ... fwmark`).
    let mark: UInt32?
    /// What is sent to the host that is evaluated next; `nil` where that is not known.
    package var flow: PacketFlow?
    /// The neighbours on which the paths found so far depend.
    package private(set) var neighbours: Set<Neighbour.Key> = []
    /// Those of them that pass packets on.
    package private(set) var routers: Set<Neighbour.Key> = []
    /// The time of the next check of neighbours that have not answered yet; `nil` if there are none.
    package private(set) var nextNeighbourCheck: BootTime?
    /// The lookups on which the verdicts so far rest; empty unless they are recorded.
    package private(set) var findings: [PathFinding] = []
    private let recordsFindings: Bool
    /// Returns the addresses of the proxy that stands for the Internet where no default route leads to it.
    private let proxies: () -> [IPAddress]

    package init(
        view: KernelView, mark: UInt32? = nil, proxies: @escaping () -> [IPAddress] = { [] },
        recordsFindings: Bool = false
    ) {
        self.view = view
        self.mark = mark
        self.proxies = proxies
        self.recordsFindings = recordsFindings
        view.expectOtherRoutes()
    }

    /// The verdict on a target.
    ///
    /// - Returns: `nil` for a name, which the caller resolves first.
    package mutating func verdict(
        on subject: Target.Subject, anchors: [IPAddress]
    ) throws(NetlinkError) -> Verdict? {
        switch subject {
        case .internet: return try internet(anchors: anchors)
        case .interface(let name): return try interface(named: name)
        case .prefix(let prefix): return try anyOf([prefix.representative])
        case .address(let address, zone: nil): return try anyOf([address])
        case .address(let address, let zone?):
            guard let link = try view.link(named: zone) else { return Verdict(.notReachable, reason: .noInterface) }
            return try anyOf([address], interface: link.index)
        case .name: return nil
        }
    }

    /// The verdict on the Internet, which a few reference addresses stand for. A family reaches it when at least half
    /// of its reference addresses have a path: a host route to a single one proves nothing, nor does a missing one.
    /// Where neither does, the path to a proxy that is configured is the path to the Internet.
    ///
    /// - Parameters:
    ///   - family: The only family to evaluate, if the link of the other one's path in `known` is as it was.
    ///   - known: The last verdict; `nil` if there is none.
    package mutating func internet(
        anchors: [IPAddress], only family: IPAddress.Family? = nil, known: Verdict? = nil
    ) throws(NetlinkError) -> Verdict {
        // A proxy's path says nothing of the reference addresses.
        let known = known?.isByProxy == true ? nil : known
        var only: IPAddress.Family?
        // The other family's path may be in another network now, or over another tunnel.
        if let known, let family, try isAsBefore(family == .ipv4 ? known.ipv6 : known.ipv4) { only = family }
        var surveys: [ReferenceAddressSurvey] = []
        surveys.reserveCapacity(2)
        if only != .ipv6 { surveys.append(ReferenceAddressSurvey(.ipv4, among: anchors, known: known?.ipv4)) }
        if only != .ipv4 { surveys.append(ReferenceAddressSurvey(.ipv6, among: anchors, known: known?.ipv6)) }
        while try advance(&surveys) {}
        var ipv4 = known?.ipv4 ?? .notAsked
        var ipv6 = known?.ipv6 ?? .notAsked
        for survey in surveys {
            if recordsFindings { record(survey) }
            if survey.family == .ipv4 { ipv4 = survey.path } else { ipv6 = survey.path }
        }
        let verdict = Verdict(ipv4: ipv4, ipv6: ipv6)
        return verdict.status == .notReachable ? try byProxy() ?? verdict : verdict
    }

    /// Whether the link of a path is what it was when the path was found.
    private func isAsBefore(_ path: NetworkPath) throws(NetlinkError) -> Bool {
        guard let index = path.interfaceIndex else { return true }
        let condition = try view.condition(of: index)
        return path.traits == condition.traits && path.lower == condition.lower
    }

    /// The verdict on the Internet by a proxy; `nil` without a proxy that can be reached.
    private mutating func byProxy() throws(NetlinkError) -> Verdict? {
        let proxies = proxies()
        guard !proxies.isEmpty else { return nil }
        let verdict = try anyOf(proxies)
        return verdict.status == .reachable ? verdict.standing(forInternetBy: proxies) : nil
    }

    /// Makes the lookups that the surveys need next, all at once.
    ///
    /// - Returns: Whether there were any.
    private mutating func advance(_ surveys: inout [ReferenceAddressSurvey]) throws(NetlinkError) -> Bool {
        var questions: [RouteQuestion] = []
        questions.reserveCapacity(8)
        for index in surveys.indices {
            let wanted = surveys[index].nextQuestions
            for place in wanted.paths { questions.append(RouteQuestion(surveys[index].anchors[place], mark: mark)) }
            if let place = wanted.matching {
                questions.append(RouteQuestion(surveys[index].anchors[place], mark: mark, matchesTable: true))
            }
        }
        guard !questions.isEmpty else { return false }
        let answers = try lookUp(questions)
        var used = 0
        for index in surveys.indices {
            let wanted = surveys[index].nextQuestions
            for answer in answers[used..<used + wanted.paths.count] { try add(answer, to: &surveys[index]) }
            used += wanted.count
            if let place = wanted.matching { surveys[index].record(matching: answers[used - 1], at: place) }
        }
        return true
    }

    /// Adds an answer to a survey. Reference addresses mostly share their path, which is then judged only once.
    private mutating func add(_ answer: RouteAnswer, to survey: inout ReferenceAddressSurvey) throws(NetlinkError) {
        guard let anchor = survey.nextAnchor, !survey.recordIfSameNextHop(answer) else { return }
        survey.record(try judge(anchor, answer, isInternet: true), answer)
    }

    /// The verdict on a host with these addresses, of which one reachable address is enough.
    package mutating func anyOf(
        _ addresses: [IPAddress], interface: InterfaceIndex? = nil
    ) throws(NetlinkError) -> Verdict {
        let answers = try lookUp(addresses.map { RouteQuestion($0, interface: interface, mark: mark, flow: flow) })
        var found: [IPAddress.Family: NetworkPath] = [:]
        for (address, answer) in zip(addresses, answers) where found[address.family]?.status != .reachable {
            let path = try withMetric(judge(address, answer), to: address, interface: interface)
            let isDecisive = path.status == .reachable || found[address.family] == nil
            if isDecisive { found[address.family] = path }
            record(path, to: address, answer, isDecisive)
        }
        return Verdict(ipv4: found[.ipv4] ?? .notAsked, ipv6: found[.ipv6] ?? .notAsked)
    }

    /// The verdict on an interface of this machine: whether it can carry packets.
    package func interface(named name: String) throws(NetlinkError) -> Verdict {
        guard let link = try view.link(named: name) else { return Verdict(.notReachable, reason: .noInterface) }
        let judge = try judge(by: link.index)
        return Verdict(
            ipv4: judge.path(ofInterface: link.index, family: .ipv4),
            ipv6: judge.path(ofInterface: link.index, family: .ipv6))
    }

    /// Makes the lookups. Repeats one with a source where an IPv6 route may be for that source only, and one in the
    /// table for an IPv4 lookup with an interface, which otherwise always succeeds.
    func lookUp(_ unsourced: [RouteQuestion]) throws(NetlinkError) -> [RouteAnswer] {
        let questions = try view.addingSources(to: unsourced)
        var answers = try view.queries.routes(questions)
        // Where the kernel has no route for the source that it chooses for one address of the Internet, it has none for
        // the next one. It looks at the addresses of all links for that: a millisecond where there are thousands.
        var lacksSource = false
        for (index, question) in questions.enumerated() {
            let family = question.destination.family
            // The kernel does not repeat the source that it was asked with.
            if family == .ipv4, !question.matchesTable, case .route(var route) = answers[index], route.source == nil {
                route.source = question.source
                answers[index] = .route(route)
            }
            if family == .ipv4, question.interface != nil {
                var strict = question
                strict.matchesTable = true
                let answer = try view.queries.routes([strict])[0]
                if case .refused = answer { answers[index] = answer }
            } else if family == .ipv6, answers[index] == .refused(errno: LinuxError.networkUnreachable),
                view.mayHaveWideIPv6Address, !lacksSource || question.destination.scope <= .site
            {
                if let source = SourceFinder.source(for: question.destination), !source.isLinkLocal, !source.isLoopback
                {
                    var again = question
                    again.source = source
                    answers[index] = try view.queries.routes([again])[0]
                } else if question.destination.scope > .site {
                    lacksSource = true
                }
            }
        }
        return answers
    }

    mutating func judge(
        _ destination: IPAddress, _ answer: RouteAnswer, isInternet: Bool = false
    ) throws(NetlinkError) -> NetworkPath {
        guard case .route(let route) = answer, let hop = route.hops.first, let index = hop.interface else {
            if destination.isLoopback { try view.read(Self.loopback) }
            return judge(nil).path(to: destination, answer: answer, isInternet: isInternet)
        }
        try addNeighbour(hop, of: route, on: index, destination: destination)
        let judge = try judge(by: index)
        var isByDefault = isInternet
        if !isInternet, judge.dependsOnMatch(route, to: destination) {
            let question = RouteQuestion(
                destination, source: route.source, mark: mark, flow: flow, matchesTable: true)
            if case .route(let matched) = try view.queries.routes([question])[0] {
                isByDefault = matched.destination.length == 0
            }
        }
        let path = judge.path(to: destination, answer: answer, isInternet: isInternet, isByDefault: isByDefault)
        guard path.status != .reachable, hop.gateway != nil, let trouble = path.reason, trouble.isOfOneHop else {
            return path
        }
        return try otherHop(than: index, to: destination, isInternet: isInternet) ?? path
    }

    /// The path by another next hop of the route; `nil` if none works. Of those of a multipath route the kernel names
    /// one for each destination, and a connection that fails by it tries another.
    private mutating func otherHop(
        than broken: InterfaceIndex, to destination: IPAddress, isInternet: Bool
    ) throws(NetlinkError) -> NetworkPath? {
        let question = RouteQuestion(destination, mark: mark, flow: flow, matchesTable: true)
        let matched = try view.queries.routes([question])[0]
        guard case .route(let route) = matched, route.hops.count > 1 else { return nil }
        for hop in route.hops.prefix(Self.mostHops) {
            guard let index = hop.interface, index != broken else { continue }
            let bound = RouteQuestion(destination, interface: index, mark: mark, flow: flow)
            guard case .route(var answer) = try view.queries.routes([bound])[0] else { continue }
            answer.hops = [hop]
            try addNeighbour(hop, of: answer, on: index, destination: destination)
            let path = try judge(by: index).path(to: destination, answer: .route(answer), isInternet: isInternet)
            if path.status == .reachable { return path }
        }
        return nil
    }

    private static var mostHops: Int { 8 }
    /// The index of the loopback device in each network: the kernel's `LOOPBACK_IFINDEX`.
    private static var loopback: InterfaceIndex { 1 }

    private mutating func record(_ survey: ReferenceAddressSurvey) {
        for finding in survey.findings { record(finding.path, to: finding.anchor, finding.answer, finding.isDecisive) }
    }

    /// Records a lookup on which a verdict rests. A later decisive path of a family replaces an earlier one.
    private mutating func record(
        _ path: NetworkPath, to destination: IPAddress, _ answer: RouteAnswer, _ isDecisive: Bool
    ) {
        guard recordsFindings else { return }
        if isDecisive {
            for index in findings.indices where findings[index].destination.family == destination.family {
                findings[index].isDecisive = false
            }
        }
        findings.append(
            PathFinding(destination: destination, answer: answer, path: path, isDecisive: isDecisive))
    }

    private func judge(by index: InterfaceIndex) throws(NetlinkError) -> PathJudge {
        try view.read(index)
        return judge(view.table.links[index] == nil ? nil : try view.condition(of: index))
    }

    /// - Parameter condition: That of the only link that a path may leave by; `nil` if it leaves by none that is known.
    private func judge(_ condition: LinkCondition?) -> PathJudge {
        PathJudge(table: view.table) { _ in condition ?? LinkCondition(traits: PathTraits()) }
    }

    private mutating func addNeighbour(
        _ hop: NextHop, of route: Route, on index: InterfaceIndex, destination: IPAddress
    ) throws(NetlinkError) {
        try view.read(index)
        guard route.type != .local, let link = view.table.links[index], !link.flags.contains(.noARP),
            !link.flags.contains(.loopback)
        else { return }
        let key = Neighbour.Key(interface: index, address: hop.gateway ?? destination)
        neighbours.insert(key)
        if hop.gateway != nil { routers.insert(key) }
        guard let deadline = try view.ensureNeighbour(key) else { return }
        nextNeighbourCheck = min(nextNeighbourCheck ?? deadline, deadline)
    }

    /// Adds the metric, which only a lookup of the route itself returns.
    private func withMetric(
        _ path: NetworkPath, to destination: IPAddress, interface: InterfaceIndex? = nil
    ) throws(NetlinkError) -> NetworkPath {
        guard let question = metricQuestion(path, to: destination, interface: interface) else { return path }
        guard case .route(let route) = try view.queries.routes([question])[0] else { return path }
        var result = path
        result.metric = route.metric
        return result
    }

    /// The lookup that returns the metric of a path; `nil` if it is known, or if there is no path.
    func metricQuestion(
        _ path: NetworkPath, to destination: IPAddress, interface: InterfaceIndex? = nil
    ) -> RouteQuestion? {
        guard path.interfaceIndex != nil, path.metric == nil else { return nil }
        let asksSource = destination.family == .ipv6 || view.hasSourceRules
        return RouteQuestion(
            destination, interface: interface, source: asksSource ? path.source : nil, mark: mark, flow: flow,
            matchesTable: true)
    }
}

extension Reason {
    /// Whether it may concern only one next hop of several.
    fileprivate var isOfOneHop: Bool {
        [.noCarrier, .dormant, .linkDown, .gatewayUnreachable, .noAddress].contains(self)
    }
}

/// Finds the source address that the kernel would choose, by connecting a datagram socket, which sends no packet.
///
/// A lookup without a source does not find IPv6 routes that are for some sources only (networks of RFC 8475), although
/// connecting works. A lookup with the source found here does.
enum SourceFinder {
    static func source(for destination: IPAddress) -> IPAddress? {
        guard destination.family == .ipv6 else { return nil }
        let descriptor = socket(AF_INET6, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return nil }
        let owner = FileDescriptor(owning: descriptor)
        var address = sockaddr_in6()
        address.sin6_family = sa_family_t(AF_INET6)
        address.sin6_port = UInt16(9).bigEndian
        withUnsafeMutableBytes(of: &address.sin6_addr) { $0.copyBytes(from: destination.bytes) }
        var length = socklen_t(MemoryLayout<sockaddr_in6>.size)
        let isConnected = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                connect(owner.rawValue, generic, length) == 0 && getsockname(owner.rawValue, generic, &length) == 0
            }
        }
        guard isConnected else { return nil }
        return withUnsafeBytes(of: address.sin6_addr) { IPAddress(bytes: $0) }
    }
}

/// The verdicts on watched targets, by their kind.
extension PathFinder {
    /// - Returns: `nil` while the target's name is being resolved for the first time.
    mutating func verdict(
        for watch: WatchedTarget, internet: Verdict, anchors: [IPAddress]
    ) throws(NetlinkError) -> Verdict? {
        if watch.target == .internet, watch.condition == nil { return internet }
        flow = watch.target.flow
        defer { flow = nil }
        guard let chosen = try ownVerdict(for: watch, internet: internet, anchors) else { return nil }
        guard let condition = watch.condition else { return chosen }
        return try choose(
            chosen, on: watch.target.subject, internet: internet, names: watch.name.addresses, anchors: anchors,
            where: condition)
    }

    /// The verdict by the kernel's own choice of a path.
    private mutating func ownVerdict(
        for watch: WatchedTarget, internet: Verdict, _ anchors: [IPAddress]
    ) throws(NetlinkError) -> Verdict? {
        switch watch.target.subject {
        case .internet: return internet
        case .name:
            if !watch.name.addresses.isEmpty { return try anyOf(watch.name.addresses) }
            switch watch.name.answer {
            case .noAddress: return Verdict(.notReachable, reason: .nameNotResolved)
            case .notAsked, .addresses: return Verdict(.unknown, reason: .nameNotResolved)
            case nil: return nil
            }
        case let subject: return try verdict(on: subject, anchors: anchors)
        }
    }
}
