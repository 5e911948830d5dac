package import ReachCore

/// How much of the end of a stream is read.
package struct StreamEndLimit: Hashable, Sendable {
    /// Of the payloads and headers together.
    package var bytes: Int
    package var messages: Int

    package init(bytes: Int, messages: Int) {
        self.bytes = bytes
        self.messages = messages
    }
}

extension JetStream {
    /// The first part that is read, in messages. 16 of the largest events have 2 MiB.
    private static let firstPart: UInt64 = 16

    /// Reads the newest messages of a stream, in order: those stored since `start`, as many as the limit allows.
    ///
    /// It looks back in parts that grow, because nothing says beforehand how large the newest messages are. Of a part
    /// that is larger than the limit allows, only the newest messages are kept, so a host that stores large messages
    /// behind small ones takes no more memory.
    ///
    /// - Returns: Whether there are older messages since `start`, which were left out.
    /// - Throws: As ``read(_:filter:from:_:)``.
    package func readEnd(
        of stream: String, filter: String?, since start: Timestamp, _ limit: StreamEndLimit,
        _ body: (StoredMessage) throws(NATSError) -> Void
    ) throws(NATSError) -> Bool {
        let state = try self.stream(stream)?["state"]
        let first = state?["first_seq"]?.integer.flatMap { UInt64(exactly: $0) } ?? 0
        var end = state?["last_seq"]?.integer.flatMap { UInt64(exactly: $0) } ?? 0
        var parts: [ArraySlice<StoredMessage>] = []
        var (room, size) = (limit, Self.firstPart)
        var isCut = false
        while end >= max(first, 1) {
            guard room.bytes > 0, room.messages > 0 else {
                let next = try messages(end...end, of: stream, filter, within: .max)
                isCut = next.kept.first.map { $0.time >= start } ?? true
                break
            }
            let begin = end - min(size, UInt64(room.messages), end) + 1
            let part = try messages(max(begin, first, 1)...end, of: stream, filter, within: room.bytes)
            room.bytes -= part.bytes
            room.messages -= part.kept.count
            parts.append(part.kept.drop { $0.time < start })
            if let leftOut = part.leftOut {
                isCut = leftOut >= start
                break
            }
            if let oldest = part.kept.first, oldest.time < start { break }
            end = max(begin, first, 1) - 1
            let fitting = room.bytes / max(part.bytes / max(part.kept.count, 1), 1)
            size = UInt64(max(1, min(size * 4, UInt64(max(fitting, 1)))))
        }
        for part in parts.reversed() {
            for message in part { try body(message) }
        }
        return isCut
    }

    /// A part of a stream, without its oldest messages if all would be too large.
    private struct Part {
        private var messages: [StoredMessage] = []
        private var droppedCount = 0
        private(set) var bytes = 0
        /// When the newest message was stored of those that were left out; `nil` if none was.
        private(set) var leftOut: Timestamp?

        var kept: ArraySlice<StoredMessage> { messages[droppedCount...] }

        mutating func add(_ message: StoredMessage, within most: Int) {
            messages.append(message)
            bytes += message.size
            // The newest message stays, however large it is.
            while bytes > most, messages.count - droppedCount > 1 {
                bytes -= messages[droppedCount].size
                leftOut = messages[droppedCount].time
                droppedCount += 1
            }
            // Half of the array at once, so that a message is moved about once.
            guard droppedCount * 2 > messages.count else { return }
            messages.removeFirst(droppedCount)
            droppedCount = 0
        }
    }

    private func messages(
        _ range: ClosedRange<UInt64>, of stream: String, _ filter: String?, within most: Int
    ) throws(NATSError) -> Part {
        let reader = try StreamReader(
            link, stream: stream, filter: filter, from: .sequence(range.lowerBound), waits: false, most: range.count,
            limit: limit)
        var part = Part()
        while reader.pending > 0, let message = try reader.next(within: limit), message.sequence <= range.upperBound {
            part.add(message, within: most)
        }
        return part
    }
}

extension StoredMessage {
    fileprivate var size: Int { headers.reduce(payload.count) { $0 + $1.name.utf8.count + $1.value.utf8.count + 4 } }
}
