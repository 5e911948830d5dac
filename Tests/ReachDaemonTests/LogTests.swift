import Glibc
import ReachDaemon
import ReachLoop
import ReachTesting
import Testing

@Suite struct LogTests {
    private func pipeEnds() throws -> (read: CInt, write: CInt) {
        var ends: [CInt] = [-1, -1]
        try #require(pipe(&ends) == 0)
        _ = fcntl(ends[0], F_SETFL, O_NONBLOCK)
        return (ends[0], ends[1])
    }

    private func lines(_ descriptor: CInt) -> [String] {
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 65536)
        while case let count = read(descriptor, &piece, piece.count), count > 0 { bytes += piece[..<count] }
        return String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
    }

    @Test func `less grave messages than the level are left out, until it is changed`() throws {
        let (read, write) = try pipeEnds()
        defer { [read, write].forEach { close($0) } }
        let log = Log(level: .warning, format: .journal, descriptor: write)
        log.write(.info, "one")
        log.write(.error, "two", ["error": "it broke"])
        log.level = .debug
        log.write(.debug, "three")
        #expect(lines(read) == ["<3>two error=\"it broke\"", "<7>three"])
    }

    @Test func `a reader that does not read holds nobody up, and is told what it missed`() throws {
        let (read, write) = try pipeEnds()
        defer { [read, write].forEach { close($0) } }
        let log = Log(level: .info, format: .journal, descriptor: write)
        let padding = String(repeating: "x", count: 500)
        for number in 1...1000 { log.write(.info, "message \(number) \(padding)") }
        let first = lines(read)
        log.write(.info, "at last")
        let then = lines(read)
        let whole = first + then
        #expect(first.count < 1000)
        #expect(whole.last == "<6>at last")
        let note = try #require(whole.dropLast().last)
        #expect(note.hasPrefix("<4>lines of this log are lost count="))
        let lost = try #require(Int(note.split(separator: "=").last ?? ""))
        #expect(lost + whole.count - 2 == 1000)
        #expect(whole.dropLast(2).allSatisfy { $0.hasSuffix("x") && $0.hasPrefix("<6>message ") }, "no line is torn")
    }

    @Test func `counts are told at the end`() throws {
        let (read, write) = try pipeEnds()
        defer { [read, write].forEach { close($0) } }
        let log = Log(level: .info, format: .journal, descriptor: write)
        for _ in 0..<8 { log.write(.info, "again") }
        log.finish()
        #expect(lines(read) == Array(repeating: "<6>again", count: 5) + ["<6>again repeated=3"])
    }

    @Test func `many threads write whole lines`() async throws {
        let directory = try TemporaryDirectory()
        let file = open(try directory.file("log", ""), O_RDWR | O_APPEND)
        defer { close(file) }
        let log = Log(level: .info, format: .journal, descriptor: file)
        let ended = EventLog<Int>()
        for thread in 0..<4 {
            BackgroundThread.start(named: "log-test") {
                for number in 0..<200 { log.write(.info, "thread \(thread) message \(number)") }
                ended.append(thread)
            }
        }
        try await ended.wait(for: 4)
        lseek(file, 0, SEEK_SET)
        let written = lines(file)
        #expect(Set(written).count == 800)
        #expect(written.count == 800)
    }
}
