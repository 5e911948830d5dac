internal import ReachCore

/// The events that wait for the engine, and the chunk that goes next.
struct EventQueue: Sendable {
    /// The most bytes of a chunk's lines, at first and over a slow path: there a chunk must not hold up the lease.
    static let slowBytes = 64 << 10
    /// The most bytes over a fast path: nearly what the stream accepts, since a host with a backlog waits a round trip
    /// for each chunk.
    static let fastBytes = EventChunk.sizeLimit - (8 << 10)
    /// The number of waiting events from which on the journal is not read.
    static let room = 2048

    private var entries: ArraySlice<JournalEntry> = []
    /// The number with which the next chunk of a log begins. Events before the first line belong to the chunk, too.
    private var start: JournalCursor?
    /// The latest event received, so that none is queued twice.
    private var received: JournalCursor?
    private var shares = EventShares()
    /// The gap for events that exceed their users' shares. It waits for the next line, so that it is one line however
    /// many they are.
    private var withheld: JournalEntry?
    /// The present limit of a chunk in bytes; less than ``slowBytes`` after the engine found one too large.
    private var limit = slowBytes

    var count: Int { entries.count }
    var oldest: Timestamp? { entries.first { $0.line != nil }?.moment.wall }
    var isEmpty: Bool { !entries.contains { $0.line != nil } }

    /// Begins again behind a cursor; `nil` before the first event that comes.
    mutating func restart(after cursor: JournalCursor?) {
        entries = []
        // The same events come again.
        (shares, withheld) = (EventShares(), nil)
        limit = min(limit, Self.slowBytes)
        received = cursor
        start = cursor.map { JournalCursor(log: $0.log, n: $0.n + 1) }
    }

    mutating func append(_ new: [JournalEntry]) {
        for var entry in new {
            if entry.isLogStart {
                let isKnown = received.map { $0.log == entry.log && $0.n >= entry.n } ?? false
                if !isKnown { received = JournalCursor(log: entry.log, n: entry.n) }
                continue
            }
            if let received, received.log == entry.log {
                guard entry.n > received.n else { continue }
                entry.dropNumbers(through: received.n)
            }
            received = JournalCursor(log: entry.log, n: entry.n)
            append(entry)
        }
        dropUnsent()
    }

    private mutating func append(_ entry: JournalEntry) {
        if let user = entry.user, entry.line != nil, !shares.allow(user, at: entry.moment.wall) {
            if let gap = withheld, !entry.follows(gap) { entries.append(gap) }
            withheld = entry.withheld(after: withheld.flatMap { entry.follows($0) ? $0 : nil })
            return
        }
        if let gap = withheld, entry.line != nil || !entry.follows(gap) {
            entries.append(gap)
            withheld = nil
        }
        entries.append(entry)
    }

    /// Drops events that stay on the host from the front, unless a line follows that covers them.
    private mutating func dropUnsent() {
        guard let first = entries.first else { return }
        if start?.log != first.log { start = JournalCursor(log: first.log, n: first.first) }
        let log = first.log
        guard let next = entries.first(where: { $0.line != nil || $0.log != log }) else {
            entries = []
            return
        }
        guard next.log != log else { return }
        entries = entries.drop { $0.log == log }
        dropUnsent()
    }

    /// The next chunk: events of one log and of one boot of the machine, as many as the limit allows.
    func chunk(payloadLimit: Int) -> (log: String, first: UInt64, last: UInt64, boot: String, lines: [[UInt8]])? {
        guard let head = entries.first, let start, start.log == head.log else { return nil }
        let limit = min(limit, payloadLimit)
        var lines: [[UInt8]] = []
        var (bytes, last) = (0, head.n)
        var boot: String?
        for entry in entries {
            guard entry.log == head.log, lines.count < EventChunk.lineLimit else { break }
            if let line = entry.line {
                guard boot == nil || boot == entry.boot else { break }
                let isLone = lines.isEmpty
                let line = line.count + 1 > limit && isLone ? entry.tooLarge.line ?? line : line
                guard isLone || bytes + line.count + 1 <= limit else { break }
                boot = entry.boot
                lines.append(line)
                bytes += line.count + 1
            }
            last = entry.n
        }
        return boot.map { (head.log, start.n, last, $0, lines) }
    }

    /// Drops what the engine has.
    ///
    /// - Parameter isFast: Whether the acknowledgement came soon.
    mutating func acknowledge(_ log: String, through last: UInt64, isFast: Bool) {
        limit = isFast ? Self.fastBytes : Self.slowBytes
        guard let head = entries.first, head.log == log else {
            start = JournalCursor(log: log, n: last + 1)
            return dropUnsent()
        }
        entries = entries.drop { $0.log == log && $0.n <= last }
        start = JournalCursor(log: log, n: last + 1)
        dropUnsent()
    }

    /// Makes the next chunk smaller, since the engine found the last one too large. An event that is too large alone
    /// becomes a gap.
    mutating func shrink(_ bytes: Int) {
        limit = max(bytes / 2, 1)
        guard limit < 256, let index = entries.firstIndex(where: { $0.line != nil }) else { return }
        entries[index] = entries[index].tooLarge
        limit = 1024
    }
}

/// How many events of each user's requests leave the host, so that no one's fill the stream of all hosts: a value.
///
/// It counts by the times of the events, so what waited without a path for a week is judged like what leaves at once.
struct EventShares: Sendable {
    /// The events that may come together.
    static let burst: Int64 = 2000
    /// The time after which one more may come: 17,280 a day.
    static let interval: Duration = .seconds(5)

    /// For each user, when the burst would be whole again, in nanoseconds since 1970.
    private var whole: [UInt32: Int64] = [:]
    /// The most users that are remembered, but for those who have used some of their share.
    private static let users = 1024

    /// Whether an event leaves; it then counts.
    mutating func allow(_ user: UInt32, at time: Timestamp) -> Bool {
        // A clock may say anything, and no sum may overflow.
        let now = min(max(time.nanosecondsSince1970, 0), .max / 4)
        let interval = Self.interval.nanoseconds
        let depth = interval * Self.burst
        var present = max(whole[user] ?? now, now)
        // The clock was set back.
        if present - now > 2 * depth { present = now }
        guard present + interval - now <= depth else { return false }
        whole[user] = present + interval
        if whole.count > Self.users { whole = whole.filter { $0.value > now } }
        return true
    }
}
