internal import Dispatch
internal import ReachSerialization
internal import ReachTransfer
internal import Synchronization

/// How a task goes through its life. What is told is appended under the task's lock, which fixes the order, and told with
/// no lock held.
extension RequestTask {
    /// Takes what happens, but for its end.
    @discardableResult
    func handle(_ event: RequestLife.Event) -> [RequestLife.Effect] {
        let effects = state.withLock { state in
            let effects = state.life.handle(event)
            count(&state)
            for effect in effects { if let name = RequestNotification(effect) { tell(name) } }
            return effects
        }
        if !effects.isEmpty { core.deliver() }
        return effects
    }

    /// Ends it without an answer.
    ///
    /// - Parameter event: `fail`, or `cancel`.
    /// - Returns: `false` where it was over before.
    @discardableResult
    func end(with error: RequestError, by event: RequestLife.Event = .fail) -> Bool {
        guard close(by: event) else { return false }
        conclude(.failure(error))
        return true
    }

    /// Ends it with what a server said, once the serializer has looked at that, which it does on a thread of its own.
    ///
    /// - Parameter error: What the queue makes of the answer; `nil` for one that was accepted.
    func end(with answer: TaskAnswer, error: RequestError?) {
        if close(by: .fail) { conclude(answer, error: error) }
    }

    /// Hands over what a server said to a task that was closed.
    func conclude(_ answer: TaskAnswer, error: RequestError?) {
        DispatchQueue.global().async { self.conclude(self.judge(answer, error)) }
    }

    /// From now on nothing happens to it any more; what came of it is to be handed over by `conclude`.
    ///
    /// - Returns: `false` where it was over before.
    func close(by event: RequestLife.Event) -> Bool {
        state.withLock { state in
            // What runs is finished, and what does not run fails: to the user it is the same.
            let isRunning = state.life.state == .running
            let effects = state.life.handle(event == .fail && isRunning ? .finish : event)
            count(&state)
            return effects.contains(.complete)
        }
    }

    private func judge(_ answer: TaskAnswer, _ error: RequestError?) -> Result<RequestResponse, RequestError> {
        if let path = answer.path, error == nil { return .success(RequestResponse(head: answer.head, path: path)) }
        let serialized = core.options.responseSerializer.serialize(answer.head, body: answer.body)
        let response = RequestResponse(head: answer.head, body: answer.body, object: serialized.object)
        // Who has a serializer that takes a 404 wants it.
        guard let fault = serialized.error else { return .success(response) }
        return .failure(RequestError(fault, response))
    }

    /// Hands over what came of it: to completions, then to observers; and to who awaits it.
    func conclude(_ result: Result<RequestResponse, RequestError>) {
        let (waiters, streams) = state.withLock { state in
            state.result = result
            let isFetched = !state.completions.isEmpty
            for completion in state.completions { core.pump.append { completion(result) } }
            tell(.didComplete)
            if isFetched { forgetAfterCalls(&state) }
            defer {
                (state.completions, state.progressBlocks, state.waiters, state.progressStreams) = ([], [], [:], [:])
            }
            return (state.waiters.values.map(\.self), state.progressStreams.values.map(\.self))
        }
        core.ended(self)
        for waiter in waiters { waiter.resume(returning: result) }
        for stream in streams { stream.finish() }
        core.deliver()
    }

    /// Under the lock: somebody has what came of it once those were called who are to be; then it need not be kept.
    func forgetAfterCalls(_ state: inout TaskState) {
        guard let forget = forgetting(&state) else { return }
        core.pump.append(forget)
    }

    /// Under the lock.
    ///
    /// - Returns: What has the queue forget what came of it; `nil` where it has, or keeps nothing.
    func forgetting(_ state: inout TaskState) -> (@Sendable () -> Void)? {
        guard core.keepsOnDisk, !state.isFetched, let number = state.storedNumber else { return nil }
        state.isFetched = true
        return { [core] in core.perform { $0.forget(number) } }
    }

    /// Under the lock.
    private func tell(_ name: RequestNotification) {
        core.pump.append { self.core.observers.tell(RequestEvent(name: name, task: self)) }
    }

    /// Under the lock, so that a request's end is never counted before its beginning.
    private func count(_ state: inout TaskState) {
        let counts = state.life.state == .resumed || state.life.state == .running
        guard counts != state.isCounted else { return }
        state.isCounted = counts
        core.activity.count(counts)
    }

    func take(_ progress: TaskProgress) {
        let streams: [AsyncStream<TaskProgress>.Continuation] = state.withLock { state in
            guard state.result == nil else { return [] }
            state.progress = progress
            for block in state.progressBlocks { core.pump.append { block(progress) } }
            return state.progressStreams.values.map(\.self)
        }
        for stream in streams { stream.yield(progress) }
        core.deliver()
    }
}

/// What a server said, before a serializer has looked at it.
struct TaskAnswer: Sendable {
    var head: HTTPResponse
    var body: [UInt8]
    /// Where it went instead.
    var path: String?
}
