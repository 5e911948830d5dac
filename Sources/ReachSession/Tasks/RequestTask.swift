public import ReachSerialization
internal import Synchronization

/// One request of a session, from its making to its end: what NSURLSessionTask was to AFNetworking.
///
/// It is suspended when it is made; ``resume()`` hands it to the session's queue, which sends it when the network allows.
/// ``RequestLife`` has the table of its states. Its user's suspension and the network's are different reasons, and neither
/// clears the other.
///
/// When it ends, its completions are called first, then observers of ``RequestNotification/didComplete`` are told, each
/// once, where ``RequestSessionOptions/delivery`` says; who awaits ``response()`` goes on as soon as there is something to
/// go on with. The order between tasks is that in which their answers are ready.
///
/// All members may be used from any thread. A task that runs is kept by its session; letting go of it ends nothing.
public final class RequestTask: Sendable {
    /// What is done with bodies.
    public enum Kind: String, Hashable, Sendable, CaseIterable {
        /// The answer's body is handed over.
        case data
        /// The same, for a body of bytes or a file.
        case upload
        /// The answer's body goes into a file.
        case download
    }

    /// What a completion is called with.
    public typealias Completion = @Sendable (Result<RequestResponse, RequestError>) -> Void

    /// No other task of this session, in this process, has it.
    public let identifier: UInt64
    /// What is done with bodies.
    public let kind: Kind
    /// As the serializer left it. Of a request of an earlier run the body is missing.
    public let originalRequest: HTTPRequest
    /// When and how often it is sent.
    public let options: RequestOptions
    let plan: TaskPlan
    let core: SessionCore
    let state: Mutex<TaskState>

    init(identifier: UInt64, plan: TaskPlan, core: SessionCore, life: RequestLife = RequestLife()) {
        self.identifier = identifier
        self.plan = plan
        kind = plan.kind
        originalRequest = plan.request
        options = plan.options
        self.core = core
        state = Mutex(TaskState(life: life))
    }

    // MARK: - What it is

    /// Where it stands.
    public var requestState: RequestState { state.withLock { $0.life.state } }

    /// Why it is held back; none where it is not. ``explanation()`` says it in words.
    public var suspensionReasons: SuspensionReasons { state.withLock { $0.life.reasons } }

    /// Its number in the queue, which outlives this process in a session with a directory; `nil` until it is stored.
    public var storedNumber: Int64? { state.withLock { $0.storedNumber } }

    /// How far it is.
    public var progress: TaskProgress { state.withLock { $0.progress } }

    /// What came of it; `nil` while it is not over.
    public var result: Result<RequestResponse, RequestError>? { state.withLock { $0.result } }

    // MARK: - What is done with it

    /// Lets it go on, or hands it to the queue the first time. Does nothing where its user does not hold it.
    ///
    /// It starts when the network is as its constraint asks for, and its turn has come.
    @discardableResult
    public func resume() -> RequestTask {
        let isFirst = state.withLock { state in
            defer { state.wasResumed = true }
            return !state.wasResumed
        }
        let effects = handle(.resume(.user))
        guard !requestState.isFinal else { return self }
        if isFirst { core.start(self) } else if !effects.isEmpty || !suspensionReasons.isEmpty { core.release(self) }
        return self
    }

    /// Holds it, whatever the network does, until it is resumed. An attempt that is on its way is ended, and made again
    /// later; one that may not be made twice is let finish.
    public func suspend() {
        handle(.suspend(.user))
        if state.withLock({ $0.wasResumed }) { core.hold(self) }
    }

    /// Gives it up. Completions are told ``RequestError/Kind/cancelled`` at once, unless it was over before. What a server
    /// has received of it, it has received.
    public func cancel() {
        if end(with: .cancelled, by: .cancel) { core.cancel(self) }
    }

    // MARK: - Who is told

    /// Calls a block when the task ends; soon, if it is over. Every block is called once, in the order of their coming.
    public func whenComplete(_ completion: @escaping Completion) {
        state.withLock { state in
            guard let result = state.result else { return state.completions.append(completion) }
            core.pump.append { completion(result) }
            forgetAfterCalls(&state)
        }
        core.deliver()
    }

    /// Calls a block with every progress that is told: at most ten times a second, and once before the end.
    public func whenProgressed(_ block: @escaping @Sendable (TaskProgress) -> Void) {
        state.withLock { $0.progressBlocks.append(block) }
    }
}
