internal import ReachCore
internal import ReachLoop
internal import ReachQueue
internal import ReachQueueRuntime
internal import ReachSerialization
internal import Reachability
internal import Synchronization

/// What a session and its tasks share: the thread, who is told, and which tasks are not over. The session lets go of it by
/// ``close()``, and tasks may outlive that.
final class SessionCore: Sendable {
    private struct State {
        var lastIdentifier: UInt64 = 0
        var isClosed = false
        /// The thread has, or will have, something to do.
        var isUsed = false
        var tasks: [UInt64: RequestTask] = [:]
    }

    let options: RequestSessionOptions
    let base: WebAddress?
    let limits: QueueLimits
    let keepsOnDisk: Bool
    let observers = RequestObservers()
    let activity: RequestActivity
    let pump: SerialPump
    private let thread: LoopThread<SessionLoop>
    private let state = Mutex(State())
    /// Opened when the session's thread has nothing more to write.
    private let ending = SessionEnding()

    init(_ directory: QueueDirectory?, base: WebAddress?, _ options: RequestSessionOptions) {
        self.options = options
        self.base = base
        keepsOnDisk = directory != nil
        limits = SessionLoop.limits(options, keepsOnDisk: directory != nil)
        let pump = SerialPump(options.delivery)
        self.pump = pump
        activity = RequestActivity(options.activity, pump: pump)
        thread = LoopThread(named: "reach-session") {
            options.enterNamespace()
        } makeResident: { loop in
            SessionLoop(loop, directory, options)
        }
        activity.connect { [weak self] time in
            guard let self else { return }
            perform { [activity] desk in desk.wakeActivity(at: time) { activity.advance() } }
        } deliver: { [weak self] in
            self?.deliver()
        }
        // What an earlier run left goes on by itself.
        if keepsOnDisk { perform { _ in } }
    }

    // MARK: - Tasks

    /// Makes a task and keeps no hold of it before it is started.
    func task(_ plan: TaskPlan) -> RequestTask { RequestTask(identifier: nextIdentifier(), plan: plan, core: self) }

    func nextIdentifier() -> UInt64 {
        state.withLock { state in
            state.lastIdentifier += 1
            return state.lastIdentifier
        }
    }

    /// Those that are not over, in the order of their making.
    var tasks: [RequestTask] {
        state.withLock { $0.tasks.values.sorted { $0.identifier < $1.identifier } }
    }

    /// Hands a task to the queue.
    func start(_ task: RequestTask) {
        keep(task)
        if !perform({ $0.start(task) }) { task.end(with: .closed) }
    }

    /// A task that is not over is kept, and has its end when the session is closed.
    func keep(_ task: RequestTask) {
        state.withLock { state in
            if !state.isClosed { state.tasks[task.identifier] = task }
        }
    }

    func ended(_ task: RequestTask) { state.withLock { _ = $0.tasks.removeValue(forKey: task.identifier) } }

    func hold(_ task: RequestTask) { perform { $0.hold(task) } }

    func release(_ task: RequestTask) { perform { $0.release(task) } }

    func cancel(_ task: RequestTask) { perform { $0.cancel(task) } }

    // MARK: - The thread

    /// Runs work on the session's thread.
    ///
    /// - Returns: `false` where the session is closed.
    @discardableResult
    func perform(_ work: @escaping @Sendable (SessionLoop) -> Void) -> Bool {
        let isOpen = state.withLock { state in
            if !state.isClosed { state.isUsed = true }
            return !state.isClosed
        }
        return isOpen && thread.post(work)
    }

    /// Sees to it that what was appended to the pump is told.
    func deliver() {
        _ = pump.start { work in
            // Where the thread has ended, nobody else is left to do it.
            if !thread.post({ _ in work() }) { work() }
            return true
        }
    }

    // MARK: - The end

    /// Ends all that runs, and tells who waits for it. Again does no harm.
    func close(patience: Duration) {
        let (isFirst, isUsed, tasks) = state.withLock { state in
            defer { (state.isClosed, state.tasks) = (true, [:]) }
            return (!state.isClosed, state.isUsed, state.tasks.values.sorted { $0.identifier < $1.identifier })
        }
        guard isFirst else { return }
        if isUsed {
            thread.post { [ending] desk in ending.open(isWritten: desk.close(patience: patience)) }
        } else {
            ending.open(isWritten: true)
        }
        for task in tasks { task.end(with: .closed) }
        thread.end()
    }

    /// - Returns: Whether all was written.
    func waitUntilClosed() async -> Bool { await ending.wait() }
}

/// Tells who waits for the end of a session.
private final class SessionEnding: Sendable {
    private struct State {
        var isWritten: Bool?
        var waiters: [CheckedContinuation<Bool, Never>] = []
    }

    private let state = Mutex(State())

    func open(isWritten: Bool) {
        let waiters = state.withLock { state in
            state.isWritten = isWritten
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.resume(returning: isWritten) }
    }

    func wait() async -> Bool {
        await withCheckedContinuation { continuation in
            let known: Bool? = state.withLock { state in
                if state.isWritten == nil { state.waiters.append(continuation) }
                return state.isWritten
            }
            if let known { continuation.resume(returning: known) }
        }
    }
}
