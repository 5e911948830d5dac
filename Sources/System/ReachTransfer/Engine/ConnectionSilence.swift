/// What the kernel says of the connection by which a request was sent: whether anything of it was acknowledged.
///
/// A router that forgot a connection, or was replaced, drops its packets without a word. The kernel sends them again
/// and again, and the program waits for an answer.
struct ConnectionSilence: Equatable, Sendable {
    enum Verdict { case heard, unknown, silent }

    /// The segments that were sent and not acknowledged.
    var unacknowledged: UInt32
    /// How often in a row the first of them was sent again because its time was over.
    var timeouts: UInt32
    /// The time since the other end acknowledged anything.
    var sinceAcknowledgment: Duration
    /// The time since the request began to be sent.
    var sinceRequest: Duration

    /// - Parameter limit: How often in a row something is sent again until the connection counts as dead.
    func verdict(limit: UInt32) -> Verdict {
        if unacknowledged == 0 || sinceAcknowledgment < sinceRequest { return .heard }
        return timeouts >= limit ? .silent : .unknown
    }

    /// The kernel waits for 0.2 s at least, and each time twice as long, so this takes 3 s: a request that may arrive
    /// twice then loses little by another connection.
    static let limitIfRepeatable: UInt32 = 4
    /// 12.6 s at least: a request that may not arrive twice is given up, so a short outage must not suffice.
    static let limit: UInt32 = 6

    static let firstLook = Duration.seconds(3)
    static let nextLook = Duration.seconds(1)
}
