import Glibc
import ReachCore
import ReachLoop
import ReachTesting
import Testing

@Suite struct LineOutputTests {
    private func line(_ number: Int, bytes: Int = 100) -> [UInt8] {
        let text = Array("\(number) ".utf8)
        return text + [UInt8](repeating: UInt8(ascii: "x"), count: bytes - text.count - 1) + [UInt8(ascii: "\n")]
    }

    /// Writes lines until one is refused, or `limit` lines are written.
    ///
    /// - Returns: The bytes of the accepted lines.
    private func fill(_ output: LineOutput, upTo limit: Int = 100_000) -> [UInt8] {
        var accepted: [UInt8] = []
        for number in 0..<limit {
            let line = line(number)
            guard output.write(line) else { break }
            accepted += line
        }
        return accepted
    }

    @Test func `a line is written at once if the reader keeps up`() throws {
        let (loop, pipe) = (try EventLoop(), try Pipe())
        let output = LineOutput(pipe.writer, on: loop)
        for number in 0..<1000 {
            #expect(output.write(line(number)))
            #expect(pipe.read() == line(number))
        }
    }

    @Test func `for a full pipe lines are held up to the limit, and all accepted lines arrive in order`() throws {
        let (loop, pipe) = (try EventLoop(), try Pipe())
        let limit = 10_000
        let output = LineOutput(pipe.writer, on: loop, limit: limit)
        let accepted = fill(output)
        #expect(accepted.count > limit && accepted.count < limit + (1 << 20), "the limit, and the pipe's own buffer")
        #expect(!output.write(line(0)))

        var arrived: [UInt8] = []
        var drained = 0
        output.onDrain = { drained += 1 }
        try loop.watch(pipe.reader, for: .readable) { _ in
            arrived += pipe.read(upTo: 3000)
            if arrived.count >= accepted.count { loop.stop() }
        }
        loop.runToTheEnd()
        #expect(arrived == accepted)
        #expect(drained == 1)
        #expect(output.write(line(1)), "there is room again")
        #expect(pipe.read() == line(1))
    }

    @Test func `a reader that reads nothing blocks no one`() throws {
        let (loop, pipe) = (try EventLoop(), try Pipe())
        let output = LineOutput(pipe.writer, on: loop, limit: 1000)
        let start = SystemClock.boot
        _ = fill(output)
        output.flush(patienceMilliseconds: 1)
        #expect(SystemClock.boot - start < .seconds(5))
        #expect(!output.write(line(0)), "pending lines stay pending")
    }

    @Test func `a line longer than the limit is accepted if nothing is pending`() throws {
        let (loop, pipe) = (try EventLoop(), try Pipe())
        let output = LineOutput(pipe.writer, on: loop, limit: 10)
        #expect(output.write(line(1, bytes: 5000)))
        #expect(pipe.read() == line(1, bytes: 5000))
    }

    @Test func `flushing waits for a slow reader`() async throws {
        let (loop, pipe) = (try EventLoop(), try Pipe())
        let output = LineOutput(pipe.writer, on: loop, limit: 200_000)
        let accepted = fill(output)
        let log = EventLog<[UInt8]>()
        let (reader, count) = (pipe.reader, accepted.count)
        BackgroundThread.start(named: "reader") {
            var arrived: [UInt8] = []
            var buffer = [UInt8](repeating: 0, count: 2000)
            while arrived.count < count {
                let length = read(reader, &buffer, buffer.count)
                guard length > 0 else { break }
                arrived += buffer.prefix(length)
            }
            log.append(arrived)
        }
        output.flush(patienceMilliseconds: 10_000)
        let isComplete = try await log.wait(for: 1) == [accepted]
        #expect(isComplete)
        #expect(output.write(line(0)), "there is room again")
    }

    @Test func `a reader that goes away is reported once, with or without a write`() throws {
        for isWritten in [false, true] {
            let (loop, pipe) = (try EventLoop(), try Pipe())
            let output = LineOutput(pipe.writer, on: loop)
            var numbers: [CInt] = []
            output.onClose = { number in
                numbers.append(number)
                loop.stop()
            }
            pipe.closeReader()
            if isWritten {
                #expect(output.write(line(0)))
            } else {
                loop.runToTheEnd()
            }
            #expect(numbers == [0])
            #expect(output.write(line(1)), "lines without a reader are accepted and dropped")
            output.flush(patienceMilliseconds: 10_000)
            #expect(numbers == [0])
        }
    }

    @Test func `a reader that goes away while lines are pending is reported, and the lines are dropped`() throws {
        let (loop, pipe) = (try EventLoop(), try Pipe())
        let output = LineOutput(pipe.writer, on: loop, limit: 1000)
        _ = fill(output)
        var numbers: [CInt] = []
        output.onClose = { number in
            numbers.append(number)
            loop.stop()
        }
        pipe.closeReader()
        loop.runToTheEnd()
        #expect(numbers == [0])
        #expect(output.write(line(1)))
    }

    @Test func `a regular file accepts everything at once`() throws {
        let loop = try EventLoop()
        let directory = try TemporaryDirectory()
        let file = open(try directory.file("lines", ""), O_RDWR | O_CLOEXEC)
        withExtendedLifetime(directory) {}
        defer { close(file) }
        let output = LineOutput(file, on: loop, limit: 10)
        let accepted = fill(output, upTo: 2000)
        #expect(accepted.count == 200_000)
        var content = [UInt8](repeating: 0, count: 300_000)
        #expect(pread(file, &content, content.count, 0) == accepted.count)
        #expect(Array(content.prefix(accepted.count)) == accepted)
    }

    @Test func `a full disk is reported by its error number`() throws {
        let loop = try EventLoop()
        let full = open("/dev/full", O_WRONLY | O_CLOEXEC)
        try #require(full >= 0)
        defer { close(full) }
        let output = LineOutput(full, on: loop)
        var numbers: [CInt] = []
        output.onClose = { numbers.append($0) }
        #expect(output.write(line(0)))
        #expect(numbers == [ENOSPC])
    }

    @Test func `a released output no longer watches its descriptor`() throws {
        let (loop, pipe) = (try EventLoop(), try Pipe())
        var output: LineOutput? = LineOutput(pipe.writer, on: loop)
        #expect(output?.write(line(0)) == true)
        output = nil
        #expect(throws: Never.self) { try loop.watch(pipe.writer, for: .writable) { _ in loop.stop() } }
        loop.runToTheEnd()
        loop.unwatch(pipe.writer)
    }
}
