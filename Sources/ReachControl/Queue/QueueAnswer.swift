package import ReachCore

/// What the server answered, with a part of the body.
package struct QueueAnswer: Hashable, Sendable {
    package let id: Int64
    /// `done`, or `dead` where the status is not one that the request accepts.
    package let state: String
    package let status: Int
    package let headers: [HTTPField]
    /// Of the whole body.
    package let bodyBytes: Int64
    /// Where ``bytes`` begin in it.
    package let offset: Int64
    /// Fewer than were asked for only at the end of the body, and at most ``longest``.
    package let bytes: [UInt8]

    /// As much as a reply of the control socket has room for, in base64 with room to spare.
    package static let longest = 512 << 10

    package init(
        id: Int64, state: String, status: Int, headers: [HTTPField], bodyBytes: Int64, offset: Int64, bytes: [UInt8]
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
