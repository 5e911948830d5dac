public import ReachSerialization
internal import Synchronization

extension RequestTask {
    /// Waits for the response. Resumes the task if it was never resumed.
    ///
    /// Cancelling the Swift task cancels the request. In a session with a directory it ends only the waiting, and the
    /// request continues. ``RequestOptions/isCancelledWithWaiting`` chooses for one request.
    ///
    /// - Throws: The request's error, or a ``RequestError`` of the kind `cancelled` with the word `wait-cancelled` if
    ///   only the waiting was cancelled.
    @discardableResult
    public func response() async throws(RequestError) -> RequestResponse {
        if !state.withLock({ $0.wasResumed }) { resume() }
        guard let result = await awaitResult() else {
            throw RequestError(.cancelled, "wait-cancelled", "the waiting was cancelled; the request was not")
        }
        return try result.get()
    }

    /// Waits for the body decoded by the response serializer, as ``response()`` does; `nil` for an empty body.
    @discardableResult
    public func value() async throws(RequestError) -> ResponseObject? { try await response().object }

    /// Waits until the request is stored; in a session with a directory, on disk. Resumes the task if it was never
    /// resumed.
    ///
    /// - Returns: The number of the request in the queue.
    /// - Throws: The error with which the request ended before it was stored.
    @discardableResult
    public func stored() async throws(RequestError) -> Int64 {
        if !state.withLock({ $0.wasResumed }) { resume() }
        let number = await withCheckedContinuation { continuation in
            if !core.perform({ $0.whenStored(self) { continuation.resume(returning: $0) } }) {
                continuation.resume(returning: nil)
            }
        }
        if let number { return number }
        if case .failure(let error) = result { throw error }
        throw requestState == .completed ? .notStored : .closed
    }

    /// The progress from now on, beginning with the current one; ends with the task. A slow consumer receives only the
    /// newest value.
    public var progressUpdates: AsyncStream<TaskProgress> {
        AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
            let number = state.withLock { $0.isOver ? nil : $0.audience.add(continuation) }
            continuation.yield(progress)
            guard let number else { return continuation.finish() }
            continuation.onTermination = { [weak self] _ in
                self?.state.withLock { $0.audience.removeStream(number) }
            }
        }
    }

    private var continuesWithoutWaiting: Bool { !(options.isCancelledWithWaiting ?? !core.keepsOnDisk) }

    /// Waits for the result; `nil` if the waiting was cancelled first, and the request was not.
    private func awaitResult() async -> Result<RequestResponse, RequestError>? {
        let number = state.withLock { $0.audience.nextNumber() }
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let outcome: Result<RequestResponse, RequestError>?? = state.withLock { state in
                    if let result = state.result { return .some(result) }
                    // A task that was cancelled before ends by its own cancellation.
                    if Task.isCancelled, continuesWithoutWaiting { return .some(nil) }
                    state.audience.add(TaskWaiter(number: number, continuation: continuation))
                    return nil
                }
                if let outcome { continuation.resume(returning: outcome) }
            }
        } onCancel: {
            guard continuesWithoutWaiting else { return cancel() }
            let waiter = state.withLock { $0.audience.removeWaiter(number) }
            waiter?.continuation.resume(returning: nil)
        }
        if result != nil { markReceived() }
        return result
    }

    /// Deletes the stored result, which the caller has.
    func markReceived() { state.withLock { forgetting(&$0) }?() }
}

/// Blocks of code on the main actor, such as a view model's. The blocks of other members are `@Sendable` and may run on
/// any thread, so that they cannot use what belongs to the main actor.
///
///     task.whenCompleteOnMain { self.result = $0 }
///
/// With ``RequestSessionOptions/delivery`` `.main` they are called in one order with all other blocks. With any other
/// delivery they are called later than the others, in their own order. On Linux nothing runs the main actor unless the
/// program has an async `main`, or calls `dispatchMain()`.
extension RequestTask {
    /// Calls a block on the main actor when the task ends, or soon if it is over; as ``whenComplete(_:)`` does.
    public func whenCompleteOnMain(
        _ completion: @escaping @MainActor @Sendable (Result<RequestResponse, RequestError>) -> Void
    ) {
        whenComplete { [core] result in core.onMain { completion(result) } }
    }

    /// Calls a block on the main actor with the progress, as ``whenProgressed(_:)`` does.
    public func whenProgressedOnMain(_ block: @escaping @MainActor @Sendable (TaskProgress) -> Void) {
        whenProgressed { [core] progress in core.onMain { block(progress) } }
    }
}

extension RequestSession {
    /// Adds a block that is called on the main actor, as ``addObserver(forName:task:using:)`` does.
    @discardableResult
    public func addObserverOnMain(
        forName name: RequestNotification? = nil, task: RequestTask? = nil,
        using block: @escaping @MainActor @Sendable (RequestEvent) -> Void
    ) -> RequestObserver {
        addObserver(forName: name, task: task) { [core] event in core.onMain { block(event) } }
    }
}
