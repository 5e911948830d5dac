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
    /// The attempt has ended; what it means to the request is told by an event later.
    func ended(_ report: TransferReport, sent: TransferRequest, of id: RequestID)
    /// A piece of the answer's body has arrived, where `prepare` asked for pieces (``TransferSink/events``).
    func received(_ bytes: [UInt8], of id: RequestID)
    /// Whether there is room for more pieces. If not, the connection waits for ``QueueEngine/resumeReading(_:)``. Called
    /// while bytes are read, so that it must only look.
    func hasRoom(for id: RequestID) -> Bool
}

extension AttemptHost {
    package func received(_ bytes: [UInt8], of id: RequestID) {}

    package func hasRoom(for id: RequestID) -> Bool { true }
}
