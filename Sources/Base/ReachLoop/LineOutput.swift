internal import CReachLinux
internal import Glibc

/// Writes lines to a descriptor without ever blocking on its reader.
///
/// A descriptor that other processes share (a terminal, a pipe from the shell) must not be made non-blocking. Where the
/// kernel does not support RWF_NOWAIT on it, each write follows a poll, and is at most as large as a pipe that polls as
/// writable accepts without blocking (PIPE_BUF).
package final class LineOutput {
    private let descriptor: CInt
    private let loop: EventLoop
    private let limit: Int
    private var pending: [UInt8] = []
    /// `false` for regular files: epoll refuses them, and writing to them does not block for long.
    private var isPollable = true
    /// Whether the kernel supports RWF_NOWAIT here: pipes since Linux 6.4, not terminals.
    private var supportsNoWait = true
    private var isWaiting = false
    private var isClosed = false
    /// Called when nothing is pending any more.
    package var onDrain: () -> Void = {}
    /// Called once when the output is closed: with 0 if the reader went away, else with the error number.
    package var onClose: (CInt) -> Void = { _ in }

    private static let pieceBytes = 4096

    /// - Parameter limit: The most bytes to hold for a slow reader.
    package init(_ descriptor: CInt, on loop: EventLoop, limit: Int = 256 * 1024) {
        self.descriptor = descriptor
        self.loop = loop
        self.limit = limit
        do throws(SystemError) {
            try loop.watch(descriptor, for: []) { [unowned self] readiness in ready(readiness) }
        } catch {
            isPollable = false
        }
    }

    deinit {
        if isPollable, !isClosed { loop.unwatch(descriptor) }
    }

    /// Writes a line, or holds it until the reader is ready.
    ///
    /// - Returns: `false` if the line was dropped because `limit` bytes are pending.
    package func write(_ line: [UInt8]) -> Bool {
        guard !isClosed else { return true }
        guard pending.isEmpty || pending.count + line.count <= limit else { return false }
        pending += line
        pump()
        return true
    }

    /// Blocks until the reader has everything, at most `patienceMilliseconds` for each piece. For use after the loop
    /// ended.
    package func flush(patienceMilliseconds: CInt) {
        guard isPollable, !isClosed else { return }
        while !pending.isEmpty, !isClosed {
            var poll = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
            guard Glibc.poll(&poll, 1, patienceMilliseconds) > 0 else { return }
            pump()
        }
    }

    private func ready(_ readiness: EventLoop.Interest) {
        if !readiness.isDisjoint(with: .failed), !readiness.contains(.writable) { return close(0) }
        pump()
        if pending.isEmpty, !isClosed { onDrain() }
    }

    private func pump() {
        var written = 0
        while written < pending.count, !isClosed {
            let result = pending.withUnsafeBytes { write(UnsafeRawBufferPointer(rebasing: $0[written...])) }
            if result >= 0 {
                written += result
            } else if result == -Int(EAGAIN) {
                break
            } else if result != -Int(EINTR) {
                close(result == -Int(EPIPE) ? 0 : CInt(-result))
            }
        }
        if isClosed { return }
        pending.removeFirst(written)
        wait(forRoom: !pending.isEmpty)
    }

    /// - Returns: The number of bytes written, or the negative error number.
    private func write(_ bytes: UnsafeRawBufferPointer) -> Int {
        if supportsNoWait {
            let result = reach_write_at_once(descriptor, bytes.baseAddress, bytes.count)
            if result != -Int(EOPNOTSUPP), result != -Int(EINVAL), result != -Int(ENOSYS) { return result }
            supportsNoWait = false
        }
        if isPollable {
            var poll = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
            guard Glibc.poll(&poll, 1, 0) > 0 else { return -Int(EAGAIN) }
        }
        let count = min(isPollable ? Self.pieceBytes : .max, bytes.count)
        let result = Glibc.write(descriptor, bytes.baseAddress, count)
        return result < 0 ? -Int(errno) : result
    }

    private func wait(forRoom: Bool) {
        guard isPollable, forRoom != isWaiting else { return }
        isWaiting = forRoom
        try? loop.change(descriptor, to: forRoom ? .writable : [])
    }

    private func close(_ number: CInt) {
        isClosed = true
        pending = []
        if isPollable { loop.unwatch(descriptor) }
        onClose(number)
    }
}
