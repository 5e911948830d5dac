import Glibc
import ReachCore
import ReachTesting
import Testing

@testable import ReachTransfer

/// What is kept beside a download for whoever goes on with it after a crash.
struct ResumeRecordTests {
    private static let record = ResumeRecord(bytesOnDisk: 1000, entityTag: "\"a-1\"", boot: "start-1")

    @Test func `it is read as it was written, and not at all where a byte differs`() {
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

    @Test(arguments: ["W/\"a\"", "a", "", "\""])
    func `a tag that vouches for no bytes makes no record`(tag: String) {
        let record = ResumeRecord(bytesOnDisk: 1, entityTag: tag, boot: "b")
        #expect(ResumeRecord(text: record.text) == nil)
    }

    @Test(
        arguments: [
            // The process ended: all that was written is there.
            (5000, "start-1", 5000), (1000, "start-1", 1000),
            // The machine ended: only what the disk was waited for.
            (5000, "start-2", 1000), (1000, "start-2", 1000), (5000, "", 1000),
            // The file has lost something.
            (999, "start-1", nil), (0, "start-2", nil),
        ] as [(UInt64, String, UInt64?)])
    func `after the end of the machine only what was waited for counts`(size: UInt64, boot: String, offset: UInt64?) {
        let point = Self.record.resumePoint(size: size, boot: boot)
        #expect(point == offset.map { ResumePoint(offset: $0, entityTag: "\"a-1\"") })
    }

    @Test func `where no start is known, only what was waited for counts`() {
        let record = ResumeRecord(bytesOnDisk: 10, entityTag: "\"a\"", boot: "")
        #expect(record.resumePoint(size: 20, boot: "")?.offset == 10)
    }
}
