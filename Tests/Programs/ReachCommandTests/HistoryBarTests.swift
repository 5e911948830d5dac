import ReachCore
import ReachRecords
import ReachTesting
import Testing

@testable import reach

@Suite struct HistoryBarTests {
    private var script = HistoryScript()

    private func bar(width: Int, since: Int, now: Int) -> String {
        HistoryBar(script.timeline(since: since, now: now), width: width).cells.map { cell in
            switch cell {
            case .up: "#"
            case .partlyDown: "+"
            case .down: "_"
            case .unknown: "?"
            case .notObserved: "."
            }
        }.joined()
    }

    @Test mutating func `each cell represents an equal time`() {
        script.add(.reachable, at: 20)
        script.add(.notReachable, at: 40)
        script.add(.unknown, at: 70)
        #expect(bar(width: 10, since: 100, now: 100) == "..##___???")
        #expect(bar(width: 5, since: 100, now: 100) == ".#__?")
    }

    @Test mutating func `the shortest outage shows, and the larger share of a cell decides otherwise`() {
        script.add(.reachable, at: 0)
        script.add(.notReachable, at: 55)
        script.add(.reachable, at: 56)
        script.add(.unknown, at: 74)
        script.add(.reachable, at: 77)
        script.add(.stopped, at: 84)
        #expect(bar(width: 10, since: 100, now: 100) == "#####+##..")
    }

    @Test mutating func `no width gives no cells, no time unobserved ones, and one cell covers everything`() {
        script.add(.notReachable, at: 10)
        script.add(.reachable, at: 20)
        #expect(bar(width: 0, since: 100, now: 100) == "")
        #expect(bar(width: -1, since: 100, now: 100) == "")
        #expect(bar(width: 3, since: 0, now: 100) == "...")
        #expect(bar(width: 1, since: 100, now: 100) == "+")
    }

    @Test mutating func `a hundred years do not overflow`() {
        script.add(.reachable, at: 0)
        #expect(bar(width: 4, since: 3_000_000_000, now: 3_000_000_000) == "####")
    }

    @Test(arguments: 0..<50)
    func `in any history the bar hides no outage`(seed: UInt64) {
        let timeline = HistoryScript.randomTimeline(seed: seed)
        let cells = HistoryBar(timeline, width: 60).cells
        #expect(cells.count == 60)
        #expect(cells.contains { $0 == .down || $0 == .partlyDown } == (HistorySummary(timeline).down > .zero))
    }
}
