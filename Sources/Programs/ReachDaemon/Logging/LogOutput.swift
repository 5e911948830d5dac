internal import CReachLinux
internal import Glibc

/// Writes lines to a descriptor, usually standard error, without waiting for its reader. Lines that cannot be written
/// are lost; the next line that can be written reports their number.
struct LogOutput {
    private let descriptor: CInt
    /// The rest of a partly written line.
    private var rest: [UInt8] = []
    private var lost = 0

    init(_ descriptor: CInt) { self.descriptor = descriptor }

    /// - Parameter note: Formats the line that reports the number of lost lines.
    mutating func write(_ line: String, note: (Int) -> String) {
        push(rest)
        guard rest.isEmpty else {
            lost += 1
            return
        }
        let text = lost > 0 ? note(lost) + "\n" + line + "\n" : line + "\n"
        if push(Array(text.utf8)) { lost = 0 } else { lost += 1 }
    }

    /// - Returns: Whether at least the beginning was written; the rest is then kept for the next call.
    @discardableResult
    private mutating func push(_ bytes: [UInt8]) -> Bool {
        guard !bytes.isEmpty else { return true }
        let count = bytes.withUnsafeBytes { Self.writeAtOnce(descriptor, $0) }
        guard count > 0 else { return false }
        rest = Array(bytes[count...])
        return true
    }

    private static func writeAtOnce(_ descriptor: CInt, _ bytes: UnsafeRawBufferPointer) -> Int {
        // The journal is a socket. Pipes support RWF_NOWAIT since Linux 6.4. Everything else is a file or a terminal.
        var count = send(descriptor, bytes.baseAddress, bytes.count, CInt(MSG_DONTWAIT) | CInt(MSG_NOSIGNAL))
        if count < 0, errno == ENOTSOCK {
            count = reach_write_at_once(descriptor, bytes.baseAddress, bytes.count)
            if count < 0, count != -Int(EAGAIN) { count = writeWhenReady(descriptor, bytes) }
        }
        return count
    }

    /// A pipe that polls as writable accepts PIPE_BUF bytes without blocking.
    private static func writeWhenReady(_ descriptor: CInt, _ bytes: UnsafeRawBufferPointer) -> Int {
        var poll = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        guard Glibc.poll(&poll, 1, 0) > 0 else { return -1 }
        return Glibc.write(descriptor, bytes.baseAddress, min(bytes.count, 4096))
    }
}
