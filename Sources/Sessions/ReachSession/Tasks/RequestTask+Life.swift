internal import Dispatch
internal import ReachCore
internal import ReachLoop
internal import ReachSerialization
internal import ReachTransfer
internal import Synchronization

/// A task's transitions. Calls to completions and observers are appended to the pump under the task's lock, which fixes
/// their order, and run with no lock held.
extension RequestTask {
    /// Handles any event but the end of the task.
    @discardableResult
    func handle(_ event: RequestLife.Event) -> [RequestLife.Effect] {
        let effects = state.withLock { handle(event, &$0) }
        if !effects.isEmpty { core.deliver() }
        return effects
    }

    /// Handles any event but the end of the task. Requires the lock; the caller delivers afterwards.
    func handle(_ event: RequestLife.Event, _ state: inout TaskState) -> [RequestLife.Effect] {
        let effects = state.life.handle(event)
        count(&state)
        for effect in effects { if let name = RequestNotification(effect) { notify(name) } }
        return effects
    }

    /// Ends the task without an answer.
    ///
    /// - Parameter event: `fail`, or `cancel`.
    /// - Returns: `false` if the task was already over.
    @discardableResult
    func end(with error: RequestError, by event: RequestLife.Event = .fail) -> Bool {
        guard close(by: event) else { return false }
        conclude(.failure(error))
        return true
    }

    /// Ends the task with a server's answer, after the serializer has decoded it, on another thread if that takes time.
    ///
    /// - Parameters:
    ///   - error: The queue's verdict on the answer; `nil` for one that was accepted.
    ///   - waiters: Resumes the callers that await the task, where nothing is decoded; `nil` resumes them at once.
    func end(with answer: TaskAnswer, error: RequestError?, waiters: WaiterBatch? = nil) {
        if close(by: .fail) { conclude(answer, error: error, waiters: waiters) }
    }

    /// Delivers a server's answer to a task that was closed.
    func conclude(_ answer: TaskAnswer, error: RequestError?, waiters: WaiterBatch? = nil) {
        // There is nothing to decode: a change of threads would take longer.
        if core.hasNothingToDecode { return conclude(judge(answer, error), waiters: waiters) }
        let queue = core.options.decodingQueue ?? .global()
        queue.async { self.conclude(self.judge(answer, error)) }
    }

    /// Moves the task to its final state. `conclude` has to deliver the result.
    ///
    /// - Returns: `false` if the task was already over.
    func close(by event: RequestLife.Event) -> Bool {
        state.withLock { state in
            // A running task finishes, any other one fails: to the user it is the same.
            let isRunning = state.life.state == .running
            let effects = state.life.handle(event == .fail && isRunning ? .finish : event)
            count(&state)
            return effects.contains(.complete)
        }
    }

    private func judge(_ answer: TaskAnswer, _ error: RequestError?) -> Result<RequestResponse, RequestError> {
        let metrics = metrics
        if let path = answer.path, error == nil {
            return .success(RequestResponse(answer.response, path: path, cacheUse: nil, metrics: metrics))
        }
        if let channel = state.withLock({ $0.channel }), error == nil {
            // A stored response, or that of another task, comes in one piece.
            if !channel.hasBegun, !answer.body.isEmpty {
                channel.begin(answer.response)
                channel.append(answer.body)
            }
            return .success(RequestResponse(answer.response, cacheUse: answer.cacheUse, metrics: metrics))
        }
        let began = SystemClock.boot
        let serialized = core.options.responseSerializer.serialize(answer.response.head, body: answer.body)
        let response = RequestResponse(
            answer.response, body: answer.body, object: serialized.object, cacheUse: answer.cacheUse, metrics: metrics,
            decodingTime: SystemClock.boot - began)
        // A serializer that accepts a 404 makes it a success.
        guard let fault = serialized.error else { return .success(response) }
        return .failure(RequestError(fault, response))
    }

    /// Delivers the result to completions, then to observers, and to callers that await it.
    func conclude(_ result: Result<RequestResponse, RequestError>, waiters batch: WaiterBatch? = nil) {
        // First: another thread may call the completions as soon as they are in the pump.
        core.forget(identifier)
        for instrument in core.options.instruments { instrument.completed(self, result) }
        let (audience, session, channel, dependents) = state.withLock { state in
            state.result = result
            let isFetched = !state.audience.completions.isEmpty
            for completion in state.audience.completions { core.pump.append { completion(result) } }
            notify(.didComplete)
            if isFetched { forgetAfterCalls(&state) }
            defer {
                state.audience = TaskAudience()
                (state.dependencies, state.dependents) = ([], [])
                state.session = nil
            }
            return (state.audience, state.session, state.channel, state.dependents)
        }
        for waiter in audience.waiters {
            if let batch {
                batch.append(waiter.continuation, result)
            } else {
                waiter.continuation.resume(returning: result)
            }
        }
        for stream in audience.progressStreams { stream.finish() }
        for stream in audience.requestStreams { stream.finish() }
        channel?.finish(result)
        core.deliver()
        if !dependents.isEmpty {
            let isSuccess = (try? result.get()) != nil
            for dependent in dependents { dependent(isSuccess) }
        }
        // This may be the last reference: the session closes now, with no lock held.
        withExtendedLifetime(session) {}
    }

    /// Appends the deletion of the stored result to the pump, behind the completions: once these were called, it need
    /// not be kept. Requires the lock.
    func forgetAfterCalls(_ state: inout TaskState) {
        guard let forget = forgetting(&state) else { return }
        core.pump.append(forget)
    }

    /// Marks the result as received. Requires the lock.
    ///
    /// - Returns: The deletion of the stored result; `nil` if it was deleted before, or nothing is stored.
    func forgetting(_ state: inout TaskState) -> (@Sendable () -> Void)? {
        guard core.keepsOnDisk, !state.isFetched, let number = state.storedNumber else { return nil }
        state.isFetched = true
        return { [core] in core.perform { $0.forget(number) } }
    }

    /// Appends a notification to the pump, if it has observers. Requires the lock.
    private func notify(_ name: RequestNotification) {
        guard core.observers.isObserved(name, of: identifier) else { return }
        core.pump.append { self.core.observers.notify(RequestEvent(name: name, task: self)) }
    }

    /// Counts the task for the activity. Requires the lock, so that the end of a request is never counted before its
    /// start.
    private func count(_ state: inout TaskState) {
        let counts = state.life.state == .resumed || state.life.state == .running
        guard counts != state.isCounted else { return }
        state.isCounted = counts
        core.activity.count(counts)
    }

    /// Reports that the server continues the download.
    func downloadResumed(at offset: Int64) {
        state.withLock { state in
            state.resumeOffset = offset
            notify(.didResumeAtOffset)
        }
        core.deliver()
    }

    func update(_ progress: TaskProgress) {
        let streams: [AsyncStream<TaskProgress>.Continuation] = state.withLock { state in
            guard !state.isOver else { return [] }
            state.progress = progress
            for block in state.audience.progressBlocks { core.pump.append { block(progress) } }
            return state.audience.progressStreams
        }
        for stream in streams { stream.yield(progress) }
        core.deliver()
    }
}

/// A server's answer, before a serializer has decoded it.
struct TaskAnswer: Sendable {
    var response: WebResponse
    var body: [UInt8]
    /// The file that holds the body instead.
    var path: String?
    /// The use of the cache, if it came from there.
    var cacheUse: CacheUse?
}
