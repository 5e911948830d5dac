import ReachCore
import ReachRecords
import ReachTesting
import Testing

/// How much of a period a target was up.
@Suite struct TimeShareTests {
    private var script = HistoryScript()

    private static let row: [(TimeShare, TimeShare.Level)] = [
        (TimeShare(), .none), (TimeShare(notObserved: 1), .notObserved), (TimeShare(unknown: 1), .unknown),
        (TimeShare(unknown: 2, notObserved: 1), .unknown), (TimeShare(unknown: 1, notObserved: 1), .notObserved),
        (TimeShare(up: 1, notObserved: 99), .up), (TimeShare(up: 98.1, down: 1.9), .briefly),
        (TimeShare(up: 98, down: 2), .partly), (TimeShare(up: 75.1, down: 24.9), .partly),
        (TimeShare(up: 75, down: 25), .mostly), (TimeShare(up: 1, down: 99), .mostly),
        (TimeShare(up: 0.0005, down: 0.9995), .down), (TimeShare(down: 1, unknown: 9), .down),
    ]

    @Test(arguments: row) func `the share of the known time that was down decides`(
        share: TimeShare, level: TimeShare.Level
    ) { #expect(share.level == level) }

    @Test func `each part of two shares is added`() {
        let sum =
            TimeShare(up: 1, down: 2, unknown: 3, notObserved: 4)
            + TimeShare(up: 10, down: 20, unknown: 30, notObserved: 40)
        #expect(sum == TimeShare(up: 11, down: 22, unknown: 33, notObserved: 44))
        #expect(sum.downShare == 22.0 / 33 && TimeShare(unknown: 1).downShare == nil)
        for share in [TimeShare(up: 1), TimeShare(down: 1), TimeShare(unknown: 1), TimeShare(notObserved: 1)] {
            #expect(!share.isEmpty)
        }
    }

    @Test mutating func `what spans say is cut at the edges of each period`() {
        script.add(.reachable, at: 10)
        script.add(.notReachable, at: 20)
        script.add(.unknown, at: 40)
        script.add(.stopped, at: 50)
        let edges = [0, 10, 15, 30, 45, 60, 100].map { Int64($0) * 1_000_000_000 }
        let shares = script.timeline(now: 60, isRunning: false).shares(between: edges)
        #expect(
            shares == [
                TimeShare(), TimeShare(up: 5), TimeShare(up: 5, down: 10), TimeShare(down: 10, unknown: 5),
                TimeShare(unknown: 5, notObserved: 10), TimeShare(),
            ])
    }
}
