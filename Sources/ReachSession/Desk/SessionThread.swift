internal import Glibc
internal import ReachCore
internal import ReachKernel
internal import ReachLoop
internal import Synchronization

/// A session's place on a thread. All sessions in memory of a process share one thread, one event loop and the watch of the
/// network, from the first session's first work to the last one's end. A session with a directory has a thread of its own,
/// because its end waits for the disk.
final class SessionThread: Sendable {
    typealias Work = @Sendable (SessionLoop) -> Void

    private let thread: LoopThread<SessionLoops>
    private let number: UInt64
    private let makeLoop: @Sendable (SessionLoops) -> SessionLoop
    /// Leaves the shared thread; `nil` for a thread of one's own.
    private let share: ThreadShare?
    private let state = Mutex(State())

    private struct State {
        var isUsed = false
        var isEnded = false
    }

    init(
        sharing isShared: Bool, _ options: RequestSessionOptions,
        _ makeLoop: @escaping @Sendable (SessionLoops) -> SessionLoop
    ) {
        self.makeLoop = makeLoop
        share = isShared ? ThreadShare(options) : nil
        thread = share?.thread ?? Self.makeThread(options)
        number = thread.nextID()
    }

    static func makeThread(_ options: RequestSessionOptions) -> LoopThread<SessionLoops> {
        LoopThread(named: "reach-session") {
            options.enterNamespace()
        } makeResident: {
            SessionLoops($0)
        }
    }

    /// Runs work on the thread, after all work posted earlier.
    ///
    /// - Returns: `false` after ``end()``.
    @discardableResult
    func post(_ work: @escaping Work) -> Bool {
        state.withLock { state in
            guard !state.isEnded else { return false }
            state.isUsed = true
            return thread.post { [number, makeLoop] loops in work(loops.loop(number, makeLoop)) }
        }
    }

    /// Ends the session's part of the thread after all work posted earlier, without waiting for it.
    func end() {
        let before = state.withLock { state in
            defer { state.isEnded = true }
            return state
        }
        guard !before.isEnded else { return }
        guard let share else { return thread.end() }
        // Where the thread goes on for others, the session's part of it goes first. A thread that has not started is not started for that.
        if before.isUsed { thread.post { [number] loops in loops.remove(number) } }
        share.leave()
    }
}

/// The sessions of one thread, and what they share. Confined to the thread.
final class SessionLoops {
    let loop: EventLoop
    private var sessions: [UInt64: SessionLoop] = [:]
    /// The watches of the network, by the classes that sessions give to links.
    private var networks: [LinkPolicy: ReachabilityEngine] = [:]

    init(_ loop: EventLoop) { self.loop = loop }

    func network(_ policy: LinkPolicy) -> ReachabilityEngine {
        if let network = networks[policy] { return network }
        var options = EngineOptions()
        options.observer.policy = policy
        let network = ReachabilityEngine(loop: loop, options: options)
        networks[policy] = network
        network.start()
        return network
    }

    fileprivate func loop(_ number: UInt64, _ make: (SessionLoops) -> SessionLoop) -> SessionLoop {
        if let session = sessions[number] { return session }
        let session = make(self)
        sessions[number] = session
        return session
    }

    fileprivate func remove(_ number: UInt64) {
        guard let policy = sessions.removeValue(forKey: number)?.options.linkPolicy else { return }
        if !sessions.values.contains(where: { $0.options.linkPolicy == policy }) { networks[policy] = nil }
    }
}

/// A share in the thread of all sessions in memory that are in the same network namespace.
private final class ThreadShare: Sendable {
    private struct Entry {
        let thread: LoopThread<SessionLoops>
        var users = 0
    }

    private static let entries = Mutex<[UInt64: Entry]>([:])

    let thread: LoopThread<SessionLoops>
    private let namespace: UInt64

    init(_ options: RequestSessionOptions) {
        let namespace = options.namespaceNumber
        self.namespace = namespace
        thread = Self.entries.withLock { entries in
            var entry = entries[namespace] ?? Entry(thread: SessionThread.makeThread(options))
            entry.users += 1
            entries[namespace] = entry
            return entry.thread
        }
    }

    /// Ends the thread if no session uses it any more.
    func leave() {
        let isUnused = Self.entries.withLock { entries in
            entries[namespace]?.users -= 1
            guard entries[namespace]?.users == 0 else { return false }
            entries[namespace] = nil
            return true
        }
        if isUnused { thread.end() }
    }
}

extension RequestSessionOptions {
    /// The namespace to send in, by the number that the kernel gives it; 0 for the process's own.
    fileprivate var namespaceNumber: UInt64 {
        var status = stat()
        guard let namespace, fstat(namespace, &status) == 0 else { return 0 }
        return UInt64(status.st_ino)
    }
}
