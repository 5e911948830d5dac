package import ReachCore

/// How far an attempt is: bytes of bodies.
package struct QueueProgress: Hashable, Sendable {
    package let id: Int64
    package let interface: String
    package let began: Instant
    package let sent: Int64
    /// `nil` where there is no body to send.
    package let toSend: Int64?
    package let received: Int64
    /// `nil` where the server does not say.
    package let toReceive: Int64?

    package init(
        id: Int64, interface: String, began: Instant, sent: Int64, toSend: Int64?, received: Int64, toReceive: Int64?
    ) {
        self.id = id
        self.interface = interface
        self.began = began
        self.sent = sent
        self.toSend = toSend
        self.received = received
        self.toReceive = toReceive
    }
}
