package import ReachQueue

/// What a server asks of the daemon's request queue. It is asked on the event loop's thread, and is answered there,
/// later and once for each call.
///
/// Everybody has a queue: the caller's user, as the kernel named it, owns what it adds, and sees and touches nothing of
/// others. Root and the daemon's own user see and touch everything. Of a request of somebody else the answer is the
/// same as of one that is not there.
package protocol QueueService: AnyObject {
    typealias Reply<Value> = (Result<Value, QueueServiceError>) -> Void

    /// Queues a request. The answer comes when it is safe on disk.
    ///
    /// - Parameter request: A body ``RequestBody/spooled(name:bytes:)`` is an upload, by the name that
    ///   ``upload(_:for:reply:)`` answered; its bytes are the queue's to count. It can be used once.
    func add(_ request: RequestSpecification, for caller: Caller, reply: @escaping Reply<QueueReceipt>)

    /// Stores a piece of a body that is too large for one message. The queue deletes a body that no
    /// ``add(_:for:reply:)`` uses ``QueueUpload/lifetime`` after its last piece.
    func upload(_ piece: QueueUpload.Piece, for caller: Caller, reply: @escaping Reply<QueueUpload>)

    /// Requests by their numbers, from the lowest: those on their way, and those that are over and still kept.
    ///
    /// - Parameter inTurn: Runs a part of the work in a turn of the caller's user, or not at all if the caller has hung
    ///   up. A part takes less than a millisecond.
    func list(
        _ filter: QueueFilter, for caller: Caller, inTurn: @escaping (_ part: @escaping () -> Void) -> Void,
        reply: @escaping Reply<QueuePage>)

    func show(_ id: Int64, for caller: Caller, reply: @escaping Reply<RequestReport>)

    /// Why it is not running, and what would let it.
    func explain(_ id: Int64, for caller: Caller, reply: @escaping Reply<RequestReport>)

    /// Keeps requests from starting, and ends attempts of them that can be repeated. Holding a request twice changes
    /// nothing.
    func hold(_ selection: QueueSelection, for caller: Caller, reply: @escaping Reply<Void>)

    /// Undoes ``hold(_:for:reply:)``: of one request or of all, whichever was held.
    func release(_ selection: QueueSelection, for caller: Caller, reply: @escaping Reply<Void>)

    /// Holds the queue of all users for the fleet, or releases it. It is independent of ``hold(_:for:reply:)`` and of
    /// ``release(_:for:reply:)``. The server has checked that the caller may.
    ///
    /// - Parameter reason: Why, for people.
    func setFleetHold(_ isHeld: Bool, reason: String?, reply: @escaping Reply<Void>)

    /// What holds the caller's queue as a whole; for root, everybody's.
    func holds(for caller: Caller, reply: @escaping Reply<[QueueHold]>)

    /// The caller's queue as a whole; for root, everybody's.
    func status(for caller: Caller, reply: @escaping Reply<QueueStatus>)

    /// Ends a request for good.
    func cancel(_ id: Int64, for caller: Caller, reply: @escaping Reply<Void>)

    /// Sends dead requests again, with the same keys and the time they had at first.
    ///
    /// - Parameter reason: With ``QueueSelection/all``: only those that died of it (``RequestReport/reason``).
    /// - Parameter reply: How many there were.
    func retry(_ selection: QueueSelection, reason: String?, for caller: Caller, reply: @escaping Reply<Int>)

    /// What the server answered to a request that is over.
    func result(
        _ id: Int64, from offset: Int64, upTo count: Int, for caller: Caller, reply: @escaping Reply<QueueAnswer>)

    /// Watches requests. Nothing that happens between the call and the first notice is missed.
    ///
    /// - Parameter id: One request, or all that the caller may see.
    /// - Parameter sink: Takes what happens from now on, on the event loop's thread; never from within this call.
    func watch(
        _ id: Int64?, for caller: Caller, sink: @escaping (QueueNotice) -> Void
    ) throws(QueueServiceError) -> QueueWatch
}

/// One request, or all of the caller's; for root, everybody's.
package enum QueueSelection: Hashable, Sendable {
    case request(Int64)
    case all
}

/// What is watched, until it is cancelled.
package struct QueueWatch {
    package let cancel: () -> Void

    package init(cancel: @escaping () -> Void) { self.cancel = cancel }
}
