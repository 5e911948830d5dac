internal import ReachLoop

/// One subscriber's position in a topic, and the number of its next line.
struct Subscription {
    let topic: Topic
    /// The target as the subscriber named it; `nil` if that is the topic's.
    private let target: QuotedTarget?
    /// The number of the event to send next.
    private(set) var position: UInt64
    private(set) var droppedCount: UInt64 = 0
    private var sequenceNumber: UInt64 = 0
    private var isNew = true
    /// The position at which the subscriber received a stale state that nothing has replaced yet.
    private var staleFrom: UInt64?

    /// What makes an event a Varlink reply after which more follow.
    private static let start: StaticString = "{\"parameters\":{\"event\":"
    private static let end: StaticString = "},\"continues\":true}\0"

    init(to topic: Topic, as target: QuotedTarget?, from position: UInt64) {
        self.topic = topic
        self.target = target
        self.position = position
    }

    /// Whether the next line is an event that the backlog holds.
    var isInBacklog: Bool { !isNew && topic.backlog.start..<topic.backlog.end ~= position }

    /// Appends the next lines for the subscriber: an event; or, if the backlog dropped events before they were sent,
    /// the number of those events and the current state.
    ///
    /// - Returns: `false` if there is nothing to send.
    mutating func next(into output: inout [UInt8]) -> Bool {
        if isNew {
            isNew = false
            // A state that is not determined yet comes as an event later.
            if skipToSnapshot(isInitial: true, &output) { return true }
        }
        if position < topic.backlog.start {
            let count = topic.backlog.end - position
            droppedCount += count
            append(.dropped(count: count, at: SystemClock.now), &output)
            position = topic.backlog.end
            _ = skipToSnapshot(isInitial: false, &output)
            return true
        }
        guard let event = topic.backlog[position] else { return replaceStaleState(&output) }
        position += 1
        append(event, &output)
        return true
    }

    /// Sends a snapshot to a subscriber that began with a stale state, once the kernel is observed again and nothing
    /// differs. Earlier subscribers need none: they know the state from before.
    private mutating func replaceStaleState(_ output: inout [UInt8]) -> Bool {
        guard let staleFrom, !topic.isStale else { return false }
        self.staleFrom = nil
        return topic.changeEnd <= staleFrom && skipToSnapshot(isInitial: false, &output)
    }

    /// Sends the current state in place of all events so far.
    private mutating func skipToSnapshot(isInitial: Bool, _ output: inout [UInt8]) -> Bool {
        guard let snapshot = topic.snapshot(isInitial: isInitial) else { return false }
        position = topic.backlog.end
        staleFrom = topic.isStale ? position : nil
        append(snapshot, &output)
        return true
    }

    private mutating func append(_ event: EncodedEvent, _ output: inout [UInt8]) {
        sequenceNumber += 1
        Self.start.withUTF8Buffer { output.append(contentsOf: $0) }
        event.append(to: &output, numbered: sequenceNumber, as: target)
        Self.end.withUTF8Buffer { output.append(contentsOf: $0) }
    }
}
