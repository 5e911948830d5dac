public import ReachCore
public import ReachSerialization
internal import Synchronization

/// The progress of a request.
public typealias TaskProgress = ByteProgress

/// One request of a session: the counterpart of AFNetworking's NSURLSessionTask.
///
/// A task is suspended when it is created. ``resume()`` passes it to the session's queue, which sends it when the
/// network allows. ``RequestLife`` has the table of its states. Suspension by the user and for the network are
/// different reasons, and neither clears the other.
///
/// When the task ends, its completions are called first, then observers of ``RequestNotification/didComplete``, each
/// once, on the queue or executor of ``RequestSessionOptions/delivery``. Callers that await ``response()`` resume as
/// soon as the result is ready. Tasks end in the order in which their answers are ready.
///
/// All members may be used from any thread. The session keeps a resumed task alive; releasing the task does not end it.
/// A task that is not over keeps its session, unless ``RequestSession/tasks()`` found it.
public final class RequestTask: Sendable {
    /// The kinds of tasks, by what happens to bodies.
    public enum Kind: String, Hashable, Sendable, CaseIterable {
        /// The answer's body is returned in memory.
        case data
        /// Like `data`, with a request body of bytes or a file.
        case upload
        /// The answer's body is written to a file.
        case download
    }

    /// A block that receives the result of a task.
    public typealias Completion = @Sendable (Result<RequestResponse, RequestError>) -> Void

    /// The task's number, unique in this session and process.
    public let identifier: UInt64
    /// The kind of task.
    public var kind: Kind { plan.kind }
    /// The request as the serializer built it. For a request of an earlier run the body is missing.
    public var originalRequest: WebRequest { plan.request }
    /// When and how often the request is sent.
    public var options: RequestOptions { plan.options }
    /// The program's own name or description of the request (``RequestOptions/tag``).
    public var tag: String? { options.tag }
    let plan: TaskPlan
    let core: SessionCore
    let state: Mutex<TaskState>

    init(
        identifier: UInt64, plan: TaskPlan, core: SessionCore, session: RequestSession? = nil,
        life: RequestLife = RequestLife()
    ) {
        self.identifier = identifier
        self.plan = plan
        self.core = core
        state = Mutex(TaskState(life: life, session: session))
    }

    deinit {
        // The session has forgotten one that was resumed, or is over.
        if state.withLock({ !$0.wasResumed && !$0.isOver }) { core.forget(identifier) }
    }

    // MARK: - State

    /// The state of the request.
    public var requestState: RequestState { state.withLock { $0.life.state } }

    /// The reasons why the request is suspended; empty in other states. ``explanation()`` describes them.
    public var suspensionReasons: SuspensionReasons { state.withLock { $0.life.reasons } }

    /// The number of the request in the queue, which outlives this process in a session with a directory; `nil` until
    /// the request is stored.
    public var storedNumber: Int64? { state.withLock { $0.storedNumber } }

    /// The progress of the request.
    public var progress: TaskProgress { state.withLock { $0.progress } }

    /// The number of bytes from which the server continued the download; `nil` for one from the beginning, and for
    /// other tasks.
    public var resumeOffset: Int64? { state.withLock { $0.resumeOffset } }

    /// Times, addresses and bytes of the request's attempts in this run, so far.
    public var metrics: TaskMetrics { state.withLock { $0.metrics } }

    /// The result; `nil` until the task is over.
    public var result: Result<RequestResponse, RequestError>? { state.withLock { $0.result } }

    // MARK: - Commands

    /// Resumes the task, or passes it to the queue the first time. Has no effect if its user does not suspend it.
    ///
    /// The request starts when the network satisfies its constraint, and its turn has come.
    @discardableResult
    public func resume() -> RequestTask {
        let (isFirst, life, effects) = state.withLock { state in
            defer { state.wasResumed = true }
            let effects = handle(.resume(.user), &state)
            return (!state.wasResumed, state.life, effects)
        }
        if !effects.isEmpty { core.deliver() }
        guard !life.state.isFinal else { return self }
        if isFirst { for instrument in core.options.instruments { instrument.resumed(self) } }
        if isFirst { startAfterDependencies() } else if !effects.isEmpty || !life.reasons.isEmpty { core.release(self) }
        return self
    }

    /// Suspends the task, whatever the network does, until it is resumed. A running attempt is aborted, and repeated
    /// later; one that is not safe to repeat finishes.
    public func suspend() {
        handle(.suspend(.user))
        if state.withLock({ $0.wasResumed }) { core.hold(self) }
    }

    /// Cancels the task. Its completions receive ``RequestError/Kind/cancelled`` at once, unless it was already over.
    /// The server may already have received part of the request, or all of it.
    public func cancel() {
        if end(with: .cancelled, by: .cancel) { core.cancel(self) }
    }

    // MARK: - Callbacks

    /// Calls a block when the task ends, or soon if it is over. Each block is called once, in the order in which the
    /// blocks were added.
    public func whenComplete(_ completion: @escaping Completion) {
        state.withLock { state in
            guard let result = state.result else { return state.audience.completions.append(completion) }
            core.pump.append { completion(result) }
            forgetAfterCalls(&state)
        }
        core.deliver()
    }

    /// Calls a block with the progress: at most ten times a second, and once before the end.
    public func whenProgressed(_ block: @escaping @Sendable (TaskProgress) -> Void) {
        state.withLock { $0.audience.progressBlocks.append(block) }
    }
}
