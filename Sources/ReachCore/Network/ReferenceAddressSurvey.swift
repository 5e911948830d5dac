/// Which anchors of one family to ask about, and what their answers amount to: as few questions as it takes, since they
/// are asked with every change of a route.
package struct ReferenceAddressSurvey {
    /// Lookups for one go: the ways to some anchors, and the route that matches one. Both are places among
    /// ``anchors``.
    package struct Questions: Hashable {
        package var ways: Range<Int> = 0..<0
        package var matching: Int?

        package var count: Int { ways.count + (matching == nil ? 0 : 1) }
    }

    /// What was found of one anchor.
    package struct Finding {
        package let anchor: IPAddress
        package let path: NetworkPath
        package let answer: RouteAnswer
        package let isTelling: Bool
    }

    package let family: IPAddress.Family
    /// Those of the family that count, the most telling first.
    package let anchors: [IPAddress]
    private let expectsPath: Bool
    private var paths: [NetworkPath] = []
    private var reachedCount = 0
    private var answers: [RouteAnswer] = []
    private var matched: (place: Int, route: RouteAnswer)?

    /// - Parameters:
    ///   - anchors: Those of the family count, the most telling first.
    ///   - known: What held last. Where there was no path, a default route may have come, and the route is asked for
    ///     with the way; where there was one, it may be gone, and two ways are asked for.
    package init(_ family: IPAddress.Family, among anchors: [IPAddress], known: NetworkPath?) {
        self.family = family
        self.anchors = anchors.filter { $0.family == family }
        expectsPath = known?.status != .notReachable
    }

    /// What to ask next: nothing when it is decided.
    package var nextQuestions: Questions {
        guard !anchors.isEmpty else { return Questions() }
        if paths.isEmpty {
            return expectsPath ? Questions(ways: 0..<needed) : Questions(ways: 0..<1, matching: 0)
        }
        if !isReached, canBeReached {
            let enough = expectsPath ? needed - reachedCount : anchors.count - needed + 1 - failedCount
            return Questions(ways: paths.count..<min(paths.count + enough, anchors.count))
        }
        // The metric is a property of the route, and only the route tells it.
        guard let telling, matched?.place != telling, paths[telling].interfaceIndex != nil else { return Questions() }
        return Questions(matching: telling)
    }

    /// The one whose path is to be taken next; `nil` after the last.
    package var nextAnchor: IPAddress? { paths.count < anchors.count ? anchors[paths.count] : nil }

    /// Takes the path to the next anchor, and the answer it rests on.
    package mutating func take(_ path: NetworkPath, _ answer: RouteAnswer) {
        paths.append(path)
        answers.append(answer)
        if path.status == .reachable { reachedCount += 1 }
    }

    /// Takes the path to the next anchor, if it is the same as to the one before it: then it need not be judged again.
    ///
    /// - Returns: Whether it is.
    package mutating func takeSame(_ answer: RouteAnswer) -> Bool {
        guard let last = answers.last, answer.leadsTheSameWay(as: last), let path = paths.last else { return false }
        take(path, answer)
        return true
    }

    /// Takes the route that matches an anchor.
    package mutating func take(matching route: RouteAnswer, at place: Int) { matched = (place, route) }

    /// The path that stands for all; with its metric.
    package var path: NetworkPath {
        guard let telling else { return .notAsked }
        var path = paths[telling]
        if let matched, matched.place == telling, case .route(let route) = matched.route, path.interfaceIndex != nil {
            path.metric = route.metric
        }
        return path
    }

    package var findings: [Finding] {
        let telling = telling
        return paths.indices.map { index in
            Finding(
                anchor: anchors[index], path: index == telling ? path : paths[index], answer: answers[index],
                isTelling: index == telling)
        }
    }

    private var needed: Int { Verdict.anchorsNeeded(of: anchors.count) }

    private var failedCount: Int { paths.count - reachedCount }

    /// Enough anchors have a path; or the first has, and it is the default route, which is meant for all.
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

    private var telling: Int? {
        let isReached = isReached
        return paths.firstIndex { ($0.status == .reachable) == isReached }
    }
}
