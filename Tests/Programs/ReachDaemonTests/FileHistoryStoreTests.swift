import Glibc
import ReachControl
import ReachCore
import ReachDaemon
import ReachLoop
import ReachRecords
import ReachTesting
import Testing

@Suite struct FileHistoryStoreTests {
    private let directory: TemporaryDirectory
    private let files: HistoryFiles

    init() throws {
        directory = try TemporaryDirectory()
        files = HistoryFiles(directory: directory.path + "/state")
    }

    private func entry(_ number: Int) -> HistoryEntry {
        let time = Timestamp(nanosecondsSince1970: Int64(number) * 1_000_000_000)
        return HistoryEntry(
            .dropped(count: number), at: Instant(wall: time, boot: BootTime(nanoseconds: 0)), boot: "boot")
    }

    private func append(_ numbers: ClosedRange<Int>, to store: FileHistoryStore) throws {
        try store.append(numbers.flatMap { HistoryLine.encode(entry($0)) }, count: numbers.count)
    }

    private var numbers: [Int] {
        get throws {
            try files.read().entries.map { if case .dropped(let count) = $0.content { count } else { -1 } }
        }
    }

    @Test func `appended lines are readable at once, and the next store counts them`() throws {
        let store = try FileHistoryStore(files)
        try append(1...3, to: store)
        #expect(try numbers == [1, 2, 3])
        #expect(store.count == 3)
        #expect(store.lastSign.entry == nil)
        let next = try FileHistoryStore(files)
        #expect(next.count == 3)
        #expect(next.lastSign.entry == entry(3))
        #expect(next.lastSign.time != nil)
    }

    @Test func `at most two files are kept`() throws {
        let store = try FileHistoryStore(files)
        for number in 1...3 {
            try append(number...number, to: store)
            try store.rotate()
            #expect(store.count == 0)
        }
        #expect(try numbers == [3])
        try append(4...5, to: store)
        #expect(try numbers == [3, 4, 5])
        #expect(try ChildProcess.run(["ls", files.directory]) == "history.jsonl\nhistory.old.jsonl\n")
    }

    @Test func `a partial record stays alone on its line`() throws {
        try append(1...2, to: try FileHistoryStore(files))
        truncate(files.current, off_t(HistoryLine.encode(entry(1)).count + 30))
        let store = try FileHistoryStore(files)
        try append(3...3, to: store)
        #expect(try numbers == [1, 3])
        #expect(try files.read().damaged == 1)
        #expect(store.count == 3)
    }

    @Test func `a rotation that failed after its first step succeeds later`() throws {
        let store = try FileHistoryStore(files)
        try append(1...2, to: store)
        rename(files.current, files.older)
        try append(3...3, to: store)
        try store.rotate()
        #expect(store.count == 0)
        try append(4...4, to: store)
        #expect(try numbers == [1, 2, 3, 4])
    }

    @Test func `a crash between the steps of a rotation loses nothing`() throws {
        try append(1...2, to: try FileHistoryStore(files))
        rename(files.current, files.older)
        try directory.file("state/history.jsonl.new", "left behind")
        let store = try FileHistoryStore(files)
        #expect(store.lastSign.entry == entry(2), "it is in the older file now")
        try append(3...3, to: store)
        #expect(try numbers == [1, 2, 3])
        try store.rotate()
        #expect(try numbers == [3])
    }

    @Test func `the file is readable for all users, and symbolic links are not followed`() throws {
        try append(1...1, to: try FileHistoryStore(files))
        var status = stat()
        stat(files.current, &status)
        #expect(status.st_mode & 0o777 == 0o644)
        unlink(files.current)
        symlink("/tmp/elsewhere", files.current)
        #expect(throws: SystemError.self) { try FileHistoryStore(files) }
    }

    @Test func `opening does not wait for a pipe in place of the file`() throws {
        try append(1...1, to: try FileHistoryStore(files))
        unlink(files.current)
        mkfifo(files.current, 0o600)
        #expect(throws: SystemError.self) { try FileHistoryStore(files) }
    }

    @Test func `the time of a sign of life is the file's`() throws {
        let store = try FileHistoryStore(files)
        try append(1...1, to: store)
        var times = [timespec(tv_sec: 1000, tv_nsec: 0), timespec(tv_sec: 1000, tv_nsec: 0)]
        utimensat(AT_FDCWD, files.current, &times, 0)
        #expect(HistoryFiles.lastSign(in: files.current).time == Timestamp(nanosecondsSince1970: 1_000_000_000_000))
        store.touch()
        #expect(
            try #require(HistoryFiles.lastSign(in: files.current).time)
                > Timestamp(nanosecondsSince1970: 1_700_000_000_000_000_000))
    }

    @Test func `the run after a killed one records the time of its last sign of life`() throws {
        let state = HistoryEntry(
            .state(HistoryEntry.State(target: "internet", status: .reachable)), at: entry(1).moment, boot: "boot")
        try FileHistoryStore(files).append(HistoryLine.encode(state), count: 1)
        var times = [timespec(tv_sec: 1000, tv_nsec: 0), timespec(tv_sec: 1000, tv_nsec: 0)]
        utimensat(AT_FDCWD, files.current, &times, 0)
        for _ in 0..<2 {
            let history = try EventHistory(files, entries: 10, at: SystemClock.now, boot: "boot") {
                Issue.record("\($0)")
            }
            #expect(history.close(at: SystemClock.now, patience: .seconds(10)))
        }
        let log = try files.read()
        let lastSeen = Timestamp(nanosecondsSince1970: 1_000_000_000_000)
        #expect(
            log.entries.map(\.content) == [
                state.content, .started(lastSeen: lastSeen), .stopped, .started(lastSeen: nil), .stopped,
            ])
    }
}
