internal import Glibc
internal import ReachCore
internal import ReachKernel
internal import ReachLoop
internal import Reachability
internal import Synchronization

/// A session's place on a thread. All sessions in memory of a process share one thread, one event loop and the watch of
/// the network, from the first session's first work to the last one's end. A session with a directory has a thread of
/// its own, because its end waits for the disk.
final class SessionThread: Sendable {
    typealias Work = @Sendable (SessionLoop) -> Void

    /// The threads of sessions in memory, by their network namespaces.
    private static let shared = SharedObjects<UInt64, LoopThread<SessionLoops>>()

    private let thread: LoopThread<SessionLoops>
    private let number: UInt64
    private let makeLoop: @Sendable (SessionLoops) -> SessionLoop
    /// The namespace of the shared thread; `nil` for a thread of one's own.
    private let namespace: UInt64?
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
        namespace = isShared ? options.namespaceNumber : nil
        thread = namespace.map { Self.shared.join($0) { Self.makeThread(options) } } ?? Self.makeThread(options)
        number = thread.nextID()
    }

    private static func makeThread(_ options: RequestSessionOptions) -> LoopThread<SessionLoops> {
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
        guard let namespace else { return thread.end() }
        // The thread may continue for others, without this session's part. A thread that has not started stays so.
        if before.isUsed { thread.post { [number] loops in loops.remove(number) } }
        Self.shared.leave(namespace)?.end()
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
        var options = ReachabilityEngine.Options()
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

extension RequestSessionOptions {
    /// The namespace to send in, by the number that the kernel gives it; 0 for the process's own.
    fileprivate var namespaceNumber: UInt64 {
        var status = stat()
        guard let namespace, fstat(namespace, &status) == 0 else { return 0 }
        return UInt64(status.st_ino)
    }
}
