import Glibc
import ReachControl
import ReachCore
import ReachLoop
import ReachTesting
import Testing

@testable import ReachDaemon

@Suite struct JournalStoreTests {
    private let stage: JournalStage

    init() throws { stage = try JournalStage() }

    private func append(_ words: [String], to store: inout JournalStore) throws {
        for word in words { try JournalStage.append(word, to: &store) }
    }

    @Test func `the next run continues the log, closed or killed`() throws {
        var store = try stage.open()
        let log = store.log
        #expect(log.count == 32 && store.last == 0)
        try append(["a", "b"], to: &store)
        store = try stage.open()
        #expect(store.log == log && store.last == 2)
        try append(["c"], to: &store)
        try store.close()
        store = try stage.open(boot: "another")
        #expect(store.log == log && store.last == 3)
        #expect(try stage.words == ["a", "b", "c"])
    }

    @Test func `no one else can read the files`() throws {
        var store = try stage.open()
        try append(["a"], to: &store)
        let modes = try ChildProcess.run(["sh", "-c", "stat -c %a \(stage.files.directory) \(stage.files.directory)/*"])
        #expect(modes.split(separator: "\n") == ["700", "600", "600"])
    }

    @Test func `a last line that was not finished is cut off, wherever it ends`() throws {
        var store = try stage.open()
        try append(["a", "b"], to: &store)
        let path = stage.files.path(of: 1)
        let whole = try #require(SmallFile.text(path)).utf8.map { $0 }
        let log = store.log
        let lastLine = try #require(whole.dropLast().lastIndex(of: UInt8(ascii: "\n"))) + 1
        for end in lastLine..<whole.count {
            truncate(path, off_t(end))
            var next = try stage.open()
            // Number 2 was perhaps read by someone: the head of the run before this one does not know it yet.
            #expect(next.log == log && next.last == 1, "\(end)")
            try append(["c"], to: &next)
            #expect(try stage.words == ["a", "c"])
            truncate(path, 0)
            let file = FileDescriptor(owning: Glibc.open(path, O_WRONLY | O_CLOEXEC))
            try FileDescriptor.write(whole, to: file.rawValue)
            // As after a run that wrote one event.
            let head = JournalHead(log: log, last: 1, boot: "b", isClosed: false)
            try AtomicFile.replace(stage.files.head, with: head.bytes)
        }
    }

    // MARK: Files that may have been rolled back

    /// What happens to the files between two runs.
    enum Mishap: CaseIterable {
        case reboot, copy, earlierFile, headLost, headOfAnother, cutAfterClose, damageInTheMiddle, noFiles, headerLost
    }

    @Test(arguments: Mishap.allCases)
    func `files that may lack what was read begin a new log`(mishap: Mishap) throws {
        var store = try stage.open()
        try append(["a", "b"], to: &store)
        let log = store.log
        let place = stage.files.directory
        let path = stage.files.path(of: 1)
        var boot = "b"
        switch mishap {
        case .reboot: boot = "c"
        case .copy:
            try store.close()
            try ChildProcess.run(["sh", "-c", "cp -a \(place) \(place).x && rm -r \(place) && mv \(place).x \(place)"])
        case .earlierFile:
            // The head is of a run that began with two events.
            store = try stage.open()
            try append(["c"], to: &store)
            let line = try #require(SmallFile.text(path)?.split(separator: "\n").prefix(2).joined(separator: "\n"))
            truncate(path, off_t(line.utf8.count + 1))
        case .headLost: unlink(stage.files.head)
        case .headOfAnother:
            let head = JournalHead(log: String(repeating: "f", count: 32), last: 2, boot: "b", isClosed: false)
            try AtomicFile.replace(stage.files.head, with: head.bytes)
        case .cutAfterClose:
            try append(["c"], to: &store)
            try store.close()
            let text = try #require(SmallFile.text(path))
            truncate(path, off_t(text.split(separator: "\n").prefix(3).reduce(0) { $0 + $1.utf8.count + 1 }))
        case .damageInTheMiddle:
            let file = FileDescriptor(owning: Glibc.open(path, O_RDWR | O_CLOEXEC))
            pwrite(file.rawValue, "#", 1, 300)
        case .noFiles: try ChildProcess.run(["rm", path])
        case .headerLost:
            try ChildProcess.run(["sh", "-c", "printf '%05000d' 0 | dd of=\(path) conv=notrunc 2>/dev/null"])
        }
        let next = try stage.open(boot: boot)
        #expect(next.log != log && next.last == 0)
        // The new log is continued in its turn.
        let newLog = next.log
        var third = try stage.open(boot: boot)
        #expect(third.log == newLog)
        try append(["new"], to: &third)
        #expect(try stage.words.last == "new")
    }

    // MARK: Bounds

    @Test func `the oldest files are deleted when there are too many bytes`() throws {
        var options = JournalStore.Options()
        options.bytes = 1 << 20
        var store = try stage.open(options)
        let padding = String(repeating: "x", count: 2000)
        for number in 1...2000 { try append(["\(number) " + padding], to: &store) }
        #expect(store.bytes <= 1 << 20 && store.bytes > 700_000)
        let events = try stage.events()
        let first = try #require(events.first?.number)
        #expect(events.map(\.number) == Array(first...2000))
        #expect(try stage.files.serials().count <= 9)
    }

    /// An event of a user's request.
    private func append(_ number: Int, of user: Int, to store: inout JournalStore) throws {
        let text = """
            {"v":1,"type":"queue","time":"2026-01-01T00:00:00Z","boottime_ns":1,"event":"added","id":\(number),"user":\(user),\
            "url":"\(String(repeating: "x", count: 1000))","boot":"b"}
            """
        let next = store.last + 1
        try store.append(JournalLine.encode(Array(text.utf8), log: store.log, number: next), last: next)
    }

    @Test func `one user's events push out neither the machine's nor another user's`() throws {
        var options = JournalStore.Options()
        options.bytes = 1 << 20
        var store = try stage.open(options)
        for number in 1...20 {
            try append(["outage \(number)"], to: &store)
            for other in 0..<5 { try append(number * 10 + other, of: 1001, to: &store) }
            for flood in 0..<500 { try append(number * 1000 + flood, of: 1000, to: &store) }
            #expect(store.bytes <= options.bytes)
        }
        let events = try stage.events()
        #expect(events.filter { $0.word.hasPrefix("outage") }.map(\.word) == (1...20).map { "outage \($0)" })
        let segments = try stage.files.segments()
        func slices(of user: UInt32?) throws -> [JSONValue] {
            var (query, found) = (JournalQuery(limit: 1000), [JSONValue]())
            while true {
                let reader = JournalReader(
                    query, of: user, stage.files, segments, last: .max, at: SystemClock.now, boot: "b")
                let slice = try reader.read()
                found += try slice.events.map { try JSONReader.read($0) }
                if slice.isComplete { return found }
                (query.log, query.after) = (slice.log, slice.next)
            }
        }
        let all = try slices(of: nil)
        // Each number is an event's, or a gap stands for it.
        var next: Int64 = 1
        for event in all {
            #expect(event["first"]?.integer ?? event["n"]?.integer == next)
            next = (event["n"]?.integer ?? 0) + 1
        }
        #expect(next == store.last + 1)
        let gaps = all.filter { $0["type"]?.string == "gap" }
        #expect(gaps.count <= 21 && gaps.allSatisfy { $0["user"]?.integer == 1000 })
        #expect(all.filter { $0["user"]?.integer == 1001 }.count == 100)
        // The newest of the other are there.
        let flood = all.compactMap { $0["user"]?.integer == 1000 ? $0["id"]?.integer : nil }
        #expect(flood.last == 20_499 && flood.count > 300 && flood.suffix(300).elementsEqual(20_200...20_499))
        // Who reads one's own sees nothing of it.
        let own = try slices(of: 1001)
        #expect(own.count == 120 && own.allSatisfy { $0["type"]?.string != "gap" })
        #expect(segments.count <= 10)
        let log = store.log
        try store.close()
        store = try stage.open(options)
        #expect(store.log == log)
        #expect(try stage.events().count == events.count)
    }

    @Test func `a journal that a disk does not let be rewritten loses whole files`() throws {
        var options = JournalStore.Options()
        options.bytes = 1 << 20
        var store = try stage.open(options)
        try ChildProcess.run(["mkdir", stage.files.directory + "/thinned"])
        for number in 1...2000 { try append(number, of: 1000, to: &store) }
        #expect(store.bytes <= options.bytes)
        let numbers = try stage.events().map(\.number)
        #expect(numbers == Array((numbers.first ?? 0)...2000) && numbers.count > 500)
    }

    @Test func `events are deleted when all of their file are too old, by either clock`() throws {
        var options = JournalStore.Options()
        options.bytes = 1 << 20
        options.age = .seconds(3600)
        let padding = String(repeating: "x", count: 60_000)
        do {
            var store = try stage.open(options)
            for number in 1...6 { try append(["\(number) " + padding], to: &store) }
            try store.close()
        }
        #expect(try stage.files.serials() == [1, 2, 3])
        try ChildProcess.run(["touch", "-d", "2 hours ago", stage.files.path(of: 1)])
        var store = try stage.open(options)
        try append(["new"], to: &store)
        #expect(try stage.files.serials() == [2, 3, 4] || stage.files.serials() == [2, 3])
        #expect(try stage.events().last?.word == "new")
    }

    // MARK: Failures

    @Test func `where no new log can begin, the present one takes the next event, though it has none`() throws {
        // The seventh step is the one in the file of the second log.
        let killer = Killer(after: 7)
        var store = try stage.open { (point) throws(SystemError) in try killer.reach(point) }
        let log = store.log
        do throws(SystemError) {
            try store.beginLog()
            Issue.record("a second log begins")
        } catch {
            #expect(error.call == "killed at inSegment")
        }
        #expect(store.log == log)
        try append(["a"], to: &store)
        let events = try stage.events()
        #expect(events.map(\.word) == ["a"] && events.first?.log == log)
    }

    @Test func `rows are looked for in the newest files, as far as they can be there`() throws {
        var options = JournalStore.Options()
        options.bytes = 1 << 20
        var store = try stage.open(options)
        let padding = String(repeating: "x", count: 50_000)
        var events: [Int64: [UInt8]] = [:]
        for number in Int64(1)...9 {
            let event = JournalStage.event("\(number) " + padding)
            events[number] = event
            try store.append(
                JournalLine.encode(event, log: store.log, number: number, outbox: number), last: number)
        }
        #expect(store.segments.count > 3)
        // Rows 7 to 9 are in no older file than row 6.
        for serial in 1...2 { unlink(stage.files.path(of: serial)) }
        #expect(try store.recorded(events.filter { $0.key > 6 }) == [7, 8, 9])
        events[10] = JournalStage.event("10")
        #expect(try store.recorded(events.filter { $0.key > 6 }) == [7, 8, 9])
        #expect(try store.recorded([:]).isEmpty)
    }

    // MARK: Crashes

    /// Runs the store, and kills it at a step of its work: what it has written stays, what it knows is lost.
    private final class Killer {
        private(set) var left: Int
        init(after left: Int) { self.left = left }

        func reach(_ point: JournalStore.Point) throws(SystemError) {
            left -= 1
            if left == 0 { throw SystemError(call: "killed at \(point)", number: EINTR) }
        }
    }

    /// A run with many files: opens, appends, reads what was acknowledged, perhaps closes.
    private func run(
        _ words: ClosedRange<Int>, _ options: JournalStore.Options, boot: String, killer: Killer, closes: Bool,
        seen: inout [String: [Int64: String]]
    ) {
        do throws(SystemError) {
            var store = try stage.open(options, boot: boot) { (point) throws(SystemError) in try killer.reach(point) }
            for number in words {
                let word = "\(number) " + String(repeating: "x", count: 20_000)
                try JournalStage.append(word, to: &store)
                // It is written: from here on anyone may have read it.
                seen[store.log, default: [:]][store.last] = word
            }
            if closes { try store.close() }
        } catch {}
    }

    @Test func `killed at any step, no number is given to two events, and nothing written is lost`() throws {
        var options = JournalStore.Options()
        options.bytes = 1 << 20
        for step in 1...60 {
            let stage = try JournalStage()
            let test = JournalStoreTests(stage)
            var seen: [String: [Int64: String]] = [:]
            test.run(1...5, options, boot: "b", killer: Killer(after: step), closes: step % 2 == 0, seen: &seen)
            let boot = step % 3 == 0 ? "c" : "b"
            test.run(11...15, options, boot: boot, killer: Killer(after: 61 - step), closes: true, seen: &seen)
            test.run(21...25, options, boot: boot, killer: Killer(after: 1000), closes: true, seen: &seen)
            let events = try stage.events()
            for (log, numbers) in seen {
                let found = events.filter { $0.log == log && $0.word != "log" }
                #expect(found.map(\.number) == found.indices.map { Int64($0) + 1 }, "step \(step)")
                for (number, word) in numbers {
                    #expect(found.contains { $0.number == number && $0.word == word }, "step \(step): \(number)")
                }
            }
            let words = events.map(\.word).filter { $0 != "log" }
            #expect(Set(words).count == words.count, "step \(step)")
        }
    }

    private init(_ stage: JournalStage) { self.stage = stage }
}
