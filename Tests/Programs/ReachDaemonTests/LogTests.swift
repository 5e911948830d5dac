import Glibc
import Logging
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

    @Test func `messages below the level are omitted, until the level changes`() throws {
        let (read, write) = try pipeEnds()
        defer { [read, write].forEach { close($0) } }
        let log = Log(level: .warning, format: .journal, descriptor: write)
        let logger = log.logger
        logger.info("one")
        logger.error("two", metadata: ["error": "it broke"])
        log.level = .debug
        logger.debug("three")
        #expect(lines(read) == ["<3>two error=\"it broke\"", "<7>three"])
    }

    @Test func `an omitted message is not formatted, and a logger may have a level of its own`() throws {
        let (read, write) = try pipeEnds()
        defer { [read, write].forEach { close($0) } }
        let log = Log(level: .info, format: .journal, descriptor: write)
        var isAsked = false
        func text() -> String {
            isAsked = true
            return "costly"
        }
        log.logger.debug("\(text())", metadata: ["field": "\(text())"])
        #expect(!isAsked)
        var own = log.logger
        own.logLevel = .debug
        own.debug("of its own")
        log.logger.debug("of the log")
        #expect(own.logLevel == .debug)
        #expect(log.level == .info)
        #expect(lines(read) == ["<7>of its own"])
    }

    @Test func `fields have a fixed order, however they are given`() throws {
        let (read, write) = try pipeEnds()
        defer { [read, write].forEach { close($0) } }
        var logger = Log(level: .debug, format: .journal, descriptor: write).logger
        logger.debug(
            "change",
            metadata: ["cause": "link-up", "target": "internet", "interface": "", "status": "reachable"])
        logger[metadataKey: "b"] = "of the logger"
        logger[metadataKey: "z"] = "of the logger"
        logger.info("more", metadata: ["z": "of the message", "a": "1", "status": "on"])
        #expect(
            lines(read) == [
                "<7>change target=internet status=reachable interface=\"\" cause=link-up",
                "<6>more status=on a=1 b=\"of the logger\" z=\"of the message\"",
            ])
    }

    @Test func `a reader that does not read delays no writer, and sees how many lines were lost`() throws {
        let (read, write) = try pipeEnds()
        defer { [read, write].forEach { close($0) } }
        let log = Log(level: .info, format: .journal, descriptor: write)
        let padding = String(repeating: "x", count: 500)
        for number in 1...1000 { log.logger.info("message \(number) \(padding)") }
        let first = lines(read)
        log.logger.info("at last")
        let then = lines(read)
        let whole = first + then
        #expect(first.count < 1000)
        #expect(whole.last == "<6>at last")
        let note = try #require(whole.dropLast().last)
        #expect(note.hasPrefix("<4>log lines were lost count="))
        let lost = try #require(Int(note.split(separator: "=").last ?? ""))
        #expect(lost + whole.count - 2 == 1000)
        #expect(whole.dropLast(2).allSatisfy { $0.hasSuffix("x") && $0.hasPrefix("<6>message ") }, "no line is torn")
    }

    @Test func `counts are written at the end`() throws {
        let (read, write) = try pipeEnds()
        defer { [read, write].forEach { close($0) } }
        let log = Log(level: .info, format: .journal, descriptor: write)
        for _ in 0..<8 { log.logger.info("again") }
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
                for number in 0..<200 { log.logger.info("thread \(thread) message \(number)") }
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
