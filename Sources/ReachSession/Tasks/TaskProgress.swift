/// How far a request is, in bytes of bodies. An attempt that is made again begins anew, but for a download that is gone on
/// with.
public struct TaskProgress: Hashable, Sendable {
    /// So much of the request's body was sent.
    public var sent: Int64 = 0
    /// Of so much; `nil` where there is no body.
    public var toSend: Int64?
    /// So much of the answer's body was received.
    public var received: Int64 = 0
    /// Of so much; `nil` before the answer begins, and where the server does not say.
    public var toReceive: Int64?

    /// Nothing has moved.
    public init() {}

    /// From 0 to 1; `nil` where there is nothing to send.
    public var fractionSent: Double? { Self.fraction(sent, of: toSend) }

    /// From 0 to 1; `nil` where it is not known how much there is.
    public var fractionReceived: Double? { Self.fraction(received, of: toReceive) }

    private static func fraction(_ count: Int64, of total: Int64?) -> Double? {
        total.map { $0 > 0 ? min(Double(count) / Double($0), 1) : 1 }
    }
}
