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
