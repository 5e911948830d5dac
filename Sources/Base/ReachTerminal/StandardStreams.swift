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
    package static var width: Int? { TerminalSize.width(of: STDOUT_FILENO) }

    /// The terminal's height in lines; `nil` without a terminal.
    package static var height: Int? { TerminalSize.height(of: STDOUT_FILENO) }

    /// Lines for people: on a terminal they break between words, and others are as they are.
    package static func fitted(_ lines: String) -> String {
        width.map { WrappedText.fitted(lines, width: $0) } ?? lines
    }

    /// Writes lines for people, see ``fitted(_:)``.
    package static func write(lines: String) { write(fitted(lines)) }

    /// Writes what ArgumentParser has a program print of itself. A script for a shell stays as it is.
    package static func write(help message: String) {
        let text = UsageMessage.wrapped(CompletionScript.withoutExpansion(message)) + "\n"
        message.hasUTF8Prefix("OVERVIEW: ") ? write(lines: text) : write(text)
    }

    /// Writes a text as it is.
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

/// The size of the terminal that a descriptor leads to; `nil` without a terminal, or if it does not know its size.
private enum TerminalSize {
    static func width(of descriptor: CInt) -> Int? { size(of: descriptor).flatMap { positive($0.ws_col) } }

    static func height(of descriptor: CInt) -> Int? { size(of: descriptor).flatMap { positive($0.ws_row) } }

    private static func positive(_ count: UInt16) -> Int? { count > 0 ? Int(count) : nil }

    private static func size(of descriptor: CInt) -> winsize? {
        var size = winsize()
        return ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0 ? size : nil
    }
}

/// Standard error, for sentences.
package enum StandardError {
    /// The terminal's width in columns; `nil` without a terminal.
    package static var width: Int? { TerminalSize.width(of: STDERR_FILENO) }

    /// Writes lines for people: on a terminal they break between words.
    package static func write(_ text: String) {
        var text = width.map { WrappedText.fitted(text, width: $0) } ?? text
        text.withUTF8 { _ = Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }

    /// Writes lines that may quote what someone typed.
    package static func write(quoting lines: String) {
        write(lines.split(scalar: "\n").map { DisplayText.sanitized(String($0)) + "\n" }.joined())
    }
}
