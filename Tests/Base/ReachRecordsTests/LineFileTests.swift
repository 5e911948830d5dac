import Glibc
import ReachCore
import ReachLoop
import ReachRecords
import ReachTesting
import Testing

@Suite struct LineFileTests {
    private let directory: TemporaryDirectory
    private var path: String { directory.path + "/lines" }

    init() throws { directory = try TemporaryDirectory() }

    private func lines(from start: Int64 = 0, to end: Int64? = nil, longest: Int = 100) throws -> [String] {
        var reader = try LineReader(path, from: start, to: end, longestLine: longest)
        var lines: [String] = []
        while let line = try reader.next() { lines.append(String(decoding: line, as: UTF8.self)) }
        return lines
    }

    @Test func `lines are read from any offset to any other, and what has no end is no line`() throws {
        try directory.file("lines", "one\n\ntwo\nthr")
        #expect(try lines() == ["one", "", "two"])
        #expect(try lines(from: 4) == ["", "two"])
        #expect(try lines(to: 6) == ["one", ""])
        #expect(try lines(from: 99) == [])
        var reader = try LineReader(path, longestLine: 100)
        _ = try reader.next()
        #expect(reader.offset == 4)
        while try reader.next() != nil {}
        #expect(reader.offset == 9 && Array(reader.rest) == Array("thr".utf8))
        var all: [String] = []
        reader = try LineReader(path, longestLine: 100)
        try reader.readAll { all.append(String(decoding: $0, as: UTF8.self)) }
        #expect(all == ["one", "two", "thr"])
    }

    @Test func `what is longer than any line is read in bounded memory, and the lines behind it are found`() throws {
        let long = String(repeating: "x", count: 1 << 20)
        try directory.file("lines", "one\n" + long + "\ntwo\n" + long)
        var reader = try LineReader(path, longestLine: 100)
        #expect(try reader.next().map { String(decoding: $0, as: UTF8.self) } == "one")
        let rest = try #require(try reader.next())
        #expect(rest.count < 128 << 10 && rest.last == UInt8(ascii: "x"))
        #expect(reader.offset == Int64(4 + long.utf8.count + 1))
        #expect(try reader.next().map { String(decoding: $0, as: UTF8.self) } == "two")
        #expect(try reader.next() == nil)
        #expect(reader.rest.count < 128 << 10)
    }

    @Test func `what a reader opened is what it reads, whatever is appended meanwhile`() throws {
        let file = try LineFile(path)
        try file.append(Array("one\n".utf8))
        var reader = try LineReader(path, longestLine: 100)
        try file.append(Array("two\n".utf8))
        #expect(try reader.next() != nil)
        #expect(try reader.next() == nil)
        #expect(try lines() == ["one", "two"])
        #expect(file.size == 8)
    }

    @Test func `a file continues at its end, keeps its inode under another name, and can be cut`() throws {
        try LineFile(path).append(Array("one\n".utf8))
        let file = try LineFile(path)
        try file.append(Array("two\n".utf8))
        try file.rename(to: path + ".other")
        #expect(access(path, F_OK) != 0)
        try file.cut(to: 4)
        try file.append(Array("three\n".utf8))
        #expect(SmallFile.text(path + ".other") == "one\nthree\n")
        #expect(try LineFile(path + ".other").inode == file.inode)
    }

    @Test(.timeLimit(.minutes(1))) func `neither a pipe nor a link is opened, and nothing waits for one`() throws {
        mkfifo(path, 0o600)
        #expect(throws: SystemError.self) { try LineFile(path) }
        #expect(throws: SystemError.self) { try LineReader(path, longestLine: 100).end }
        unlink(path)
        symlink("/dev/zero", path)
        #expect(throws: SystemError(call: "open \(path)", number: ELOOP)) { try LineFile(path) }
        #expect(throws: SystemError(call: "open \(path)", number: ELOOP)) {
            try LineReader(path, longestLine: 100).end
        }
    }
}
