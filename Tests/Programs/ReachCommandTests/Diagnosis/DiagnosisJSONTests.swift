import ReachControl
import ReachCore
import ReachRecords
import Testing

struct DiagnosisJSONTests {
    private static let start = Instant(
        wall: Timestamp(nanosecondsSince1970: 1_700_000_000_000_000_000), boot: BootTime(nanoseconds: 1000))

    private func written(_ diagnosis: Diagnosis) -> [UInt8] {
        var json = JSONWriter()
        json.diagnosis(diagnosis, started: Self.start, duration: .milliseconds(12))
        return json.bytes
    }

    @Test(arguments: [Diagnosis.Blame(.provider, .internet, .mtu, "large packets vanish"), nil])
    func `a diagnosis is read as it was written`(blame: Diagnosis.Blame?) throws {
        let diagnosis = Diagnosis(
            target: "https://www.example.net/", outcome: blame == nil ? .ok : .failed, blame: blame,
            steps: [
                .init(.link, .good, "up0 is up."), .init(.connect, .bad, "Nothing.", duration: .microseconds(7)),
            ])
        #expect(try Diagnosis(reading: try JSONReader.read(written(diagnosis))) == diagnosis)
    }

    @Test func `what remains, the facts and the line are read as they were written`() throws {
        let blame = Diagnosis.Blame(
            .undecided, .internet, .internet, "one or the other", between: [.provider, .server])
        let facts = [
            Diagnosis.Fact(
                "host-silent", "Nothing comes.", weight: 2, speaksFor: ["provider/dark"],
                speaksAgainst: ["server/filtered"])
        ]
        let quality = Diagnosis.Quality(
            LineQuality(.lossy, lossPermille: 52, roundTrip: .milliseconds(31), jitter: nil, packets: 360),
            stretch: "between this machine and 192.0.2.1")
        let diagnosis = Diagnosis(
            target: "x", outcome: .failed, blame: blame, steps: [], facts: facts, quality: quality)
        #expect(try Diagnosis(reading: try JSONReader.read(written(diagnosis))) == diagnosis)
    }

    @Test func `words of a later version are read as the weakest`() throws {
        let text = """
            {"target":"x","outcome":"marvellous","party":"the-moon","layer":"link","subject":"link","text":"a","steps":
            [{"subject":"aether","finding":"odd","text":"b","duration_us":null}]}
            """
        let diagnosis = try Diagnosis(reading: try JSONReader.read(Array(text.utf8)))
        #expect(diagnosis.outcome == .unknown)
        #expect(diagnosis.blame == nil)
        #expect(diagnosis.steps.map(\.finding) == [.neutral])
    }
}
