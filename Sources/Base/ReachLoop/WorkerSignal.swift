internal import CReachLinux
internal import Glibc
internal import ReachCore

/// Wakes a worker thread, and lets others wait until it has finished. The owner keeps the list of work and its lock. An
/// eventfd can be waited for with a limit, unlike a lock.
///
/// A signal is never lost: one sent before the wait ends the wait at once. Several signals before one wait count once.
package struct WorkerSignal: ~Copyable, Sendable {
    private let wakeUp: FileDescriptor
    private let finished: FileDescriptor

    /// - Throws: If the process is out of descriptors.
    package init() throws(SystemError) {
        let wakeUp = try Self.counter()
        let finished = try Self.counter()
        self.wakeUp = wakeUp
        self.finished = finished
    }

    /// Wakes the worker. Any thread may call this.
    package func signal() { Self.signal(wakeUp.rawValue) }

    /// Waits for a signal, or returns at once if one came since the last wait. Only the worker calls this.
    ///
    /// - Parameter limit: The longest wait; `nil` waits indefinitely.
    package func wait(within limit: Duration? = nil) {
        if limit != nil, !Self.isReadable(wakeUp.rawValue, within: limit) { return }
        var count: UInt64 = 0
        while read(wakeUp.rawValue, &count, MemoryLayout<UInt64>.size) < 0, errno == EINTR {}
    }

    /// Reports that the worker has finished.
    package func markFinished() { Self.signal(finished.rawValue) }

    /// Waits until the worker has finished. Any thread may call this, repeatedly.
    ///
    /// - Parameter patience: The longest wait; `nil` waits indefinitely.
    /// - Returns: Whether the worker has finished.
    @discardableResult
    package func waitUntilFinished(_ patience: Duration? = nil) -> Bool {
        Self.isReadable(finished.rawValue, within: patience)
    }

    private static func counter() throws(SystemError) -> FileDescriptor {
        FileDescriptor(owning: try SystemError.check("eventfd") { eventfd(0, CInt(EFD_CLOEXEC)) })
    }

    private static func signal(_ descriptor: CInt) {
        var one: UInt64 = 1
        write(descriptor, &one, MemoryLayout<UInt64>.size)
    }

    private static func isReadable(_ descriptor: CInt, within limit: Duration?) -> Bool {
        let deadline = limit.map { SystemClock.boot + max($0, .zero) }
        var poll = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        while true {
            // Rounded up, so that the last millisecond is not a busy loop.
            let rest = deadline.map {
                CInt(clamping: (max($0 - SystemClock.boot, .zero).nanoseconds + 999_999) / 1_000_000)
            }
            let result = Glibc.poll(&poll, 1, rest ?? -1)
            if result >= 0 || errno != EINTR { return result > 0 }
        }
    }
}
