import ReachControl
import ReachCore
import Testing

@Suite struct ProbeJSONTests {
    private func read(_ write: (inout JSONWriter) -> Void) throws -> JSONValue {
        var json = JSONWriter()
        write(&json)
        return try JSONReader.read(json.bytes)
    }

    @Test func `a written result is read as the same`() throws {
        let json = try read { $0.probeResult(ProbeSample.result, of: "https://example.net/", named: nil) }
        #expect(try ProbeResult(reading: json) == ProbeSample.result)
        #expect(json["certificate_days"]?.integer == 9)
        for outcome in ProbeFailure.allCases.map(ProbeResult.Outcome.fail)
            + ProbeDoubt.allCases.map(ProbeResult.Outcome.inconclusive) + [.ok]
        {
            let result = ProbeResult(outcome, started: ProbeSample.moment, duration: .zero)
            #expect(try ProbeResult(reading: try read { $0.probeResult(result, of: "", named: "x") }) == result)
        }
    }

    @Test func `a written probe report is read as the same`() throws {
        let json = try read { $0.probeReport(ProbeSample.report, at: ProbeSample.moment, hasBeats: true) }
        #expect(try ProbeReport(reading: json) == ProbeSample.report)
        let fresh = ProbeReport(
            name: "x", target: "y", state: .unknown, since: ProbeSample.moment.wall, interval: .zero)
        #expect(
            try ProbeReport(reading: try read { $0.probeReport(fresh, at: ProbeSample.moment, hasBeats: true) })
                == fresh)
    }

    @Test func `an event contains the probe without its chart`() throws {
        var stream = EventStream(source: .daemon)
        let line = stream.line(.probe(ProbeEvent(.down, at: ProbeSample.moment, report: ProbeSample.report)))
        let json = try JSONReader.read(line)
        #expect(json["type"]?.string == "probe")
        #expect(json["event"]?.string == "down")
        #expect(json["seq"]?.integer == 1)
        #expect(json["probe"]?["beats"] == nil)
        #expect(json["probe"]?["state"]?.string == "down")
    }
}
