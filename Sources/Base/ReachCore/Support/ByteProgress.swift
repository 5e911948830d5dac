/// The progress of an exchange, in bytes of bodies. A repeated attempt starts at zero, except for a download that
/// resumes.
public struct ByteProgress: Hashable, Sendable {
    /// Bytes of the request's body sent.
    public var sent: Int64
    /// The length of the request's body in bytes; `nil` if there is no body.
    public var toSend: Int64?
    /// Bytes of the answer's body received.
    public var received: Int64
    /// The length of the answer's body in bytes; `nil` before the answer begins, and if the server does not send a
    /// length.
    public var toReceive: Int64?

    /// No progress, unless some is given.
    public init(sent: Int64 = 0, toSend: Int64? = nil, received: Int64 = 0, toReceive: Int64? = nil) {
        self.sent = sent
        self.toSend = toSend
        self.received = received
        self.toReceive = toReceive
    }

    /// The sent share of the request's body, from 0 to 1; `nil` if there is no body.
    public var fractionSent: Double? { Self.fraction(sent, of: toSend) }

    /// The received share of the answer's body, from 0 to 1; `nil` if its length is unknown.
    public var fractionReceived: Double? { Self.fraction(received, of: toReceive) }

    private static func fraction(_ count: Int64, of total: Int64?) -> Double? {
        total.map { $0 > 0 ? min(Double(count) / Double($0), 1) : 1 }
    }
}
