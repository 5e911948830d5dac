import Glibc
import ReachCore
import ReachLoop
import ReachRecords
import ReachTesting
import Testing

@Suite struct HistoryFilesTests {
    private let directory: TemporaryDirectory
    private let files: HistoryFiles
    private let lines = HistorySample.entries.map { String(decoding: HistoryLine.encode($0), as: UTF8.self) }

    init() throws {
        directory = try TemporaryDirectory()
        files = HistoryFiles(directory: directory.path)
    }

    @Test func `the older file comes first`() throws {
        try directory.file("history.old.jsonl", lines[0] + lines[1])
        try directory.file("history.jsonl", lines[2])
        let log = try files.read()
        #expect(log.entries == Array(HistorySample.entries[..<3]))
        #expect(log.damaged == 0)
        #expect(log.lastSeen != nil)
    }

    @Test func `one file is enough, and none is an error`() throws {
        #expect(throws: SystemError.self) { try files.read() }
        try directory.file("history.old.jsonl", lines[0])
        #expect(try files.read().entries.count == 1)
    }

    @Test(arguments: [
        (false, ["/home/a/.local/state/reach/history.jsonl"], "/home/a/.local/state/reach"),
        (false, [], "/var/lib/reach"),
        (true, [], "/var/lib/reach"),
    ])
    func `a reader gets the history of the user's own daemon, or else the machine's`(
        isRoot: Bool, files: [String], path: String
    ) {
        let environment = ["HOME": "/home/a"]
        #expect(
            HistoryFiles.directoryForReader(isRoot: isRoot, environment: { environment[$0] }, exists: files.contains)
                == path)
    }

    @Test func `torn and foreign lines are counted and skipped`() throws {
        try directory.file(
            "history.jsonl", lines[0] + "\n{\"v\":1,\"ty\n" + lines[1] + "\u{0}\u{0}\n" + lines[2].dropLast(5))
        let log = try files.read()
        #expect(log.entries == Array(HistorySample.entries[..<2]))
        #expect(log.damaged == 3)
    }

    @Test func `a last line without a newline is whole if its checksum is right`() throws {
        try directory.file("history.jsonl", lines[0] + lines[2].dropLast())
        #expect(try files.read().entries.count == 2)
    }

    @Test func `lines that span two reads are joined`() throws {
        let many = String(repeating: lines.joined(), count: 1000)
        #expect(many.utf8.count > 3 * 262_144)
        try directory.file("history.jsonl", many)
        let log = try files.read()
        #expect(log.entries.count == 1000 * lines.count)
        #expect(log.damaged == 0)
    }

    @Test func `a long file without lines is read in bounded memory, and contains no record`() throws {
        try directory.file("history.jsonl", String(repeating: "x", count: 3 << 20) + "\n" + lines[0])
        let log = try files.read()
        #expect(log.entries.count == 1)
        #expect(log.damaged == 1)
    }

    @Test(.timeLimit(.minutes(1)))
    func `a pipe or a link in place of a file is an error and does not block`() throws {
        mkfifo(files.current, 0o644)
        #expect(throws: SystemError.self) { try files.read() }
        #expect(HistoryFiles.lastSign(in: files.current).entry == nil)
        unlink(files.current)
        symlink("/dev/zero", files.current)
        #expect(throws: SystemError(call: "open \(files.current)", number: ELOOP)) { try files.read() }
    }

    @Test func `a file with a time beyond the range of nanoseconds is read`() throws {
        let path = try directory.file("history.jsonl", lines[0])
        var times = [timespec(tv_sec: 9_300_000_000, tv_nsec: 0), timespec(tv_sec: 9_300_000_000, tv_nsec: 0)]
        #expect(utimensat(AT_FDCWD, path, &times, 0) == 0)
        #expect(try files.read().lastSeen == Timestamp("2200-01-01T00:00:00Z"))
    }

    @Test func `the last record is read from the end of the file`() throws {
        let path = try directory.file("history.jsonl", String(repeating: lines[0], count: 2000) + lines[2] + "torn")
        #expect(HistoryFiles.lastSign(in: path).entry == HistorySample.entries[2])
        #expect(HistoryFiles.lastSign(in: directory.path + "/none").entry == nil)
        #expect(HistoryFiles.lastSign(in: directory.path + "/none").time == nil)
    }

    @Test(
        arguments: [
            (true, [:], "/var/lib/reach"),
            (true, ["STATE_DIRECTORY": "/var/lib/private/reach:/x"], "/var/lib/private/reach"),
            (false, ["HOME": "/home/a"], "/home/a/.local/state/reach"),
            (false, ["HOME": "/home/a", "XDG_STATE_HOME": "/s"], "/s/reach"), (false, [:], nil),
        ] as [(Bool, [String: String], String?)])
    func `the history is in the state directory`(isRoot: Bool, environment: [String: String], path: String?) {
        #expect(HistoryFiles.directory(isRoot: isRoot) { environment[$0] } == path)
    }
}
