/// The addresses that stand for the Internet. Lookups use them; packets go to them only where a diagnosis finds that
/// something fails, and no other page answers.
package enum ReferenceAddresses {
    /// Three of each family, run by different organisations in different parts of the address space: two root name
    /// servers, and an IPv4 resolver below 128.0.0.0, so that one half of a split default route (0.0.0.0/1) is not
    /// enough.
    package static let standard: [IPAddress] = [
        // a.root-servers.net, k.root-servers.net, dns.quad9.net
        IPAddress(ipv4: 0xc629_0004), IPAddress(ipv4: 0xc100_0e81), IPAddress(ipv4: 0x0909_0909),
        // a, k and m.root-servers.net
        IPAddress(ipv6: 0x2001_0503_ba3e_0000, 0x0000_0000_0002_0030),
        IPAddress(ipv6: 0x2001_07fd_0000_0000, 0x0000_0000_0000_0001),
        IPAddress(ipv6: 0x2001_0dc3_0000_0000, 0x0000_0000_0000_0035),
    ]
}

/// Determines the path to the Internet in one family from lookups of its reference addresses, the anchors.
///
/// It requests as few lookups as are needed to decide, because they are repeated with every change of a route.
package struct ReferenceAddressSurvey {
    /// The lookups of one round: the paths to some anchors, and the route that matches one anchor. Both are indices of
    /// ``anchors``.
    package struct Questions: Hashable {
        package var paths: Range<Int> = 0..<0
        package var matching: Int?

        package var count: Int { paths.count + (matching == nil ? 0 : 1) }
    }

    /// The result for one anchor.
    package struct Finding {
        package let anchor: IPAddress
        package let path: NetworkPath
        package let answer: RouteAnswer
        package let isDecisive: Bool
    }

    package let family: IPAddress.Family
    /// The anchors of the family, the most significant first.
    package let anchors: [IPAddress]
    private let expectsPath: Bool
    private var paths: [NetworkPath] = []
    private var reachedCount = 0
    private var answers: [RouteAnswer] = []
    private var matched: (place: Int, route: RouteAnswer)?

    /// - Parameters:
    ///   - anchors: The reference addresses, the most significant first; those of the other family are ignored.
    ///   - known: The previous path. If there was none, a default route may have appeared, so the first round queries
    ///     one path and its route. If there was one, it may be gone, so the first round queries as many paths as
    ///     decide.
    package init(_ family: IPAddress.Family, among anchors: [IPAddress], known: NetworkPath?) {
        self.family = family
        self.anchors = anchors.filter { $0.family == family }
        expectsPath = known?.status != .notReachable
    }

    /// The lookups of the next round; none once the result is decided.
    package var nextQuestions: Questions {
        guard !anchors.isEmpty else { return Questions() }
        if paths.isEmpty {
            return expectsPath ? Questions(paths: 0..<needed) : Questions(paths: 0..<1, matching: 0)
        }
        if !isReached, canBeReached {
            let enough = expectsPath ? needed - reachedCount : anchors.count - needed + 1 - failedCount
            return Questions(paths: paths.count..<min(paths.count + enough, anchors.count))
        }
        // Addresses that leave by different interfaces are rare, so only then the rest has to show which one most use.
        if isReached, isSplit, paths.count < anchors.count {
            return Questions(paths: paths.count..<anchors.count)
        }
        // The metric is a property of the route, so the route itself has to be queried.
        guard let decisive, matched?.place != decisive, paths[decisive].interfaceIndex != nil else {
            return Questions()
        }
        return Questions(matching: decisive)
    }

    /// The anchor whose path is recorded next; `nil` after the last.
    package var nextAnchor: IPAddress? { paths.count < anchors.count ? anchors[paths.count] : nil }

    /// Records the path to the next anchor, and the answer from which it follows.
    package mutating func record(_ path: NetworkPath, _ answer: RouteAnswer) {
        paths.append(path)
        answers.append(answer)
        if path.status == .reachable { reachedCount += 1 }
    }

    /// Records the path to the next anchor if it equals the previous anchor's, so that it need not be judged again.
    ///
    /// - Returns: Whether it was equal and recorded.
    package mutating func recordIfSameNextHop(_ answer: RouteAnswer) -> Bool {
        guard let last = answers.last, answer.hasSameNextHop(as: last), let path = paths.last else { return false }
        record(path, answer)
        return true
    }

    /// Records the route that matches an anchor.
    package mutating func record(matching route: RouteAnswer, at place: Int) { matched = (place, route) }

    /// The family's path to the Internet: that of the decisive anchor, with its route's metric.
    package var path: NetworkPath {
        guard let decisive else { return .notAsked }
        var path = paths[decisive]
        if let matched, matched.place == decisive, case .route(let route) = matched.route, path.interfaceIndex != nil {
            path.metric = route.metric
        }
        return path
    }

    /// The results for all anchors queried so far.
    package var findings: [Finding] {
        let decisive = decisive
        return paths.indices.map { index in
            Finding(
                anchor: anchors[index], path: index == decisive ? path : paths[index], answer: answers[index],
                isDecisive: index == decisive)
        }
    }

    private var needed: Int { Verdict.anchorsNeeded(of: anchors.count) }

    private var failedCount: Int { paths.count - reachedCount }

    /// Whether enough anchors have a path, or the first one has a path over a default route, which covers all.
    private var isReached: Bool {
        if reachedCount >= needed { return true }
        guard paths.first?.status == .reachable, let matched, matched.place == 0,
            case .route(let route) = matched.route
        else { return false }
        return route.destination.length == 0
    }

    private var canBeReached: Bool {
        anchors.count - paths.count + reachedCount >= needed && paths.count < anchors.count
    }

    /// Whether addresses with a path leave by different interfaces.
    private var isSplit: Bool {
        let first = paths.first { $0.status == .reachable }?.interfaceIndex
        return paths.contains { $0.status == .reachable && $0.interfaceIndex != first }
    }

    /// The first anchor whose path agrees with the result. Of paths that work, only those over the interface that most
    /// of them use count, since a single address may be routed elsewhere; if as many use another one, the first
    /// interface.
    private var decisive: Int? {
        let isReached = isReached
        guard isReached, isSplit else { return paths.firstIndex { ($0.status == .reachable) == isReached } }
        let reached = paths.indices.filter { paths[$0].status == .reachable }
        let users = { place in reached.count { paths[$0].interfaceIndex == paths[place].interfaceIndex } }
        let most = reached.map(users).max()
        return reached.first { users($0) == most }
    }
}
