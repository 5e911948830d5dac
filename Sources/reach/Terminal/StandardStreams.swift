internal import Glibc
internal import ReachCore
internal import ReachLoop

/// Descriptors 0, 1 and 2.
enum StandardDescriptors {
    /// Whether standard output was closed when the program started.
    nonisolated(unsafe) private(set) static var outputWasClosed = false

    /// Opens `/dev/null` for closed descriptors; otherwise the next file opened would become standard output. `main` calls
    /// it first, before there is another thread.
    static func secure() {
        for descriptor in CInt(0)...2 where fcntl(descriptor, F_GETFD) == -1 {
            if descriptor == STDOUT_FILENO { outputWasClosed = true }
            _ = open("/dev/null", O_RDWR)
        }
        signal(SIGPIPE, SIG_IGN)
    }
}

/// Standard output, for commands that print and end.
enum StandardOutput {
    static var isTerminal: Bool { isatty(STDOUT_FILENO) == 1 }

    /// The terminal's width in columns; `nil` without a terminal.
    static var width: Int? {
        var size = winsize()
        guard isTerminal, ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
        return Int(size.ws_col)
    }

    static func write(_ text: String) { write(Array(text.utf8)) }

    /// Writes all bytes. If the reader has closed the pipe, the program ends with success.
    static func write(_ bytes: [UInt8]) {
        if StandardDescriptors.outputWasClosed { fail(EBADF) }
        do throws(SystemError) {
            try FileDescriptor.write(bytes, to: STDOUT_FILENO)
        } catch {
            if error.number == EPIPE { exit(ExitStatus.success.rawValue) }
            fail(error.number)
        }
    }

    /// Writes a JSON object on a line of its own.
    static func writeJSON(_ body: (inout JSONWriter) -> Void) { writeJSON([()]) { writer, _ in body(&writer) } }

    /// Writes a JSON object for each item, one a line.
    static func writeJSON<Item>(_ items: [Item], _ body: (inout JSONWriter, Item) -> Void) {
        var writer = JSONWriter()
        for item in items {
            body(&writer, item)
            writer.newline()
        }
        write(writer.bytes)
    }

    /// Reports that standard output cannot be written, and ends.
    static func fail(_ number: CInt) -> Never {
        StandardError.write("reach: cannot write to standard output: \(SystemError.text(number))\n")
        exit(ExitStatus.cannotWrite.rawValue)
    }
}

/// Standard error, for sentences.
enum StandardError {
    static func write(_ text: String) {
        var text = text
        text.withUTF8 { _ = Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }
}
