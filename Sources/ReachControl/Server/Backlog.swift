/// The latest events of a stream, kept for those who have yet to read them. Older ones give way.
///
/// All readers share it; each holds the number of the event it reads next, from which follows what it has missed.
struct Backlog {
    private let limit: Int
    private var events: [EncodedEvent] = []
    /// Places at the beginning of `events` that are forgotten, and not yet removed.
    private var forgotten = 0
    private var byteCount = 0
    /// The number of the oldest event that is kept.
    private(set) var start: UInt64 = 0

    init(limit: Int) { self.limit = limit }

    /// The number of the event to come.
    var end: UInt64 { start + UInt64(events.count - forgotten) }

    /// Keeps an event, and forgets the oldest as needed; but never this one.
    mutating func append(_ event: EncodedEvent) {
        events.append(event)
        byteCount += event.count
        while byteCount > limit, start + 1 < end { forgetFirst() }
        removeForgotten()
    }

    /// Nobody needs what comes before this number.
    mutating func forget(before number: UInt64) {
        while start < min(number, end) { forgetFirst() }
        removeForgotten()
    }

    /// - Returns: `nil` for what is forgotten, and for what is to come.
    subscript(number: UInt64) -> EncodedEvent? {
        guard start..<end ~= number else { return nil }
        return events[forgotten + Int(number - start)]
    }

    private mutating func forgetFirst() {
        byteCount -= events[forgotten].count
        forgotten += 1
        start += 1
    }

    /// Not one by one, since each time moves all that stay.
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
