import Glibc
import ReachCore
import ReachTesting
import Testing

@testable import ReachTransfer

/// The record next to a download, by which it is resumed after a crash.
struct ResumeRecordTests {
    private static let record = ResumeRecord(bytesOnDisk: 1000, entityTag: "\"a-1\"", boot: "start-1")

    @Test func `a record is read as it was written, and refused where a byte differs`() {
        let text = Self.record.text
        #expect(ResumeRecord(text: text) == Self.record)
        for place in text.utf8.indices {
            var bytes = Array(text.utf8)
            bytes[text.utf8.distance(from: text.startIndex, to: place)] ^= 1
            #expect(ResumeRecord(text: String(decoding: bytes, as: UTF8.self)) == nil)
            #expect(ResumeRecord(text: String(text[..<place])) == nil)
        }
        #expect(ResumeRecord(text: text + "\n") == nil)
    }

    @Test func `the total is in the record where it is known`() {
        var record = Self.record
        record.total = 123_456
        #expect(ResumeRecord(text: record.text) == record && record.text.hasPrefix("reach download 2\n"))
        #expect(Self.record.text.hasPrefix("reach download 1\n"))
        #expect(record.resumePoint(size: 1000, boot: "start-1")?.total == 123_456)
    }

    @Test(arguments: ["W/\"a\"", "a", "", "\""])
    func `a weak or malformed tag makes no record`(tag: String) {
        let record = ResumeRecord(bytesOnDisk: 1, entityTag: tag, boot: "b")
        #expect(ResumeRecord(text: record.text) == nil)
    }

    @Test(
        arguments: [
            // The process ended: everything written is there.
            (5000, "start-1", 5000), (1000, "start-1", 1000),
            // The machine restarted: only synced bytes count.
            (5000, "start-2", 1000), (1000, "start-2", 1000), (5000, "", 1000),
            // The file has lost bytes.
            (999, "start-1", nil), (0, "start-2", nil),
        ] as [(UInt64, String, UInt64?)])
    func `after a restart of the machine only synced bytes count`(size: UInt64, boot: String, offset: UInt64?) {
        let point = Self.record.resumePoint(size: size, boot: boot)
        #expect(point == offset.map { ResumePoint(offset: $0, entityTag: "\"a-1\"") })
    }

    @Test func `where the boot is unknown, only synced bytes count`() {
        let record = ResumeRecord(bytesOnDisk: 10, entityTag: "\"a\"", boot: "")
        #expect(record.resumePoint(size: 20, boot: "")?.offset == 10)
    }
}
