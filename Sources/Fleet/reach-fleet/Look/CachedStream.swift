internal import ReachCore
internal import ReachFleet
internal import ReachFleetLink

/// A stream of the server that is read through what an earlier run of this user kept of it, if it did.
struct CachedStream<Message: CachedMessage>: CopiedStream {
    let jetStream: JetStream
    let name: String
    /// Whether it is a bucket, which keeps one message of each key.
    var isBucket = false
    /// What counts of a message; `nil` for one that says nothing.
    let message: (StoredMessage) -> Message?

    /// Hands over all messages from a place on, with their numbers and times.
    ///
    /// - Parameter info: What the server said of the stream before.
    func read(
        _ info: JSONValue?, from start: CopyStart, _ body: (UInt64, Timestamp, Message) -> Void
    ) throws(NATSError) {
        guard let folder = CacheFolder(jetStream.link.settings), let mark = StreamMark(info) else {
            return try read(from: start, body)
        }
        var copy =
            folder.read(name, limit: StreamCopy<Message>.sizeLimit).flatMap {
                StreamCopy<Message>($0, of: name, isBucket: isBucket)
            } ?? StreamCopy<Message>(isBucket: isBucket)
        guard try copy.read(self, from: start, mark, body) else {
            folder.remove(name)
            throw NATSError(.failed, "the cache of stream \(name) is damaged, and was removed: try again")
        }
        if copy.isWorthWriting, let bytes = copy.bytes(of: name) { folder.write(name, bytes) }
    }

    func read(from start: CopyStart, _ body: (UInt64, Timestamp, Message) -> Void) throws(NATSError) {
        try jetStream.read(name, filter: nil, from: StreamStart(start)) { stored in
            if let message = message(stored) { body(stored.sequence, stored.time, message) }
        }
    }
}

extension StreamStart {
    init(_ start: CopyStart) {
        switch start {
        case .first: self = .first
        case .sequence(let number): self = .sequence(max(number, 1))
        case .time(let time): self = .time(time)
        }
    }
}
