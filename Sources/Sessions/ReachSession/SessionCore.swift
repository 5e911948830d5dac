internal import Dispatch
internal import HTTPTypes
internal import ReachCore
internal import ReachLoop
internal import ReachQueue
internal import ReachQueueRuntime
internal import ReachSerialization
internal import Reachability
internal import Synchronization

/// The state that a session and its tasks share: the thread, the observers, and the tasks that are not over. The
/// session ends it by ``close()``; tasks that are over may keep it alive after that.
final class SessionCore: Sendable {
    private struct State {
        var isClosed = false
        /// Whether the thread has received work.
        var isUsed = false
        /// Tasks that were resumed and are not over.
        var tasks: [UInt64: RequestTask] = [:]
        /// Tasks that were not resumed, which their callers keep.
        var newTasks: [UInt64: NewTask] = [:]
        /// Tasks that wait for the thread to start them: a list for each piece of work that was posted for that.
        var starting: [[RequestTask]] = []
        /// Whether nothing was posted since the last of these lists, so that another task may be added to it.
        var isStarting = false
    }

    private struct NewTask: Sendable {
        weak let task: RequestTask?
    }

    private struct Owner: Sendable {
        weak let session: RequestSession?

        init(_ session: RequestSession? = nil) { self.session = session }
    }

    let options: RequestSessionOptions
    /// ``RequestSessionOptions/requests``.
    let usualOptions: SharedOptions
    let cookies: CookieStorage
    let cache: ResponseCache
    let base: WebAddress?
    let limits: QueueLimits
    let keepsOnDisk: Bool
    let usesProxies: Bool
    /// Whether answers are returned as they are.
    let hasNothingToDecode: Bool
    private let addresses = Mutex(WebAddressReader())
    let observers = RequestObservers()
    let activity: RequestActivity
    let pump: SerialPump
    private let thread: SessionThread
    private let state = Mutex(State())
    private let lastIdentifier = Atomic<UInt64>(0)
    /// The headers of requests that are created.
    let headers = SessionHeaders()
    /// The session itself, which interceptors receive.
    private let owner = Mutex(Owner())
    /// Ends when the session has written all its data.
    private let ending = SessionEnding()

    init(
        _ directory: QueueDirectory?, base: WebAddress?, _ options: RequestSessionOptions, _ cookies: CookieStorage,
        _ cache: ResponseCache
    ) {
        self.options = options
        usualOptions = SharedOptions(options.requests, keepsOnDisk: directory != nil)
        self.cookies = cookies
        self.cache = cache
        self.base = base
        keepsOnDisk = directory != nil
        usesProxies = options.proxies != .none
        hasNothingToDecode = options.decodingQueue == nil && options.responseSerializer is DataResponseSerializer
        limits = SessionLoop.limits(options, keepsOnDisk: directory != nil)
        let pump = SerialPump(options.delivery)
        self.pump = pump
        activity = RequestActivity(options.activity, pump: pump, parent: options.sharedActivity)
        // The end of a session with files waits for the disk.
        let hasFiles = directory != nil || cookies.hasFile || cache.hasDirectory
        thread = SessionThread(sharing: !hasFiles, options) {
            SessionLoop($0, directory, options, cookies, cache)
        }
        activity.connect { [weak self] time in
            guard let self else { return }
            perform { [activity] sessionLoop in sessionLoop.wakeActivity(at: time) { activity.advance() } }
        } deliver: { [weak self] in
            self?.deliver()
        }
        // Starts the thread, so that requests of an earlier run continue.
        if keepsOnDisk { perform { _ in } }
    }

    /// The session; `nil` while it is being released.
    var session: RequestSession? {
        get { owner.withLock { $0.session } }
        set { owner.withLock { $0 = Owner(newValue) } }
    }

    /// Reads a URL, or a reference that is resolved against the session's base.
    func address(_ text: String) throws(RequestSerializationError) -> WebAddress {
        do throws(WebAddressError) {
            if let base { return try base.asBase.resolving(text) }
            return try addresses.withLock { (reader) throws(WebAddressError) in try reader.read(text) }
        } catch {
            throw .badAddress(error)
        }
    }

    // MARK: - Tasks

    /// Creates a task, without a strong reference to it until it is started.
    ///
    /// - Parameter session: Kept alive by the task until it is over.
    func task(_ plan: __owned TaskPlan, of session: RequestSession) -> RequestTask {
        let task = RequestTask(identifier: nextIdentifier(), plan: plan, core: self, session: session)
        state.withLock { $0.newTasks[task.identifier] = NewTask(task: task) }
        return task
    }

    func nextIdentifier() -> UInt64 { lastIdentifier.add(1, ordering: .relaxed).newValue }

    /// The tasks that are not over, in the order of creation.
    var tasks: [RequestTask] {
        state.withLock { state in
            state.newTasks.values.compactMap(\.task) + state.tasks.values
        }.sorted { $0.identifier < $1.identifier }
    }

    /// Passes a task to the queue. Tasks that are resumed one after the other are passed on together.
    func start(_ task: RequestTask) {
        let (isOpen, isFirst) = state.withLock { state in
            state.newTasks[task.identifier] = nil
            guard !state.isClosed else { return (false, false) }
            state.isUsed = true
            state.tasks[task.identifier] = task
            if state.isStarting {
                state.starting[state.starting.count - 1].append(task)
                return (true, false)
            }
            state.isStarting = true
            state.starting.append([task])
            return (true, true)
        }
        guard isOpen else { return _ = task.end(with: .closed) }
        // It may have been cancelled since its life began: then it was forgotten before it was here.
        if task.requestState.isFinal { forget(task.identifier) }
        guard isFirst, !thread.post({ [self] loop in for task in takeStarting() { loop.start(task) } }) else { return }
        for task in takeStarting() { task.end(with: .closed) }
    }

    /// The tasks that were resumed first and are not passed on yet.
    private func takeStarting() -> [RequestTask] {
        state.withLock { state in
            guard !state.starting.isEmpty else { return [] }
            let tasks = state.starting.removeFirst()
            if state.starting.isEmpty { state.isStarting = false }
            return tasks
        }
    }

    /// Keeps a task that is not over, so that it ends when the session is closed.
    func keep(_ task: RequestTask) {
        state.withLock { state in
            state.newTasks[task.identifier] = nil
            if !state.isClosed { state.tasks[task.identifier] = task }
        }
    }

    /// Forgets a task that is over, or was released before it was resumed.
    func forget(_ identifier: UInt64) {
        // Released without the lock: the task may be the last that keeps the session.
        _ = state.withLock { state -> RequestTask? in
            if let task = state.tasks.removeValue(forKey: identifier) { return task }
            state.newTasks[identifier] = nil
            return nil
        }
    }

    func hold(_ task: RequestTask) { perform { $0.hold(task) } }

    func release(_ task: RequestTask) { perform { $0.release(task) } }

    func cancel(_ task: RequestTask) { perform { $0.cancel(task) } }

    func resumeReading(_ task: RequestTask) { perform { $0.resumeReading(task) } }

    // MARK: - The thread

    /// Runs work on the session's thread.
    ///
    /// - Returns: `false` where the session is closed.
    @discardableResult
    func perform(_ work: @escaping @Sendable (SessionLoop) -> Void) -> Bool {
        let isOpen = state.withLock { state in
            if !state.isClosed { state.isUsed = true }
            // What is started after this is passed on after it.
            state.isStarting = false
            return !state.isClosed
        }
        return isOpen && thread.post(work)
    }

    /// Delivers what was appended to the pump.
    func deliver() {
        _ = pump.start { work in
            // When the thread has ended, this caller has to do it.
            if !thread.post({ _ in work() }) { work() }
            return true
        }
    }

    /// Runs a block on the main actor: at once where blocks are delivered there, else later, in the order of the calls.
    func onMain(_ block: @escaping @MainActor @Sendable () -> Void) {
        if case .queue(let queue) = options.delivery, queue === DispatchQueue.main {
            MainActor.assumeIsolated(block)
        } else {
            DispatchQueue.main.async { MainActor.assumeIsolated(block) }
        }
    }

    // MARK: - Closing

    /// Closes the session, and ends its tasks. Calling it again has no effect.
    func close(patience: Duration) {
        let (isFirst, isUsed, tasks) = state.withLock { state in
            defer { (state.isClosed, state.tasks) = (true, [:]) }
            return (!state.isClosed, state.isUsed, state.tasks.values.sorted { $0.identifier < $1.identifier })
        }
        guard isFirst else { return }
        for task in tasks { task.end(with: .closed) }
        if isUsed || cookies.hasFile || cache.hasDirectory {
            thread.post { [ending, cookies, cache] sessionLoop in
                let results = [
                    sessionLoop.close(patience: patience), cookies.close(), cache.close(patience: patience),
                ]
                ending.end(isWritten: results.allSatisfy(\.self))
            }
        } else {
            ending.end(isWritten: true)
        }
        thread.end()
    }

    /// Calls a block when the session is closed, or soon if it is.
    func whenClosed(_ block: @escaping @Sendable (Bool) -> Void) {
        ending.whenEnded { [pump] isWritten in
            pump.append { block(isWritten) }
            // The session's thread has ended, or is about to: whoever ends it delivers.
            _ = pump.start { work in
                work()
                return true
            }
        }
    }

    /// Waits for the end.
    ///
    /// - Returns: Whether all data was written.
    func waitUntilClosed() async -> Bool { await ending.wait() }
}

/// Resumes callers that wait for the end of a session.
private final class SessionEnding: Sendable {
    private struct State {
        var isWritten: Bool?
        var waiters: [CheckedContinuation<Bool, Never>] = []
        var blocks: [@Sendable (Bool) -> Void] = []
    }

    private let state = Mutex(State())

    func end(isWritten: Bool) {
        let (waiters, blocks) = state.withLock { state in
            state.isWritten = isWritten
            defer { (state.waiters, state.blocks) = ([], []) }
            return (state.waiters, state.blocks)
        }
        for block in blocks { block(isWritten) }
        for waiter in waiters { waiter.resume(returning: isWritten) }
    }

    func whenEnded(_ block: @escaping @Sendable (Bool) -> Void) {
        let isWritten: Bool? = state.withLock { state in
            if state.isWritten == nil { state.blocks.append(block) }
            return state.isWritten
        }
        if let isWritten { block(isWritten) }
    }

    func wait() async -> Bool {
        await withCheckedContinuation { continuation in
            let isWritten: Bool? = state.withLock { state in
                if state.isWritten == nil { state.waiters.append(continuation) }
                return state.isWritten
            }
            if let isWritten { continuation.resume(returning: isWritten) }
        }
    }
}

/// The headers of a session, which any thread may change.
final class SessionHeaders: Sendable {
    private let headers = Mutex<Headers>([:])

    var current: Headers { headers.withLock { $0 } }

    func change<Failure: Error>(_ change: (inout Headers) throws(Failure) -> Void) throws(Failure) {
        try headers.withLock { (headers) throws(Failure) in try change(&headers) }
    }
}

extension Headers {
    /// The headers as they are sent.
    var sent: HTTPFields {
        get throws(RequestError) {
            do throws(HTTPHeaderError) {
                return try fields
            } catch {
                throw RequestError(error)
            }
        }
    }
}
