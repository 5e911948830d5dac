internal import ReachLoop

/// How far one subscriber has read in a topic, and how its lines are numbered.
struct Subscription {
    let topic: Topic
    /// The event to be read next.
    private(set) var position: UInt64
    private(set) var droppedCount: UInt64 = 0
    private var sequenceNumber: UInt64 = 0
    private var isNew = true
    /// Where the subscriber was when it was told a stale state, which nothing has made good yet.
    private var staleFrom: UInt64?

    init(to topic: Topic, from position: UInt64) {
        self.topic = topic
        self.position = position
    }

    /// Appends what the subscriber is to read next: an event; or, after events that gave way before they were read,
    /// how many they were, and the state now.
    ///
    /// - Returns: `false` if there is nothing.
    mutating func next(into output: inout [UInt8]) -> Bool {
        if isNew {
            isNew = false
            // Before the first state is determined, there is none to begin with: it comes as an event.
            if jump(isInitial: true, &output) { return true }
        }
        if position < topic.backlog.start {
            let count = topic.backlog.end - position
            droppedCount += count
            append(Topic.reply(.dropped(count: count, at: SystemClock.now)), &output)
            position = topic.backlog.end
            _ = jump(isInitial: false, &output)
            return true
        }
        guard let event = topic.backlog[position] else { return makeGood(&output) }
        position += 1
        append(event, &output)
        return true
    }

    /// A newcomer's state may have been stale. Those who came before are told only what differs when the kernel is observed
    /// again; a newcomer is told that nothing does.
    private mutating func makeGood(_ output: inout [UInt8]) -> Bool {
        guard let staleFrom, !topic.isStale else { return false }
        self.staleFrom = nil
        return topic.changeEnd <= staleFrom && jump(isInitial: false, &output)
    }

    /// The state now stands for all events so far.
    private mutating func jump(isInitial: Bool, _ output: inout [UInt8]) -> Bool {
        guard let snapshot = topic.snapshot(isInitial: isInitial) else { return false }
        position = topic.backlog.end
        staleFrom = topic.isStale ? position : nil
        append(snapshot, &output)
        return true
    }

    private mutating func append(_ event: EncodedEvent, _ output: inout [UInt8]) {
        sequenceNumber += 1
        event.append(to: &output, numbered: sequenceNumber)
    }
}
