package import ReachQueue

/// Whoever makes attempts for the queue, on the driver's loop. It tells the driver what comes of them.
package protocol QueueExecutor: AnyObject {
    /// The queue's file is open. Nothing was started before.
    ///
    /// - Parameter begun: Requests of whose answers a part is in the spool.
    func begin(_ begun: Set<RequestID>)
    /// Sends the request by the order's path and by no other. To be told: ``QueueInput/requestSent(_:)`` before the
    /// first byte of the request, ``QueueInput/ended(_:_:)`` once.
    func start(_ order: AttemptOrder, _ request: QueuedRequest)
    /// Ends the attempt, and tells nothing more of it.
    func abort(_ id: RequestID)
    /// Has the request's interceptor prepare it. Reports ``QueueInput/prepared(_:isReady:)``.
    func prepare(_ id: RequestID)
    /// Ends the preparation of a request, or the judgement of its answer, and reports nothing more of it.
    func abandon(_ id: RequestID)
    /// Finds out whether the path works. To be told: ``QueueInput/pathChecked(interfaceIndex:works:)``.
    func checkPath(_ path: QueuePath)
    /// Watches the path to a destination. Reports it by ``QueueInput/targetPath(_:_:)``, at first and whenever it changes.
    ///
    /// - Parameter owner: The user whose request needs it first.
    func watch(_ destination: Destination, for owner: UInt32)
    func unwatch(_ destination: Destination)
}

extension QueueExecutor {
    package func begin(_ begun: Set<RequestID>) {}

    // Without interceptors there is nothing to prepare.
    package func prepare(_ id: RequestID) {}
    package func abandon(_ id: RequestID) {}
}
