internal import ReachCore

/// How far a stream was read, to read on behind it.
struct StreamPosition: Sendable {
    /// The sequence of the last message that was read; 0 for none.
    private(set) var last: UInt64
    /// The sequence of the last message that was stored when the position was made.
    private let end: UInt64
    /// When the stream was made, as the engine writes it; `nil` if there was none.
    private let created: String?

    /// - Parameters:
    ///   - info: What the engine says of the stream; `nil` if there is none.
    ///   - last: 0 to begin with the first message.
    init(_ info: JSONValue?, last: UInt64 = 0) {
        created = info?["created"]?.string
        end = Self.end(of: info)
        self.last = last
    }

    var exists: Bool { created != nil }

    mutating func note(_ sequence: UInt64) { last = max(last, sequence) }

    /// Notes that all was looked at which the stream had when the position was made, also where nothing of it counted.
    mutating func noteFirstReading() { note(end) }

    /// Whether the stream has what was read. It has not if it was made again, or if the engine was restored from a
    /// backup.
    func isContinued(by info: JSONValue?) -> Bool {
        created == info?["created"]?.string && Self.end(of: info) >= last
    }

    private static func end(of info: JSONValue?) -> UInt64 {
        info?["state"]?["last_seq"]?.integer.flatMap { UInt64(exactly: $0) } ?? 0
    }
}
