import ReachCore
import ReachRecords
import ReachTesting
import Testing

@Suite struct HistoryLineTests {
    @Test(arguments: HistorySample.entries)
    func `an encoded record decodes to the same record`(entry: HistoryEntry) {
        let line = HistoryLine.encode(entry)
        #expect(line.last == UInt8(ascii: "\n"))
        #expect(HistoryLine.decode(line.dropLast()) == .entry(entry))
    }

    @Test func `a line is JSON, with its checksum as the last member`() throws {
        let line = HistoryLine.encode(HistorySample.entries[5])
        let json = try JSONReader.read(line)
        #expect(json["v"] == .integer(1))
        #expect(json["type"] == .string("state"))
        #expect(json["time"] == .string("2026-11-21T03:10:00.123456Z"))
        #expect(json["status"] == .string("not-reachable"))
        #expect(json["crc"]?.string?.count == 8)
        #expect(try JSONReader.read(HistoryLine.json(HistorySample.entries[5]))["crc"] == nil)
    }

    @Test(arguments: HistorySample.entries)
    func `a line that is torn or changed anywhere is damaged`(entry: HistoryEntry) {
        let line = HistoryLine.encode(entry).dropLast()
        for count in line.indices.dropFirst() { #expect(HistoryLine.decode(line.prefix(count)) == .damaged) }
        #expect(HistoryLine.decode([]) == .damaged)
        for place in line.indices {
            var changed = line
            changed[place] ^= 1
            #expect(HistoryLine.decode(changed) == .damaged, "byte \(place)")
        }
    }

    @Test(arguments: [
        #"{"v":1,"type":"portal","time":"2026-11-21T03:10:00Z","boottime_ns":1,"boot":"b"}"#,
        #"{"v":2,"type":"stopped"}"#,
    ])
    func `a whole line of a newer version is unknown, not damaged`(text: String) {
        let sum = String(CyclicRedundancy.checksum(Array(text.utf8)), radix: 16)
        let line = text.dropLast() + ",\"crc\":\"" + String(repeating: "0", count: 8 - sum.count) + sum + "\"}"
        #expect(HistoryLine.decode(Array(line.utf8)[...]) == .unknown)
    }

    @Test func `a record with words of a newer version is still read`() {
        var state = HistoryEntry.State(target: "internet", status: .reachable, linkClass: "satellite", cause: "moon")
        state.reason = .path("eclipse")
        state.connectivityReason = "fog"
        let entry = HistoryEntry(.state(state), at: HistorySample.moment, boot: "b")
        #expect(HistoryLine.decode(HistoryLine.encode(entry).dropLast()) == .entry(entry))
    }
}
