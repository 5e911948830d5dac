/// The latest events of a stream, kept for readers that have yet to read them, up to a number of bytes.
///
/// All readers share one backlog. Each holds the number of the event that it reads next, which shows how many it has
/// missed.
struct Backlog {
    private let limit: Int
    private var events: [EncodedEvent] = []
    /// Events at the beginning of `events` that are dropped but not yet removed from the array.
    private var forgotten = 0
    private(set) var byteCount = 0
    private let budget: BacklogBudget
    /// The number of the oldest event in the backlog.
    private(set) var start: UInt64 = 0

    init(limit: Int, of budget: BacklogBudget) {
        self.limit = limit
        self.budget = budget
    }

    /// The number that the next event will have.
    var end: UInt64 { start + UInt64(events.count - forgotten) }

    /// Adds an event. Drops the oldest ones to keep within the limit, but never the new one.
    mutating func append(_ event: EncodedEvent) {
        events.append(event)
        byteCount += event.count
        budget.add(event)
        shorten(to: limit)
    }

    /// Drops the oldest events to have at most this many bytes, but never the newest.
    private mutating func shorten(to limit: Int) {
        while byteCount > limit, start + 1 < end { forgetFirst() }
        removeForgotten()
    }

    /// Drops the events before this number.
    mutating func forget(before number: UInt64) {
        while start < min(number, end) { forgetFirst() }
        removeForgotten()
    }

    /// - Returns: `nil` for events that were dropped, and for numbers not yet used.
    subscript(number: UInt64) -> EncodedEvent? {
        guard start..<end ~= number else { return nil }
        return events[forgotten + Int(number - start)]
    }

    private mutating func forgetFirst() {
        byteCount -= events[forgotten].count
        budget.remove(events[forgotten])
        forgotten += 1
        start += 1
    }

    /// Removes dropped events many at a time, since each removal moves all events that stay.
    private mutating func removeForgotten() {
        if forgotten == events.count {
            events = []
        } else if forgotten > events.count / 2 {
            events.removeFirst(forgotten)
        } else {
            return
        }
        forgotten = 0
    }
}
