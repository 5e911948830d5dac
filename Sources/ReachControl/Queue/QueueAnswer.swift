package import ReachCore
package import ReachQueue

/// What the server answered, with a part of the body.
package struct QueueAnswer: Hashable, Sendable {
    package var id: Int64
    /// `done`, or `dead` where the status is not one that the request accepts.
    package var state: QueuedRequestState
    package var status: Int
    package var headers: [HeaderField]
    /// Of the whole body.
    package var bodyBytes: Int64
    /// Where ``bytes`` begin in it.
    package var offset: Int64
    /// Fewer than were asked for only at the end of the body, and at most ``longest``.
    package var bytes: [UInt8]

    /// As much as a reply of the control socket has room for, in base64 with room to spare.
    package static let longest = 512 << 10

    package init(
        id: Int64, state: QueuedRequestState, status: Int, headers: [HeaderField], bodyBytes: Int64, offset: Int64,
        bytes: [UInt8]
    ) {
        self.id = id
        self.state = state
        self.status = status
        self.headers = headers
        self.bodyBytes = bodyBytes
        self.offset = offset
        self.bytes = bytes
    }
}
