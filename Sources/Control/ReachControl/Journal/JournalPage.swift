package import ReachCore

/// The part of the journal to read.
package struct JournalQuery: Hashable, Sendable {
    /// The log of the cursor; `nil` means the one to which the journal appends.
    package var log: String?
    /// The number of the last event that was read; `nil` begins with the oldest one.
    package var after: Int64?
    /// The longest page in events; a page also ends after ``pageBytes``.
    package var limit = 100
    /// The types that are wanted, such as `queue`; `nil` for all. A gap always is.
    package var types: Set<String>?

    package static let longestPage = 1000
    /// The bytes of events after which a page ends.
    package static let pageBytes = 256 << 10

    package init(log: String? = nil, after: Int64? = nil, limit: Int = 100, types: Set<String>? = nil) {
        self.log = log
        self.after = after
        self.limit = limit
        self.types = types
    }

    /// The query for the page after this one.
    package func following(_ page: JournalPage) -> JournalQuery {
        JournalQuery(log: page.log, after: page.next, limit: limit, types: types)
    }
}

/// Events of the journal in their order, and the cursor behind them.
package struct JournalPage: Hashable, Sendable {
    package var events: [JournalRecord]
    /// The cursor for the next page: a log, and a number in it.
    package var log: String
    package var next: Int64
    /// The log to which the journal appends, and the number of its newest event; 0 without one.
    package var current: String
    package var last: Int64
    /// Whether no event followed when the page was read.
    package var isComplete: Bool

    /// Reads the daemon's answer.
    init(reading parameters: [String: JSONValue]) throws(StatusReadingError) {
        let reader = try StatusReader(.object(parameters))
        guard let elements = try reader.optional("events", \.array) else { throw reader.fault("events") }
        events = try elements.map { event throws(StatusReadingError) in try JournalRecord(reading: event) }
        log = try reader.value("log", \.string)
        next = try reader.value("next", \.integer)
        current = try reader.value("current", \.string)
        last = try reader.value("last", \.integer)
        isComplete = try reader.value("complete", \.bool)
    }
}

/// An event of the journal. (``log``, ``number``) identifies it: the number is never given to another event.
package struct JournalRecord: Hashable, Sendable {
    package let log: String
    package let number: Int64
    /// The word of its type, such as `change`, `probe`, `queue` or `gap`.
    package let type: String
    package let moment: Instant
    /// The boot from which the moment's boot time counts (/proc/sys/kernel/random/boot_id).
    package let boot: String
    /// All its keys, as reach-events(7) describes them.
    package let json: JSONValue

    package init(reading json: JSONValue) throws(StatusReadingError) {
        let reader = try StatusReader(json)
        log = try reader.value("log", \.string)
        number = try reader.value("n", \.integer)
        type = try reader.value("type", \.string)
        moment = try reader.moment()
        boot = try reader.value("boot", \.string)
        self.json = json
    }

    /// The numbers for which a gap stands; `nil` for other events, and for a gap whose length is not known. No journal
    /// gets as far as 2^40: such a line is damaged, and sums of lengths must not overflow.
    package var missing: ClosedRange<Int64>? {
        guard type == "gap", let first = json["first"]?.integer, let last = json["last"]?.integer, first > 0,
            first <= last, last < 1 << 40
        else { return nil }
        return first...last
    }
}
