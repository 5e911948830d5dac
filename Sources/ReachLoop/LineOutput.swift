internal import CReachLinux
internal import Glibc

/// Lines written to a descriptor that may be slow, without ever waiting for its reader.
///
/// A descriptor that others hold too (a terminal, a pipe from the shell) must not be made non-blocking. Where the kernel
/// cannot write at once or not at all, each write is preceded by a poll, and is no larger than what a pipe that polls as
/// writable is sure to take (PIPE_BUF).
package final class LineOutput {
    private let descriptor: CInt
    private let loop: EventLoop
    private let limit: Int
    private var pending: [UInt8] = []
    /// Regular files cannot be polled for and never make anybody wait for long.
    private var isPollable = true
    /// The kernel can write without waiting: pipes since Linux 6.4, not terminals.
    private var writesAtOnce = true
    private var isWaiting = false
    private var isClosed = false
    /// Called when all that was pending is written.
    package var whenDrained: () -> Void = {}
    /// Called once, with 0 when the reader went away, or the error number.
    package var whenClosed: (CInt) -> Void = { _ in }

    private static let pieceBytes = 4096

    /// - Parameter limit: So many bytes are kept for a slow reader.
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

    /// Writes a line, or keeps it for later.
    ///
    /// - Returns: `false` if it is not taken, because too much is pending.
    package func write(_ line: [UInt8]) -> Bool {
        guard !isClosed else { return true }
        guard pending.isEmpty || pending.count + line.count <= limit else { return false }
        pending += line
        pump()
        return true
    }

    /// Waits for the reader to take what is pending, this long for each piece. To be called when the loop has ended.
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
        if pending.isEmpty, !isClosed { whenDrained() }
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

    /// - Returns: How many bytes were taken, or the negative error number.
    private func write(_ bytes: UnsafeRawBufferPointer) -> Int {
        if writesAtOnce {
            let result = reach_write_at_once(descriptor, bytes.baseAddress, bytes.count)
            if result != -Int(EOPNOTSUPP), result != -Int(EINVAL), result != -Int(ENOSYS) { return result }
            writesAtOnce = false
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
        whenClosed(number)
    }
}
