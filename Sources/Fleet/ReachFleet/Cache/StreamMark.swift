package import ReachCore

/// What the engine says of a stream, by which a reader sees whether what it read earlier is still there.
package struct StreamMark: Hashable, Sendable {
    /// When the stream was made, as the engine writes it.
    package var created: String
    /// The numbers of its first and last messages.
    package var first: UInt64
    package var last: UInt64
    package var messages: UInt64
    /// Messages that were deleted from its middle.
    package var deleted: UInt64

    package init(created: String, first: UInt64 = 1, last: UInt64, messages: UInt64, deleted: UInt64 = 0) {
        (self.created, self.first, self.last) = (created, first, last)
        (self.messages, self.deleted) = (messages, deleted)
    }

    /// - Parameter info: What the engine says; `nil` if there is no such stream.
    package init?(_ info: JSONValue?) {
        guard let created = info?["created"]?.string, let state = info?["state"] else { return nil }
        func number(_ name: String) -> UInt64 { state[name]?.integer.flatMap { UInt64(exactly: $0) } ?? 0 }
        self.init(
            created: created, first: number("first_seq"), last: number("last_seq"), messages: number("messages"),
            deleted: number("num_deleted"))
    }
}
