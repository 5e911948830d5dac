internal import ReachCore
package import ReachLoop

/// The answer to ``QueueService/add(_:for:reply:)``.
package struct QueueReceipt: Hashable, Sendable {
    package var id: Int64
    /// One with the same key was there and stays: ``id`` is that one's.
    package var isKept: Bool

    package init(id: Int64, isKept: Bool) {
        self.id = id
        self.isKept = isKept
    }
}

/// A body that a client uploads in pieces.
package struct QueueUpload: Hashable, Sendable {
    package let name: String
    /// Bytes so far.
    package let bytes: Int64

    /// The queue deletes it after this long without a further piece or an ``QueueService/add(_:for:reply:)``.
    package static let lifetime: Duration = .seconds(300)

    package init(name: String, bytes: Int64) {
        self.name = name
        self.bytes = bytes
    }

    package struct Piece: Sendable {
        package enum Content: Sendable {
            case bytes([UInt8])
            case memory(SealedMemory)
        }

        /// `nil` begins a body.
        package let name: String?
        package let content: Content

        package init(name: String?, _ content: Content) {
            self.name = name
            self.content = content
        }

        /// Its length in bytes.
        package var count: Int64 {
            switch content {
            case .bytes(let bytes): bytes.count.wide
            case .memory(let memory): memory.count
            }
        }
    }
}
