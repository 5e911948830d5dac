package import ReachClient
internal import Synchronization

/// A thread that watches targets for other threads. Calls take effect in order; the first one starts the thread.
package protocol WatchThread: AnyObject, Sendable {
    /// Watches a target. `handler` is called on the thread with the target's state, once it is determined, and with
    /// every change.
    ///
    /// - Returns: A number for ``unwatch(_:)``.
    func watch(_ subject: WatchSubject, _ handler: @escaping @Sendable (StreamEvent) -> Void) -> UInt64

    /// Ends a watch. A call of its handler that has begun, or is about to begin, still runs.
    func unwatch(_ id: UInt64)

    /// Runs work on the thread, after all earlier calls.
    ///
    /// - Returns: `false` after ``end()``.
    func perform(_ work: @escaping @Sendable () -> Void) -> Bool

    /// Ends the thread after all earlier calls, without waiting for it. The thread closes its descriptors.
    func end()
}

/// The watching threads of a process: one for all watches with the same key, from the first of them to the last.
final class SharedThreads<Key: Hashable & Sendable, Thread: WatchThread>: Sendable {
    private let make: @Sendable (Key) -> Thread
    private let threads = SharedObjects<Key, Thread>()

    init(_ make: @escaping @Sendable (Key) -> Thread) { self.make = make }

    /// How many threads there are.
    var count: Int { threads.count }

    /// Reserves the thread for a watch of the target.
    func prepare(_ subject: WatchSubject, for key: Key) -> any ChangeWatch {
        let thread = threads.join(key) { make(key) }
        return SharedWatch(subject, on: thread) { [threads] in threads.leave(key)?.end() }
    }
}

/// A watch on a shared thread, which it releases at its end.
private final class SharedWatch: ChangeWatch {
    private enum Phase {
        case prepared
        case begun(UInt64)
        case ended
    }

    private let subject: WatchSubject
    private let thread: any WatchThread
    private let release: @Sendable () -> Void
    private let phase = Mutex(Phase.prepared)

    init(_ subject: WatchSubject, on thread: any WatchThread, release: @escaping @Sendable () -> Void) {
        self.subject = subject
        self.thread = thread
        self.release = release
    }

    deinit { end() }

    func begin(_ handler: @escaping @Sendable (StreamEvent) -> Void) {
        phase.withLock { phase in
            guard case .prepared = phase else { return }
            phase = .begun(thread.watch(subject, handler))
        }
    }

    func end() {
        let isFirst = phase.withLock { phase in
            if case .ended = phase { return false }
            if case .begun(let id) = phase { thread.unwatch(id) }
            phase = .ended
            return true
        }
        if isFirst { release() }
    }

    func perform(_ work: @escaping @Sendable () -> Void) -> Bool { thread.perform(work) }
}
