internal import Glibc

/// A program that runs in the background. It is killed when the value goes away.
///
/// Its standard output is a pipe without a name in the end: a FIFO, which the child opens by itself, so that no other
/// child that is started at the same moment can inherit an end and hold it open.
package final class RunningProgram {
    /// What the program gets for its first two descriptors.
    package struct Streams: Sendable {
        package enum Input: Sendable { case null, closed }
        /// `file` is one that exists, such as `/dev/full`.
        package enum Output: Sendable { case pipe, closed, file(String) }

        package var input: Input
        package var output: Output

        package init(input: Input = .null, output: Output = .pipe) {
            self.input = input
            self.output = output
        }
    }

    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    /// The kernel's number of the process.
    package let process: Int32
    private let command: [String]
    private let errors: CInt
    private var output: CInt
    private var unread: [UInt8] = []
    private var status: CInt?

    init(_ command: [String], environment changes: [String: String?], streams: Streams) throws(Failure) {
        self.command = command
        let spawn = try Spawn()
        switch streams.input {
        case .null: spawn.open(STDIN_FILENO, "/dev/null", O_RDONLY)
        case .closed: spawn.close(STDIN_FILENO)
        }
        switch streams.output {
        case .pipe: output = try spawn.pipe(STDOUT_FILENO)
        case .closed:
            output = -1
            spawn.close(STDOUT_FILENO)
        case .file(let path):
            output = -1
            spawn.open(STDOUT_FILENO, path, O_WRONLY)
        }
        errors = try spawn.file(STDERR_FILENO)
        process = try spawn.start(command, environment: changes)
    }

    deinit {
        if status == nil {
            kill(process, SIGKILL)
            waitpid(process, nil, 0)
        }
        stopReading()
        close(errors)
    }

    /// The next line of standard output, without its end.
    ///
    /// - Throws: When there is none in time, or no more.
    package func nextLine(within limit: Duration = .seconds(10)) throws(Failure) -> String {
        let deadline = ContinuousClock.now + limit
        while true {
            if let end = unread.firstIndex(of: UInt8(ascii: "\n")) {
                defer { unread.removeFirst(end + 1) }
                return String(decoding: unread[..<end], as: UTF8.self)
            }
            guard try read(until: deadline) else { throw failure("wrote no further line") }
        }
    }

    /// The lines that come within this time: meant for showing that there are none.
    package func lines(during time: Duration) throws(Failure) -> [String] {
        let deadline = ContinuousClock.now + time
        while ContinuousClock.now < deadline, (try? read(until: deadline)) == true {}
        let end = unread.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
        defer { unread.removeFirst(end) }
        return unread[..<end].split(separator: UInt8(ascii: "\n")).map { String(decoding: $0, as: UTF8.self) }
    }

    /// Reads no more: its next write to standard output fails.
    package func stopReading() {
        if output >= 0 { close(output) }
        output = -1
    }

    package func send(_ signal: CInt) { kill(process, signal) }

    /// Waits for its end, and kills it when that does not come in time.
    ///
    /// - Returns: What it wrote, but for the lines that were read already.
    package func finish(within limit: Duration = .seconds(20)) throws(Failure) -> BuiltProgram.Result {
        let deadline = ContinuousClock.now + limit
        while output >= 0, try read(until: deadline) {}
        var word: CInt = 0
        while waitpid(process, &word, WNOHANG) == 0 {
            guard ContinuousClock.now < deadline else { throw failure("did not end") }
            usleep(1000)
        }
        let status = Spawn.status(word)
        self.status = status
        return BuiltProgram.Result(
            status: status, standardOutput: String(decoding: unread, as: UTF8.self), standardError: errorText)
    }

    /// - Returns: Whether there was something to read; at the end of the output there is not.
    private func read(until deadline: ContinuousClock.Instant) throws(Failure) -> Bool {
        guard output >= 0 else { return false }
        let milliseconds = (deadline - .now) / .milliseconds(1)
        var poll = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
        guard Glibc.poll(&poll, 1, CInt(max(0, milliseconds))) > 0 else { throw failure("was silent for too long") }
        let bytes = [UInt8](unsafeUninitializedCapacity: 65536) {
            $1 = max(0, Glibc.read(output, $0.baseAddress, $0.count))
        }
        unread += bytes
        return !bytes.isEmpty
    }

    private var errorText: String { Spawn.text(of: errors) }

    private func failure(_ what: String) -> Failure {
        Failure(description: "'\(command.joined(separator: " "))' \(what); standard error: \(errorText)")
    }
}
