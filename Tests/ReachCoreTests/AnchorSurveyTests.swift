internal import ReachCore
internal import Testing

/// Three anchors of one family, some of which have a path.
@Suite struct AnchorSurveyTests {
    private let anchors: [IPAddress] = [
        IPAddress(ipv4: 0xc000_0201), IPAddress(ipv4: 0xc633_6401), IPAddress(ipv4: 0xcb00_7101),
    ]

    private func path(_ isReachable: Bool) -> NetworkPath {
        var path = NetworkPath(status: isReachable ? .reachable : .notReachable, reason: isReachable ? nil : .noRoute)
        if isReachable { path.interfaceIndex = 2 }
        return path
    }

    /// Answers what the survey asks, and counts how much it asked.
    private func survey(
        _ reachable: [Bool], matching length: Int = 24, known: NetworkPath?
    ) throws -> (path: NetworkPath, asked: Int, rounds: Int) {
        var survey = AnchorSurvey(.ipv4, among: anchors + [IPAddress(ipv6: 1, 1)], known: known)
        var (asked, rounds) = (0, 0)
        while case let questions = survey.nextQuestions, questions.anchors.count + questions.matching.count > 0 {
            rounds += 1
            asked += questions.anchors.count + questions.matching.count
            let found = questions.anchors.map { path(reachable[anchors.firstIndex(of: $0) ?? 0]) }
            let matched = try questions.matching.map { anchor -> RouteAnswer in
                guard reachable[anchors.firstIndex(of: anchor) ?? 0] else { return .refused(errno: 101) }
                var route = Route(destination: try #require(IPPrefix(anchor, length: length)))
                route.metric = 7
                return .route(route)
            }
            let answers = found.map { _ in RouteAnswer.refused(errno: 0) }
            survey.take(found, answers, matched: matched, for: questions)
        }
        return (survey.path, asked, rounds)
    }

    @Test(arguments: [
        ([true, true, true], true), ([true, true, false], true), ([true, false, true], true),
        ([false, true, true], true), ([true, false, false], false), ([false, true, false], false),
        ([false, false, true], false), ([false, false, false], false),
    ])
    func `most anchors decide, whatever was known before`(reachable: [Bool], isReached: Bool) throws {
        for known in [nil, path(true), path(false)] {
            let result = try survey(reachable, known: known)
            #expect(result.path.status == (isReached ? .reachable : .notReachable))
            if isReached { #expect(result.path.metric == 7) }
            #expect(result.asked <= 5)
        }
    }

    @Test func `a default route that comes takes two questions, and so does one that goes`() throws {
        let come = try survey([true, true, true], matching: 0, known: path(false))
        #expect(come.path.status == .reachable && come.asked == 2 && come.rounds == 1)
        let gone = try survey([false, false, false], known: path(true))
        #expect(gone.path.status == .notReachable && gone.asked == 2 && gone.rounds == 1)
    }

    @Test func `without an anchor of the family nothing is asked`() {
        let survey = AnchorSurvey(.ipv6, among: anchors, known: nil)
        #expect(survey.nextQuestions == AnchorSurvey.Questions(anchors: []))
        #expect(survey.path == .notAsked)
    }
}
