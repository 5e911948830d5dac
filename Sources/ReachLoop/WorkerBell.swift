internal import CReachLinux
internal import Glibc
internal import ReachCore

/// How a thread that works through a list is woken, and how others find out that it has ended. The list and its lock are the
/// owner's: an eventfd can be waited for with a limit, which a lock cannot.
///
/// A ring is never lost: one that comes before the wait ends it at once. Several before one wait are one.
package struct WorkerBell: ~Copyable, Sendable {
    private let bell: FileDescriptor
    private let finished: FileDescriptor

    /// - Throws: When there are no more descriptors.
    package init() throws(SystemError) {
        let bell = try Self.counter()
        let finished = try Self.counter()
        self.bell = bell
        self.finished = finished
    }

    /// There is something to do. Any thread.
    package func ring() { Self.ring(bell.rawValue) }

    /// Waits until somebody rings, or has rung since the last time. For the worker alone.
    ///
    /// - Parameter limit: For no longer than this; `nil` waits for ever.
    package func wait(within limit: Duration? = nil) {
        guard Self.isReadable(bell.rawValue, within: limit) else { return }
        var count: UInt64 = 0
        read(bell.rawValue, &count, MemoryLayout<UInt64>.size)
    }

    /// The worker does nothing more.
    package func markFinished() { Self.ring(finished.rawValue) }

    /// Any thread, again and again.
    ///
    /// - Parameter patience: For no longer than this; `nil` waits for ever.
    /// - Returns: Whether the worker has ended.
    @discardableResult
    package func waitUntilFinished(_ patience: Duration? = nil) -> Bool {
        Self.isReadable(finished.rawValue, within: patience)
    }

    private static func counter() throws(SystemError) -> FileDescriptor {
        FileDescriptor(owning: try SystemError.check("eventfd") { eventfd(0, CInt(EFD_CLOEXEC)) })
    }

    private static func ring(_ descriptor: CInt) {
        var one: UInt64 = 1
        write(descriptor, &one, MemoryLayout<UInt64>.size)
    }

    private static func isReadable(_ descriptor: CInt, within limit: Duration?) -> Bool {
        let deadline = limit.map { SystemClock.boot + max($0, .zero) }
        var poll = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        while true {
            // Rounded up, so that it does not turn in circles for the last millisecond.
            let rest = deadline.map {
                CInt(clamping: (max($0 - SystemClock.boot, .zero).nanoseconds + 999_999) / 1_000_000)
            }
            let result = Glibc.poll(&poll, 1, rest ?? -1)
            if result >= 0 || errno != EINTR { return result > 0 }
        }
    }
}
