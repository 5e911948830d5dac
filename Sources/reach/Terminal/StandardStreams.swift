internal import Glibc
internal import ReachLoop

/// Descriptors 0, 1 and 2.
enum StandardDescriptors {
    /// Standard output was closed when the program started.
    nonisolated(unsafe) private(set) static var outputWasClosed = false

    /// Fills the places of closed descriptors, or the next file opened would become standard output. First thing in
    /// `main`, before there is another thread.
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

    /// Columns of the terminal, or `nil` where there is none.
    static var width: Int? {
        var size = winsize()
        guard isTerminal, ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
        return Int(size.ws_col)
    }

    static func write(_ text: String) { write(Array(text.utf8)) }

    /// Writes all of it. A reader that has gone away ends the program quietly, as it has what it wanted.
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

    /// Says that standard output cannot be written, and ends.
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
