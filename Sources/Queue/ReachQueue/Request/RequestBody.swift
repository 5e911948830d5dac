/// What is sent after the head of a request.
package enum RequestBody: Hashable, Sendable {
    case none
    /// Held in the queue's own file. At most ``QueueLimits/inlineBodyBytes``.
    case inline([UInt8])
    /// A file of the user's, read when the request is sent. It may change until then, or be gone.
    case file(path: String, bytes: Int64)
    /// A copy that the queue keeps next to its file, by its name there.
    case spooled(name: String, bytes: Int64)

    /// Bytes.
    package var count: Int64 {
        switch self {
        case .none: 0
        case .inline(let bytes): Int64(bytes.count)
        case .file(_, let bytes), .spooled(_, let bytes): bytes
        }
    }

    /// The length of its path or name.
    var pathBytes: Int {
        switch self {
        case .none, .inline: 0
        case .file(let path, _): path.utf8.count
        case .spooled(let name, _): name.utf8.count
        }
    }

    /// How many bytes of the queue's own room it takes.
    package var bytesHeld: Int64 {
        switch self {
        case .none, .file: 0
        case .inline(let bytes): Int64(bytes.count)
        case .spooled(_, let bytes): bytes
        }
    }
}
