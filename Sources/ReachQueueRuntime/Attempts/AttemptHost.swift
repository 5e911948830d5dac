package import ReachQueue
package import ReachTransfer

/// A program whose requests these are, and who has a say in their attempts while it runs: the hooks of a session. The
/// daemon's requests outlive whoever made them, and have none. Confined to the loop; nothing here may wait.
package protocol AttemptHost: AnyObject {
    /// The request's interceptor is to prepare its next attempt, which has no slot yet.
    ///
    /// - Parameter reply: Called once, on the loop, unless the request is abandoned: whether the attempt can be made.
    func intercept(_ id: RequestID, reply: @escaping (Bool) -> Void)
    /// The attempt has this answer. If an interceptor judges it, the queue hears of it afterwards; the attempt has no slot
    /// meanwhile.
    ///
    /// - Parameters:
    ///   - end: The answer, as the queue would receive it.
    ///   - reply: Called once, on the loop, after this function has returned, unless the request is abandoned.
    /// - Returns: Whether an interceptor judges it.
    func judge(
        _ end: AttemptEnd, _ report: TransferReport, to sent: TransferRequest, of id: RequestID,
        reply: @escaping (InterceptorVerdict) -> Void
    ) -> Bool
    /// The request is no longer in its interceptor's hands.
    func abandon(_ id: RequestID)
    /// An attempt is about to be made. What may be changed is how it is sent, not what, nor by which path.
    func prepare(_ transfer: inout TransferRequest, of id: RequestID)
    /// The head of an answer has arrived, and nothing of its body was read yet. The request may be cancelled from here.
    ///
    /// - Parameter sent: The request that it answers: after redirects the last one.
    /// - Returns: The path of a file for its body, if it is one of a success; `nil` leaves it where it was to go.
    func received(_ head: ResponseHead, to sent: TransferRequest, of id: RequestID) -> String?
    /// An exchange has ended, with a whole answer or without.
    ///
    /// - Parameter sent: What it was about.
    /// - Returns: What to send on, as a part of the same attempt: to where a redirect leads, or again with credentials.
    ///   `nil` takes the answer for the request's.
    func next(after report: TransferReport, to sent: TransferRequest, of id: RequestID) -> TransferRequest?
    /// The attempt has ended; what it means to the request is told by an event later.
    func ended(_ report: TransferReport, sent: TransferRequest, of id: RequestID)
}

extension AttemptHost {
    package func intercept(_ id: RequestID, reply: @escaping (Bool) -> Void) { reply(true) }

    package func judge(
        _ end: AttemptEnd, _ report: TransferReport, to sent: TransferRequest, of id: RequestID,
        reply: @escaping (InterceptorVerdict) -> Void
    ) -> Bool { false }

    package func abandon(_ id: RequestID) {}
}
