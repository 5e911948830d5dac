internal import Glibc

/// A program that runs in the background. It is killed when the value goes away.
///
/// Its standard output is a FIFO that the child opens by itself and that has no name any more afterwards. So no other
/// child that starts at the same time can inherit an end of it and keep it open.
package final class RunningProgram {
    /// The standard input and output of the program.
    package struct Streams: Sendable {
        package enum Input: Sendable { case null, closed }
        /// `file` is an existing file, such as `/dev/full`.
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

    /// The process ID.
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

    /// The next line of standard output, without the newline.
    ///
    /// - Throws: ``Failure`` when no line comes in time, or the output has ended.
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

    /// The lines that arrive within this time: for tests which check that there are none.
    package func lines(during time: Duration) throws(Failure) -> [String] {
        let deadline = ContinuousClock.now + time
        while ContinuousClock.now < deadline, (try? read(until: deadline)) == true {}
        let end = unread.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
        defer { unread.removeFirst(end) }
        return unread[..<end].split(separator: UInt8(ascii: "\n")).map { String(decoding: $0, as: UTF8.self) }
    }

    /// Closes the read end of the output, so that the program's next write fails.
    package func stopReading() {
        if output >= 0 { close(output) }
        output = -1
    }

    package func send(_ signal: CInt) { kill(process, signal) }

    /// Waits for the program to end.
    ///
    /// - Returns: Its result, without the lines that were read before.
    /// - Throws: ``Failure`` when it does not end in time. It is killed when this value goes away.
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

    /// - Returns: Whether it read anything; `false` at the end of the output.
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

    /// What it has written to standard error.
    package var errorText: String { Spawn.text(of: errors) }

    private func failure(_ what: String) -> Failure {
        Failure(description: "'\(command.joined(separator: " "))' \(what); standard error: \(errorText)")
    }
}
