package import ReachCore
package import ReachQueue

/// What the server answered, with a part of the body.
package struct QueueAnswer: Hashable, Sendable {
    package var id: Int64
    /// `done`, or `dead` where the status is not one that the request accepts.
    package var state: QueuedRequestState
    package var status: Int
    /// Those that a reply has room for: ``fitting(_:)``.
    package var headers: [HeaderField]
    /// Of the whole body.
    package var bodyBytes: Int64
    /// Where ``bytes`` begin in it.
    package var offset: Int64
    /// Fewer than were asked for only at the end of the body, and at most ``longest``.
    package var bytes: [UInt8]

    /// As much as a reply of the control socket has room for, in base64 with room to spare.
    package static let longest = 512 << 10

    /// What the headers may take in JSON. A server can send so many, and with such bytes, that they alone would fill a
    /// reply.
    private static let headerBytes = 320 << 10

    /// The first headers, as many as fit into a reply next to the longest piece of a body. Those of most answers take
    /// less than 1 KiB.
    package static func fitting(_ headers: [HeaderField]) -> [HeaderField] {
        var left = headerBytes
        return Array(
            headers.prefix { header in
                // {"name":"","value":""}, and a comma.
                left -= jsonBytes(header.name) + jsonBytes(header.value) + 23
                return left >= 0
            })
    }

    /// The most that JSON takes for a text: six bytes for a control character.
    private static func jsonBytes(_ text: String) -> Int {
        text.utf8.reduce(0) { sum, byte in
            switch byte {
            case ..<0x20, 0x7f: sum + 6
            case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): sum + 2
            default: sum + 1
            }
        }
    }

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
