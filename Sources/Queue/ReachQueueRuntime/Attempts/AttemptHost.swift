package import ReachQueue
package import ReachTransfer

/// The program that owns the requests, and may change their attempts while it runs: the hooks of a session. The
/// daemon's requests outlive their clients and have none. Confined to the loop; nothing here may wait.
package protocol AttemptHost: AnyObject {
    /// The request's interceptor is to prepare its next attempt, which has no slot yet.
    ///
    /// - Parameter reply: Called once, on the loop, unless the request is abandoned: whether the attempt can be made.
    func intercept(_ id: RequestID, reply: @escaping (Bool) -> Void)
    /// The attempt has this answer, or the destination failed. If an interceptor judges it, the queue hears of it
    /// afterwards; the attempt has no slot meanwhile.
    ///
    /// - Parameters:
    ///   - end: The answer or the failure, as the queue would receive it.
    ///   - reply: Called once, on the loop, after this function has returned, unless the request is abandoned.
    /// - Returns: Whether an interceptor judges it.
    func judge(
        _ end: AttemptEnd, _ report: TransferReport, to sent: TransferRequest, of id: RequestID,
        reply: @escaping (InterceptorVerdict) -> Void
    ) -> Bool
    /// The request is no longer in its interceptor's hands.
    func abandon(_ id: RequestID)
    /// An attempt is about to start. The host may change how it is sent, not what is sent, nor the path.
    func prepare(_ transfer: inout TransferRequest, of id: RequestID)
    /// An exchange of a resumable upload is about to start, of which an attempt makes several. The host sets what
    /// belongs to one exchange: cookies, and credentials that an earlier one was asked for.
    func prepareExchange(_ transfer: inout TransferRequest, of id: RequestID)
    /// The head of an answer has arrived, and nothing of its body has been read. The host may cancel the request.
    ///
    /// - Parameter sent: The request that it answers: after redirects the last one.
    /// - Returns: The path of a file for the body of a success; `nil` keeps the default.
    func received(_ head: ResponseHead, to sent: TransferRequest, of id: RequestID) -> String?
    /// An exchange has ended, with a whole answer or without.
    ///
    /// - Parameter sent: The request of the exchange.
    /// - Returns: The next request of the same attempt: to the target of a redirect, or again with credentials. `nil`
    ///   makes this answer the result.
    func next(after report: TransferReport, to sent: TransferRequest, of id: RequestID) -> TransferRequest?
    /// The attempt has ended. An event reports later what this means for the request.
    ///
    /// - Parameter report: The host may replace an answer by the one that it stands for, as a cache does with a 304.
    func ended(_ report: inout TransferReport, sent: TransferRequest, of id: RequestID)
    /// A piece of the answer's body has arrived, where `prepare` asked for pieces (``TransferSink/events``,
    /// ``TransferRequest/reportsBody``).
    func received(_ bytes: [UInt8], of id: RequestID)
    /// The proxy for requests to this URL: the path that counts is then the one to the proxy.
    func proxy(for url: TransferURL) -> TransferProxy
    /// Whether there is room for more pieces. If not, the connection waits for ``QueueEngine/resumeReading(_:)``.
    /// Called while bytes are read, so that it must only look.
    func hasRoom(for id: RequestID) -> Bool
}

extension AttemptHost {
    package func intercept(_ id: RequestID, reply: @escaping (Bool) -> Void) { reply(true) }

    package func judge(
        _ end: AttemptEnd, _ report: TransferReport, to sent: TransferRequest, of id: RequestID,
        reply: @escaping (InterceptorVerdict) -> Void
    ) -> Bool { false }

    package func abandon(_ id: RequestID) {}

    package func received(_ bytes: [UInt8], of id: RequestID) {}

    package func proxy(for url: TransferURL) -> TransferProxy { .none }

    package func hasRoom(for id: RequestID) -> Bool { true }

    package func prepareExchange(_ transfer: inout TransferRequest, of id: RequestID) {}
}
