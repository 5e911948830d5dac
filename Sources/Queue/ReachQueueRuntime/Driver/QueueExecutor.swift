package import ReachQueue

/// Makes attempts for the queue on the driver's loop, and reports to the driver how they end.
package protocol QueueExecutor: AnyObject {
    /// The queue's file is open. The driver starts nothing before.
    ///
    /// - Parameter contents: What it has, with the answers and uploads that earlier attempts began.
    func begin(_ contents: StoreContents)
    /// Sends the request by the order's path and by no other. Reports ``QueueInput/requestSent(_:)`` before the first
    /// byte of the request, and ``QueueInput/ended(_:_:)`` once.
    func start(_ order: AttemptOrder, _ request: QueuedRequest)
    /// Ends the attempt, and reports nothing more of it.
    func abort(_ id: RequestID)
    /// Has the request's interceptor prepare it. Reports ``QueueInput/prepared(_:isReady:)``.
    func prepare(_ id: RequestID)
    /// Ends the preparation of a request, or the judgement of its answer, and reports nothing more of it.
    func abandon(_ id: RequestID)
    /// Finds out whether the path works. Reports ``QueueInput/pathChecked(interfaceIndex:works:)``.
    func checkPath(_ path: QueuePath)
    /// Watches the path to a destination. Reports it by ``QueueInput/targetPath(_:_:)``, at first and whenever it
    /// changes.
    ///
    /// - Parameter owner: The user whose request needs it first.
    func watch(_ destination: Destination, for owner: UInt32)
    func unwatch(_ destination: Destination)
    /// Follows the route to a destination. Reports it by ``QueueInput/routes(_:)``, at first and whenever it changes.
    func followRoute(_ destination: Destination)
    func unfollowRoute(_ destination: Destination)
    /// Resolves a destination's name. Reports ``QueueInput/lookedUp(_:_:)``.
    func lookUp(_ destination: Destination, for owner: UInt32)
    /// A request has changed, which is committed. Called before the queue's owner hears of it.
    func published(_ event: QueueEvent)
    /// There are unfinished requests now, or none any more. At first there are none.
    func update(hasRequests: Bool)
}

extension QueueExecutor {
    package func begin(_ contents: StoreContents) {}

    package func published(_ event: QueueEvent) {}

    package func update(hasRequests: Bool) {}

    // Without interceptors there is nothing to prepare.
    package func prepare(_ id: RequestID) {}
    package func abandon(_ id: RequestID) {}
}
