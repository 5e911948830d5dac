package import ReachCore

/// A place in the daemon's journal: behind the event `n` of a log.
package struct JournalCursor: Hashable, Sendable {
    package var log: String
    package var n: UInt64

    package init(log: String, n: UInt64) {
        self.log = log
        self.n = n
    }

    /// Ahead of all events of a log. Who asks the journal for events after it proves that the log's files were rolled
    /// back, or that another machine continues it too: the journal begins another log.
    package static func beyond(_ log: String) -> JournalCursor { JournalCursor(log: log, n: UInt64(Int64.max / 2)) }
}

/// An event of the journal, ready to leave.
package struct JournalEntry: Hashable, Sendable {
    package let log: String
    /// Its number; for the record with which a log begins, the number before its first event.
    package let n: UInt64
    /// The first number that it stands for: less than `n` in a gap.
    package private(set) var first: UInt64
    /// A hash of the boot identifier of the machine when it happened.
    package let boot: String
    package let moment: Instant
    /// Why events are missing, in a gap.
    package let gap: String?
    /// The user whose request's event it is.
    package let user: UInt32?
    /// The line that leaves, without a newline; `nil` if the event stays on the host.
    package private(set) var line: [UInt8]?

    package init(log: String, n: UInt64, boot: String, moment: Instant, user: UInt32? = nil, line: [UInt8]?) {
        self.log = log
        self.n = n
        first = n
        self.boot = boot
        self.moment = moment
        gap = nil
        self.user = user
        self.line = line
    }

    /// Events that are missing. Its line always leaves, so that a reader never takes a hole for silence.
    package init(gap reason: String, log: String, first: UInt64, last: UInt64, boot: String, moment: Instant) {
        self.log = log
        n = last
        self.first = min(first, last)
        self.boot = boot
        self.moment = moment
        gap = reason
        user = nil
        line = isLogStart ? nil : gapLine
    }

    /// Whether another log begins behind it. Such a record has no number of its own.
    package var isLogStart: Bool { gap == "log" }

    /// A gap without the numbers up to `n`, which the engine has.
    mutating func dropNumbers(through number: UInt64) {
        guard gap != nil, first <= number, number < n else { return }
        first = number + 1
        line = gapLine
    }

    /// A gap in place of an event that is too large for the engine.
    var tooLarge: JournalEntry {
        JournalEntry(gap: "too-large", log: log, first: n, last: n, boot: boot, moment: moment)
    }

    /// The gap for events that are more than their users' shares, up to this one.
    func withheld(after earlier: JournalEntry?) -> JournalEntry {
        JournalEntry(gap: "share", log: log, first: earlier?.first ?? n, last: n, boot: boot, moment: moment)
    }

    /// Whether a gap ends before this event.
    func follows(_ gap: JournalEntry) -> Bool { log == gap.log && boot == gap.boot && n == gap.n + 1 }

    private var gapLine: [UInt8] {
        var json = JSONWriter()
        json.object { json in
            json.field("v", 1)
            json.field("type", "gap")
            json.field("time", moment.wall)
            json.field("boottime_ns", moment.boot.nanoseconds)
            json.field("log", log)
            json.field("n", Int64(clamping: n))
            json.field("first", Int64(clamping: first))
            json.field("last", Int64(clamping: n))
            json.field("count", Int64(clamping: n - first + 1))
            json.field("reason", gap)
        }
        return json.bytes
    }
}

/// A page of the journal, as the machine of the host's side receives it.
package struct EntryPage: Hashable, Sendable {
    package var entries: [JournalEntry]
    /// The log to which the journal appends, and the number of its newest event.
    package var newest: JournalCursor
    /// Whether no event followed when the page was read.
    package var isComplete: Bool

    package init(_ entries: [JournalEntry], newest: JournalCursor, isComplete: Bool) {
        self.entries = entries
        self.newest = newest
        self.isComplete = isComplete
    }
}
