import ReachControl
import ReachCore
import ReachRecords
import Testing

@testable import reach

/// What a report takes from the journal.
@Suite struct JournalFiguresTests {
    private static func moment(_ second: Int) -> Instant { ExampleReport.moment(second) }

    /// A probe each second, with these events: `o` an answer, `f` a failure, `p` a pause, `P` a pause while it is down.
    private static func series(_ events: String) throws -> ProbeSeries {
        var figures = JournalFigures(HistoryClock([], now: moment(1000), boot: "boot"))
        for (second, event) in events.utf8.enumerated() {
            let isDown = event == UInt8(ascii: "P")
            var report = ProbeReport(
                name: "shop", target: "https://shop.example/", state: isDown ? .down : .up,
                since: moment(0).wall, interval: .seconds(1))
            let fails = event == UInt8(ascii: "f")
            report.last = ProbeResult(
                fails ? .fail(.timeout) : .ok, started: moment(second), duration: .milliseconds(1))
            let isPause = isDown || event == UInt8(ascii: "p")
            if isPause { report.pause = .notValidated }
            let event = ProbeEvent(isPause ? .paused : .result, at: moment(second), report: report)
            let bytes = JournalLine.event(
                JournalEvents.encode(.probe(event), boot: "boot"), log: String(repeating: "a", count: 32),
                number: Int64(second) + 1)
            figures.add(try JournalRecord(reading: try JSONReader.read(bytes)))
        }
        return try #require(figures.series(from: moment(0).wall, to: moment(1000).wall).first)
    }

    @Test(
        arguments: [
            ("oofo", 1), ("ooffp", 0), ("offo", 2), ("offop", 2), ("ofoffpffpo", 1), ("offP", 2), ("offpofo", 1),
        ])
    func `what failed just before a pause for want of a path is no loss of the target's`(
        events: String, lost: Int
    ) throws {
        let series = try Self.series(events)
        #expect(series.whole.failed == lost)
        #expect(series.whole.ok == events.utf8.filter { $0 == UInt8(ascii: "o") }.count)
    }
}
