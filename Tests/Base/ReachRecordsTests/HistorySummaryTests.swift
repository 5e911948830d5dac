import ReachCore
import ReachRecords
import ReachTesting
import Testing

@Suite struct HistorySummaryTests {
    private var script = HistoryScript()

    private func summary(since: Int? = nil, now: Int, isRunning: Bool = true) -> HistorySummary {
        HistorySummary(script.timeline(since: since, now: now, isRunning: isRunning))
    }

    @Test mutating func `times add up, and uptime is the share of the known time`() {
        script.add(.reachable, at: 0)
        script.add(.notReachable, at: 600)
        script.add(.unknown, at: 700)
        script.add(.reachable, at: 750)
        script.add(.stopped, at: 800)
        let summary = summary(now: 1000)
        #expect(summary.up == .seconds(650))
        #expect(summary.down == .seconds(100))
        #expect(summary.unknown == .seconds(50))
        #expect(summary.notObserved == .seconds(200))
        #expect(summary.uptime == 650.0 / 750.0)
        #expect(!summary.isDown)
    }

    @Test mutating func `outages are counted from loss to return, and short ones are flaps`() {
        script.add(.reachable, at: 0)
        for (down, up) in [(100, 159), (200, 260), (300, 301)] {
            script.add(.notReachable, at: down)
            script.add(.reachable, at: up)
        }
        let summary = summary(now: 1000)
        #expect(summary.outages.map(\.duration) == [.seconds(59), .seconds(60), .seconds(1)])
        #expect(summary.longestOutage == .seconds(60))
        #expect(summary.flaps == 2)
    }

    @Test mutating func `a current outage is no flap, however short`() {
        script.add(.reachable, at: 0)
        script.add(.notReachable, at: 100)
        #expect(summary(now: 110).flaps == 0)
        #expect(summary(now: 110).isDown)
        #expect(summary(now: 110).outages.map(\.duration) == [.seconds(10)])
    }

    @Test mutating func `an outage without an observed end is one outage, and unobserved time does not count`() {
        script.add(.notReachable, at: 0)
        script.add(.unknown, at: 100)
        script.add(.notReachable, at: 200)
        script.add(.stopped, at: 300)
        script.add(.started(lastSeen: nil), at: 400)
        script.add(.notReachable, at: 400)
        script.add(.reachable, at: 450)
        #expect(summary(now: 500).outages.map(\.duration) == [.seconds(250)])
    }

    @Test mutating func `without known time there is no uptime`() {
        #expect(summary(since: 100, now: 500).uptime == nil)
        #expect(summary(since: 100, now: 500).notObserved == .seconds(100))
        #expect(summary(since: 100, now: 500).longestOutage == nil)
        script.add(.notReachable, at: 450)
        #expect(summary(since: 100, now: 500).uptime == 0)
    }

    @Test(arguments: 0..<50)
    func `in any history the parts add up to the whole`(seed: UInt64) {
        let timeline = HistoryScript.randomTimeline(seed: seed)
        let summary = HistorySummary(timeline)
        let whole = Duration.nanoseconds(timeline.to.nanosecondsSince1970 - timeline.from.nanosecondsSince1970)
        #expect(summary.up + summary.down + summary.unknown + summary.notObserved == whole)
        #expect(summary.outages.map(\.duration).reduce(.zero, +) == summary.down)
        for (span, next) in zip(timeline.spans, timeline.spans.dropFirst()) {
            #expect(span.to == next.from)
            #expect(span.observation != next.observation)
        }
    }
}
