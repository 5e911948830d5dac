package import ReachQueue
package import ReachTransfer

/// The program that owns the requests, and may change their attempts while it runs: the hooks of a session. The
/// daemon's requests outlive their clients and have none. Confined to the loop; nothing here may wait.
package protocol AttemptHost: AnyObject {
    /// An attempt is about to start. The host may change how it is sent, not what is sent, nor the path.
    func prepare(_ transfer: inout TransferRequest, of id: RequestID)
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
    /// The attempt has ended. An event reports later what that means for the request.
    func ended(_ report: TransferReport, sent: TransferRequest, of id: RequestID)
}
