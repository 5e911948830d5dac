import ReachControl
import ReachCore
import Testing

@Suite struct ProbeJSONTests {
    static let moment = Instant(
        wall: Timestamp(nanosecondsSince1970: 1_800_000_000_123_456_000), boot: BootTime(nanoseconds: 93_600))

    static var result: ProbeResult {
        var result = ProbeResult(
            .fail(.status), detail: "HTTP 503, expected 2xx", started: moment, duration: .microseconds(12_345))
        result.phases = ProbePhases([.resolve: .microseconds(100), .connect: .microseconds(200), .processing: .zero])
        result.address = IPAddress("2001:db8::1")
        result.interface = "eth0"
        result.httpStatus = 503
        result.certificateEnd = Timestamp(nanosecondsSince1970: 1_800_864_000_000_000_000)
        return result
    }

    static var report: ProbeReport {
        var report = ProbeReport(
            name: "web", target: "https://example.net/", state: .down, since: moment.wall, interval: .seconds(30))
        report.pause = .linkClass
        report.next = moment.wall
        report.last = result
        report.uptime.ok = .seconds(3)
        report.uptime.fail = .seconds(1)
        report.uptime.paused = .milliseconds(7)
        report.uptime.inconclusive = .milliseconds(8)
        report.latency = ProbeLatency(
            count: 9, median: .microseconds(1), percentile90: .microseconds(2), percentile99: .microseconds(3))
        report.beats = [
            .init(.ok, microseconds: 5), .init(.fail, microseconds: .max), .init(.inconclusive), .init(.paused),
        ]
        return report
    }

    private func read(_ write: (inout JSONWriter) -> Void) throws -> JSONValue {
        var json = JSONWriter()
        write(&json)
        return try JSONReader.read(json.bytes)
    }

    @Test func `a written result is read as the same`() throws {
        let json = try read { $0.probeResult(Self.result, of: "https://example.net/", named: nil) }
        #expect(try ProbeResult(reading: json) == Self.result)
        #expect(json["certificate_days"]?.integer == 9)
        for outcome in ProbeFailure.allCases.map(ProbeResult.Outcome.fail)
            + ProbeDoubt.allCases.map(ProbeResult.Outcome.inconclusive) + [.ok]
        {
            let result = ProbeResult(outcome, started: Self.moment, duration: .zero)
            #expect(try ProbeResult(reading: try read { $0.probeResult(result, of: "", named: "x") }) == result)
        }
    }

    @Test func `a written probe report is read as the same`() throws {
        let json = try read { $0.probeReport(Self.report, at: Self.moment, hasBeats: true) }
        #expect(try ProbeReport(reading: json) == Self.report)
        let fresh = ProbeReport(name: "x", target: "y", state: .unknown, since: Self.moment.wall, interval: .zero)
        #expect(try ProbeReport(reading: try read { $0.probeReport(fresh, at: Self.moment, hasBeats: true) }) == fresh)
    }

    @Test func `an event contains the probe without its chart`() throws {
        var stream = EventStream(source: .daemon)
        let line = stream.line(.probe(ProbeEvent(.down, at: Self.moment, report: Self.report)))
        let json = try JSONReader.read(line)
        #expect(json["type"]?.string == "probe")
        #expect(json["event"]?.string == "down")
        #expect(json["seq"]?.integer == 1)
        #expect(json["probe"]?["beats"] == nil)
        #expect(json["probe"]?["state"]?.string == "down")
    }
}
