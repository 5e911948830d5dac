internal import Glibc
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
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(STDOUT_FILENO, $0.baseAddress, $0.count) }
            if count >= 0 {
                rest = rest.dropFirst(count)
            } else if errno == EPIPE {
                exit(ExitStatus.success.rawValue)
            } else if errno != EINTR {
                fail(errno)
            }
        }
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
