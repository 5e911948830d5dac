package import ReachQueue
package import ReachTransfer

/// A program whose requests these are, and who has a say in their attempts while it runs: the hooks of a session. The
/// daemon's requests outlive whoever made them, and have none. Confined to the loop; nothing here may wait.
package protocol AttemptHost: AnyObject {
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
    /// The attempt has ended. An event reports later what this means for the request.
    ///
    /// - Parameter report: The host may replace an answer by the one that it stands for, as a cache does with a 304.
    func ended(_ report: inout TransferReport, sent: TransferRequest, of id: RequestID)
}
