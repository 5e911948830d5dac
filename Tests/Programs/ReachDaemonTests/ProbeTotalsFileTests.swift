import ReachCore
import ReachProbe
import ReachTesting
import Testing

@testable import ReachDaemon

/// What probes have counted outlives the daemon.
@Suite struct ProbeTotalsFileTests {
    private static func moment(_ seconds: Int64) -> Instant {
        Instant(
            wall: Timestamp(nanosecondsSince1970: seconds * 1_000_000_000),
            boot: BootTime(nanoseconds: seconds * 1_000_000_000))
    }

    /// A record with an hour of results, whose durations rise to 99 ms.
    private static func record() throws -> ProbeRecord {
        let specification = ProbeSpecification(name: "shop", target: try ProbeTarget("tcp://192.0.2.1:22"))
        var record = ProbeRecord(specification, at: moment(0))
        for number in Int64(0)..<100 {
            var result = ProbeResult(
                number == 50 ? .fail(.timeout) : .ok, started: moment(number), duration: .milliseconds(number))
            result.phases[.connect] = .milliseconds(number)
            _ = record.add(result, at: moment(number * 36))
        }
        return record
    }

    @Test func `percentiles, counts, uptime and chart are the same after a restart`() throws {
        let directory = try TemporaryDirectory()
        let file = ProbeTotalsFile(stateDirectory: directory.path)
        #expect(file.read().isEmpty)
        let record = try Self.record()
        let key = ProbeTotals.Key(name: "shop", target: "tcp://192.0.2.1:22")
        try file.write([(key, record.totals(at: Self.moment(3600)))])
        let read = file.read()
        #expect(read == [key: record.totals(at: Self.moment(3600))])
        var next = ProbeRecord(record.specification, at: Self.moment(4000))
        next.restore(try #require(read[key]))
        let (before, after) = (
            record.report(at: Self.moment(3600), next: nil), next.report(at: Self.moment(4000), next: nil)
        )
        #expect(before.latency != nil && after.latency == before.latency)
        #expect(after.uptime == before.uptime && after.beats == before.beats)
        #expect(next.counts == record.counts && next.counts.ok == 99)
        // The state is what this run finds.
        #expect(after.state == .unknown)
    }

    @Test func `what is damaged, or of another probe, is left out`() throws {
        let directory = try TemporaryDirectory()
        let file = ProbeTotalsFile(stateDirectory: directory.path)
        let key = ProbeTotals.Key(name: "shop", target: "tcp://192.0.2.1:22")
        try file.write([(key, try Self.record().totals(at: Self.moment(3600)))])
        let line = try ChildProcess.run(["cat", file.path])
        for damaged in [
            String(line.dropLast(20)), "[]", "{\"v\":2}", line.replacing("\"counts\":[", with: "\"counts\":[1,"),
            line.replacing("\"latency\":[", with: "\"latency\":[-1,9999,"),
            line.replacing("\"beats\":[[", with: "\"beats\":[[\"loud\",1],["),
        ] {
            try directory.file("probes.jsonl", damaged + "\n" + line)
            #expect(file.read().keys.map(\.name) == ["shop"], "\(damaged.prefix(80))")
            try directory.file("probes.jsonl", damaged)
            #expect(file.read().isEmpty, "\(damaged.prefix(80))")
        }
    }
}
