internal import Glibc
package import ReachCore
internal import ReachLoop

/// Descriptors 0, 1 and 2.
package enum StandardDescriptors {
    /// Whether standard output was closed when the program started.
    nonisolated(unsafe) package private(set) static var outputWasClosed = false

    /// Opens `/dev/null` for closed descriptors; otherwise the next file opened would become standard output. `main`
    /// calls it first, before there is another thread.
    package static func secure() {
        for descriptor in CInt(0)...2 where fcntl(descriptor, F_GETFD) == -1 {
            if descriptor == STDOUT_FILENO { outputWasClosed = true }
            _ = open("/dev/null", O_RDWR)
        }
        signal(SIGPIPE, SIG_IGN)
    }
}

/// Ends the process with a status, and runs nothing that libraries registered for its end (`_exit`).
///
/// Their threads still run then. exit(3) has OpenSSL free what libnats' threads use, and now and then the process
/// crashed after its work was done (one of some 3,000 commands with TLS on a busy machine). What is written here has
/// been written: nothing waits in a buffer of the C library.
package func endProcess(_ status: CInt) -> Never { _exit(status) }

/// Standard output, for commands that print and end.
package enum StandardOutput {
    package static var isTerminal: Bool { isatty(STDOUT_FILENO) == 1 }

    /// The terminal's width in columns; `nil` without a terminal.
    package static var width: Int? { size.flatMap { $0.ws_col > 0 ? Int($0.ws_col) : nil } }

    /// The terminal's height in lines; `nil` without a terminal.
    package static var height: Int? { size.flatMap { $0.ws_row > 0 ? Int($0.ws_row) : nil } }

    private static var size: winsize? {
        var size = winsize()
        return isTerminal && ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0 ? size : nil
    }

    package static func write(_ text: String) { write(Array(text.utf8)) }

    /// Writes all bytes. If the reader has closed the pipe, the program ends with success.
    package static func write(_ bytes: [UInt8]) {
        if StandardDescriptors.outputWasClosed { fail(EBADF) }
        do throws(SystemError) {
            try FileDescriptor.write(bytes, to: STDOUT_FILENO)
        } catch {
            if error.number == EPIPE { endProcess(0) }
            fail(error.number)
        }
    }

    /// Writes a JSON object on a line of its own.
    package static func writeJSON(_ body: (inout JSONWriter) -> Void) { writeJSON([()]) { writer, _ in body(&writer) } }

    /// Writes a JSON object for each item, one a line.
    package static func writeJSON<Item>(_ items: [Item], _ body: (inout JSONWriter, Item) -> Void) {
        var writer = JSONWriter()
        for item in items {
            body(&writer, item)
            writer.newline()
        }
        write(writer.bytes)
    }

    /// EX_IOERR of sysexits.h, the exit status of a program whose standard output cannot be written.
    package static let cannotWrite: CInt = 74

    /// Reports that standard output cannot be written, and ends.
    package static func fail(_ number: CInt) -> Never {
        let program = CommandLine.arguments.first?.split(scalar: "/").last ?? "reach"
        StandardError.write("\(program): cannot write to standard output: \(SystemError.text(number))\n")
        endProcess(cannotWrite)
    }
}

/// Standard error, for sentences.
package enum StandardError {
    package static func write(_ text: String) {
        var text = text
        text.withUTF8 { _ = Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }

    /// Writes lines that may quote what someone typed.
    package static func write(quoting lines: String) {
        write(lines.split(scalar: "\n").map { DisplayText.sanitized(String($0)) + "\n" }.joined())
    }
}
