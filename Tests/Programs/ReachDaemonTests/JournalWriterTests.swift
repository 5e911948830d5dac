import Dispatch
import Glibc
import ReachControl
import ReachCore
import ReachLoop
import ReachQueueRuntime
import ReachTesting
import Synchronization
import Testing

@testable import ReachDaemon

@Suite struct JournalWriterTests {
    private let stage: JournalStage
    private let reports = EventLog<String>()

    init() throws { stage = try JournalStage() }

    /// Whether writing fails, as on a full disk.
    private final class Disk {
        var isFull = false

        func reach(_ point: JournalStore.Point) throws(SystemError) {
            if isFull, point == .beforeLines { throw SystemError(call: "write", number: ENOSPC) }
        }
    }

    private func open(_ disk: Disk = Disk()) throws -> JournalWriter {
        let store = try stage.open { (point) throws(SystemError) in try disk.reach(point) }
        return JournalWriter(store, boot: "b") { [reports] in reports.append($0) }
    }

    private func events(_ words: String...) -> [JournalWriter.Item] { words.map { .event(JournalStage.event($0)) } }

    private func rows(_ numbers: ClosedRange<Int64>, _ content: String = "row") -> [QueueOutbox.Row] {
        numbers.map { number in
            // The same bytes each time.
            let event = JournalEvents.encode(
                .resync(
                    reason: "\(content) \(number)",
                    at: Instant(wall: Timestamp(nanosecondsSince1970: 0), boot: BootTime(nanoseconds: 0))),
                boot: "b")
            return QueueOutbox.Row(number: number, event: event)
        }
    }

    /// What a row may be in a queue's file that was damaged.
    private static let damages: [(number: Int64, event: String)] = [
        (1, ""), (2, "{"), (3, "x"), (4, "{}"), (5, #"{"v":1,"type":"queue"}"#), (6, "{\"a\":\"\u{0}\"}"),
        (7, #"{"n":7,"v":1,"type":"queue","time":"2026-01-01T00:00:00Z","boottime_ns":1,"boot":"b"}"#),
        (8, #"{"v":1,"type":"queue","time":"2026-01-01T00:00:00Z","boottime_ns":1,"boot":"b"},{"x":1}"#),
        (9, "{\"v\":1,\"type\":\"queue\",\n\"time\":\"2026-01-01T00:00:00Z\",\"boottime_ns\":1,\"boot\":\"b\"}"),
    ]

    @Test func `where the journal may be smaller from now on, its oldest events go with the next one`() throws {
        let limits = SharedValue(JournalStore.Options())
        var writer = JournalWriter(try stage.open(limits.current), boot: "b", limits: limits) { _ in }
        for _ in 0..<40 { writer.write((0..<100).map { _ in .event(JournalStage.event("old")) }) }
        #expect(writer.statistics.bytes > 400_000)
        limits.current.bytes = 200_000
        writer.write([.event(JournalStage.event("new"))])
        #expect(writer.statistics.bytes <= 200_000)
        #expect(try stage.words.last == "new")
    }

    @Test func `a damaged row of the queue's file is a gap, and a line in the log, and all else can be read`() throws {
        var writer = try open()
        let damaged = Self.damages.map { QueueOutbox.Row(number: $0.number, event: Array($0.event.utf8)) }
        let negative = rows(-3 ... -3)
        writer.write([.rows(negative + damaged + rows(10...10), isRepeated: true)])
        let count = damaged.count + 1
        #expect(try recorded() == (1...count).map { "\($0) damaged" } + ["\(count + 1) row 10"])
        #expect(reports.values.count == count && writer.statistics.lost == UInt64(count))
        #expect(reports.values[3].hasPrefix("event 3 of the queue's file is damaged, and is not recorded: \"x\""))
        writer.sync()
        #expect(writer.statistics.safeRow == 10)
    }

    @Test func `a journal whose older files cannot be rewritten says so, and keeps to its bytes`() throws {
        let options = JournalStore.Options(bytes: 1 << 20)
        var writer = JournalWriter(try stage.open(options), boot: "b") { [reports] in reports.append($0) }
        // It is in the way of the file that would replace others.
        #expect(mkdir(stage.files.directory + "/thinned", 0o700) == 0)
        for _ in 0..<3000 { writer.write(events(String(repeating: "x", count: 500))) }
        #expect(reports.values.first?.hasPrefix("the journal's older files cannot be rewritten") == true)
        #expect(writer.statistics.bytes <= options.bytes && writer.statistics.lost == 0)
    }

    /// An earlier version recorded it.
    @Test func `a damaged row that is in the files is a gap for those who read them`() throws {
        var store = try stage.open()
        for (number, text) in ["{}", "x,", "{"].enumerated() {
            try store.append(
                JournalLine.encode(Array(text.utf8), log: store.log, number: Int64(number) + 1, outbox: 7),
                last: Int64(number) + 1)
        }
        try JournalStage.append("good", to: &store)
        #expect(try recorded() == ["3 damaged", "4 good"])
    }

    private func dropped(_ items: [JournalWriter.Item]) -> JournalWriter.Dropped {
        var dropped = JournalWriter.Dropped()
        for item in items { dropped.add(item) }
        return dropped
    }

    /// Each event as its number and word; a gap as its numbers and reason.
    private func recorded() throws -> [String] {
        try stage.events().map { "\($0.number) \($0.word)" }
    }

    @Test func `events that a full disk refuses are counted, and a gap stands for them`() throws {
        let disk = Disk()
        var writer = try open(disk)
        writer.write(events("a", "b"))
        disk.isFull = true
        writer.write(events("c"))
        writer.write(events("d", "e"), dropped: dropped(events("x", "y")))
        #expect(writer.statistics.written == 2 && writer.statistics.lost == 5)
        disk.isFull = false
        writer.write(events("f"))
        #expect(try recorded() == ["1 a", "2 b", "7 refused", "8 f"])
        writer.write(events("g"))
        #expect(try recorded().last == "9 g")
        #expect(
            reports.values == [
                "the journal cannot be written: write: No space left on device",
                "the journal can be written again; 5 events were lost",
            ])
    }

    @Test func `an event that is too long is a gap of one`() throws {
        var writer = try open()
        writer.write([.event(JournalStage.event(String(repeating: "x", count: 70_000)))] + events("b"))
        #expect(try recorded() == ["1 too-large", "2 b"])
        #expect(writer.statistics.lost == 1)
    }

    @Test func `repeated rows of the outbox are written once, and new ones with an old number are written`() throws {
        var writer = try open()
        writer.write([.rows(rows(1...3), isRepeated: false)] + events("a"))
        // Killed before the rows were deleted.
        writer = try open()
        writer.write([.rows(rows(2...5), isRepeated: true)])
        #expect(try recorded() == ["1 row 1", "2 row 2", "3 row 3", "4 a", "5 row 4", "6 row 5"])
        // The queue's file lost its last rows with the power, and gives their numbers to others.
        writer = try open()
        writer.write([.rows(rows(4...4) + rows(5...6, "other"), isRepeated: true)])
        #expect(try recorded().suffix(2) == ["7 other 5", "8 other 6"])
    }

    @Test func `rows are safe when they are on the disk, and while a gap for them is missing they are not`() throws {
        let disk = Disk()
        var writer = try open(disk)
        writer.write([.rows(rows(1...3), isRepeated: false)])
        #expect(writer.statistics.safeRow == 0 && writer.statistics.unsafeRows == 3 && writer.statistics.needsSync)
        writer.sync()
        #expect(writer.statistics.safeRow == 3 && writer.statistics.unsafeRows == 0 && !writer.statistics.needsSync)
        disk.isFull = true
        writer.write([.rows(rows(4...5), isRepeated: false)])
        writer.sync()
        #expect(writer.statistics.safeRow == 3)
        disk.isFull = false
        writer.write(events("a"))
        writer.sync()
        #expect(writer.statistics.safeRow == 5)
        #expect(try recorded() == ["1 row 1", "2 row 2", "3 row 3", "5 refused", "6 a"])
    }

    @Test func `rows that a gap counts are released with it, so that no later run records them`() throws {
        let disk = Disk()
        var writer = try open(disk)
        disk.isFull = true
        writer.write([.rows(rows(1...2), isRepeated: false)])
        #expect(writer.statistics.safeRow == 0)
        disk.isFull = false
        writer.write(events("a"))
        #expect(writer.statistics.safeRow == 2 && writer.statistics.unsafeRows == 0)
        // Some that found no room while the disk hung, and one that did.
        writer.write([.rows(rows(3...3), isRepeated: false)], dropped: dropped([.rows(rows(4...6), isRepeated: false)]))
        #expect(writer.statistics.safeRow == 6)
        #expect(try recorded() == ["2 refused", "3 a", "6 refused", "7 row 3"])
    }

    @Test func `rows that find no room while the disk hangs are counted and released`() throws {
        let hanging = DispatchSemaphore(value: 0)
        let delivered = EventLog<JournalStatistics>()
        let files = stage.files
        let jobs = try RecordJobs<JournalWriter>(of: "journal", report: { _ in }) { () throws(SystemError) in
            hanging.wait()
            return JournalWriter(try JournalStore(files, .init(), boot: "b"), boot: "b") { _ in }
        } deliver: {
            delivered.append($0)
        }
        for _ in 0..<JournalWriter.Dropped.limit { jobs.put(.event(JournalStage.event("a"))) }
        jobs.put(.rows(rows(1...10), isRepeated: false))
        hanging.signal()
        #expect(jobs.close(with: .event(JournalStage.event("end")), patience: .seconds(60)))
        let last = try #require(delivered.values.last)
        #expect(last.lost == 10 && last.safeRow == 10, "\(last)")
        #expect(try recorded().first == "10 refused")
    }

    @Test func `rows that come after the end of the run stay in the outbox, since no file has them`() throws {
        let delivered = EventLog<JournalStatistics>()
        let files = stage.files
        let jobs = try RecordJobs<JournalWriter>(of: "journal", report: { _ in }) { () throws(SystemError) in
            JournalWriter(try JournalStore(files, .init(), boot: "b"), boot: "b") { _ in }
        } deliver: {
            delivered.append($0)
        }
        #expect(jobs.close(with: .event(JournalStage.event("end")), patience: .seconds(60)))
        jobs.put(.rows(rows(1...3), isRepeated: false))
        let turn = DispatchSemaphore(value: 0)
        jobs.put({ _ in turn.signal() }, for: 0)
        turn.wait()
        #expect(delivered.values.allSatisfy { $0.safeRow == 0 })
    }

    @Test func `a reader of everything that is ahead begins a new log, another reader does not`() throws {
        var writer = try open()
        writer.write(events("a", "b"))
        let before = try writer.read(JournalQuery(), of: nil)
        let ahead = JournalQuery(log: before.log, after: 9)
        #expect(try writer.read(ahead, of: 1000).current == before.log)
        let page = try writer.read(ahead, of: nil)
        #expect(page.current != before.log && page.last == 0)
        let gap = try JournalRecord(reading: JSONReader.read(try #require(page.events.last)))
        #expect(gap.type == "gap" && gap.log == page.current && gap.number == 0)
        writer.write(events("c"))
        #expect(try recorded() == ["1 a", "2 b", "0 log", "1 c"])
    }
}
