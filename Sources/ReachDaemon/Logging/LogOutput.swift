internal import CReachLinux
internal import Glibc

/// Lines written to a descriptor, mostly standard error, without waiting for whoever reads it: a line that is not taken
/// is lost, and how many were is told with the next one that is.
struct LogOutput {
    private let descriptor: CInt
    /// The end of a line that was taken in part.
    private var rest: [UInt8] = []
    private var lost = 0

    init(_ descriptor: CInt) { self.descriptor = descriptor }

    /// - Parameter note: Makes the line that tells how many lines are missing.
    mutating func write(_ line: String, note: (Int) -> String) {
        push(rest)
        guard rest.isEmpty else {
            lost += 1
            return
        }
        let text = lost > 0 ? note(lost) + "\n" + line + "\n" : line + "\n"
        if push(Array(text.utf8)) { lost = 0 } else { lost += 1 }
    }

    /// - Returns: Whether at least the beginning was taken; the rest is then kept for the next time.
    @discardableResult
    private mutating func push(_ bytes: [UInt8]) -> Bool {
        guard !bytes.isEmpty else { return true }
        let count = bytes.withUnsafeBytes { Self.writeAtOnce(descriptor, $0) }
        guard count > 0 else { return false }
        rest = Array(bytes[count...])
        return true
    }

    private static func writeAtOnce(_ descriptor: CInt, _ bytes: UnsafeRawBufferPointer) -> Int {
        // The journal is a socket; pipes know RWF_NOWAIT since Linux 6.4; the others are files and terminals.
        var count = send(descriptor, bytes.baseAddress, bytes.count, CInt(MSG_DONTWAIT) | CInt(MSG_NOSIGNAL))
        if count < 0, errno == ENOTSOCK {
            count = reach_write_at_once(descriptor, bytes.baseAddress, bytes.count)
            if count < 0, count != -Int(EAGAIN) { count = writeWhenReady(descriptor, bytes) }
        }
        return count
    }

    /// A pipe that polls as writable takes PIPE_BUF bytes.
    private static func writeWhenReady(_ descriptor: CInt, _ bytes: UnsafeRawBufferPointer) -> Int {
        var poll = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        guard Glibc.poll(&poll, 1, 0) > 0 else { return -1 }
        return Glibc.write(descriptor, bytes.baseAddress, min(bytes.count, 4096))
    }
}
