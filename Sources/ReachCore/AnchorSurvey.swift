/// Which anchors of one family to ask about, and what their answers amount to: as few questions as it takes, since they
/// are asked with every change of a route.
package struct AnchorSurvey {
    /// Lookups for one go: the ways to some anchors, and the routes that match some.
    package struct Questions: Hashable {
        package var anchors: [IPAddress]
        package var matching: [IPAddress] = []

        package init(anchors: [IPAddress], matching: [IPAddress] = []) {
            self.anchors = anchors
            self.matching = matching
        }
    }

    /// What was found of one anchor.
    package struct Finding {
        package let anchor: IPAddress
        package let path: NetworkPath
        package let answer: RouteAnswer
        package let isTelling: Bool
    }

    package let family: IPAddress.Family
    private let anchors: [IPAddress]
    private let expectsPath: Bool
    private var paths: [NetworkPath] = []
    private var answers: [RouteAnswer] = []
    private var matched: [IPAddress: RouteAnswer] = [:]

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
        guard let first = anchors.first else { return Questions(anchors: []) }
        if paths.isEmpty {
            return expectsPath
                ? Questions(anchors: Array(anchors.prefix(needed))) : Questions(anchors: [first], matching: [first])
        }
        if !isReached, canBeReached {
            let enough = expectsPath ? needed - reachedCount : anchors.count - needed + 1 - failedCount
            return Questions(anchors: Array(anchors.dropFirst(paths.count).prefix(enough)))
        }
        // The metric is a property of the route, and only the route tells it.
        guard let telling, matched[anchors[telling]] == nil, paths[telling].interfaceIndex != nil else {
            return Questions(anchors: [])
        }
        return Questions(anchors: [], matching: [anchors[telling]])
    }

    /// Takes the paths and routes found, in the order of the questions, with the answers they rest on.
    package mutating func take(
        _ found: [NetworkPath], _ given: [RouteAnswer], matched routes: [RouteAnswer],
        for questions: Questions
    ) {
        paths += found
        answers += given
        for (anchor, route) in zip(questions.matching, routes) { matched[anchor] = route }
    }

    /// The path that stands for all; with its metric.
    package var path: NetworkPath {
        guard let telling else { return .notAsked }
        var path = paths[telling]
        if case .route(let route)? = matched[anchors[telling]], path.interfaceIndex != nil {
            path.metric = route.metric
        }
        return path
    }

    package var findings: [Finding] {
        paths.indices.map { index in
            Finding(
                anchor: anchors[index], path: index == telling ? path : paths[index], answer: answers[index],
                isTelling: index == telling)
        }
    }

    private var needed: Int { Verdict.anchorsNeeded(of: anchors.count) }

    private var reachedCount: Int { paths.count { $0.status == .reachable } }
    private var failedCount: Int { paths.count - reachedCount }

    /// Enough anchors have a path; or the first has, and it is the default route, which is meant for all.
    private var isReached: Bool {
        if reachedCount >= needed { return true }
        guard paths.first?.status == .reachable, case .route(let route)? = matched[anchors[0]] else { return false }
        return route.destination.length == 0
    }

    private var canBeReached: Bool {
        anchors.count - paths.count + reachedCount >= needed && paths.count < anchors.count
    }

    private var telling: Int? { paths.firstIndex { ($0.status == .reachable) == isReached } }
}
