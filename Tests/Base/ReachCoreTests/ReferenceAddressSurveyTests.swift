internal import ReachCore
internal import Testing

/// Surveys of three anchors of one family, some of which have a path.
@Suite struct ReferenceAddressSurveyTests {
    private let anchors: [IPAddress] = [
        IPAddress(ipv4: 0xc000_0201), IPAddress(ipv4: 0xc633_6401), IPAddress(ipv4: 0xcb00_7101),
    ]

    private func path(_ isReachable: Bool) -> NetworkPath {
        var path = NetworkPath(status: isReachable ? .reachable : .notReachable, reason: isReachable ? nil : .noRoute)
        if isReachable { path.interfaceIndex = 2 }
        return path
    }

    /// Answers the survey's questions, and counts questions and rounds.
    private func survey(
        _ reachable: [Bool], matching length: Int = 24, known: NetworkPath?
    ) throws -> (path: NetworkPath, asked: Int, rounds: Int) {
        var survey = ReferenceAddressSurvey(.ipv4, among: anchors + [IPAddress(ipv6: 1, 1)], known: known)
        var (asked, rounds) = (0, 0)
        while case let questions = survey.nextQuestions, questions.count > 0 {
            rounds += 1
            asked += questions.count
            for place in questions.paths { survey.record(path(reachable[place]), .refused(errno: Int32(place))) }
            guard let place = questions.matching else { continue }
            var route = Route(destination: try #require(IPPrefix(anchors[place], length: length)))
            route.metric = 7
            survey.record(matching: reachable[place] ? .route(route) : .refused(errno: 101), at: place)
        }
        return (survey.path, asked, rounds)
    }

    @Test(arguments: [
        ([true, true, true], true), ([true, true, false], true), ([true, false, true], true),
        ([false, true, true], true), ([true, false, false], false), ([false, true, false], false),
        ([false, false, true], false), ([false, false, false], false),
    ])
    func `the majority of anchors decides, whatever was known before`(reachable: [Bool], isReached: Bool) throws {
        for known in [nil, path(true), path(false)] {
            let result = try survey(reachable, known: known)
            #expect(result.path.status == (isReached ? .reachable : .notReachable))
            if isReached { #expect(result.path.metric == 7) }
            #expect(result.asked <= 5)
        }
    }

    @Test func `a default route that appears or disappears takes two lookups`() throws {
        let come = try survey([true, true, true], matching: 0, known: path(false))
        #expect(come.path.status == .reachable && come.asked == 2 && come.rounds == 1)
        let gone = try survey([false, false, false], known: path(true))
        #expect(gone.path.status == .notReachable && gone.asked == 2 && gone.rounds == 1)
    }

    @Test func `without an anchor of the family nothing is queried`() {
        let survey = ReferenceAddressSurvey(.ipv6, among: anchors, known: nil)
        #expect(survey.nextQuestions.count == 0)
        #expect(survey.path == .notAsked)
    }

    /// The survey of anchors whose paths leave by these interfaces.
    private func survey(by interfaces: [InterfaceIndex]) -> (interface: InterfaceIndex?, asked: Int) {
        var survey = ReferenceAddressSurvey(.ipv4, among: anchors, known: nil)
        var asked = 0
        while case let questions = survey.nextQuestions, questions.count > 0 {
            asked += questions.paths.count
            for place in questions.paths {
                var path = path(true)
                path.interfaceIndex = interfaces[place]
                survey.record(path, .refused(errno: Int32(place)))
            }
            if let place = questions.matching { survey.record(matching: .refused(errno: 101), at: place) }
        }
        return (survey.path.interfaceIndex, asked)
    }

    @Test(
        arguments: [
            ([2, 2, 3], 2, 2), ([3, 2, 2], 2, 3), ([2, 3, 2], 2, 3), ([4, 3, 2], 4, 3),
        ] as [([InterfaceIndex], InterfaceIndex, Int)])
    func `an anchor that is routed elsewhere does not determine the interface`(
        interfaces: [InterfaceIndex], chosen: InterfaceIndex, asked: Int
    ) {
        let result = survey(by: interfaces)
        #expect(result.interface == chosen)
        #expect(result.asked == asked)
    }
}
