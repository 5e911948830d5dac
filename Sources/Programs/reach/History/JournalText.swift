internal import ReachControl
internal import ReachCore
internal import ReachTerminal

/// Events of the journal in words, a line each, for people.
struct JournalText {
    private let style: TerminalStyle
    private let events: EventText
    private var reader = EventStreamReader()

    init(style: TerminalStyle) {
        self.style = style
        events = EventText(style: style, hasDate: true)
    }

    mutating func line(for record: JournalRecord) -> String {
        switch record.type {
        case "started": own(record, "reachd started")
        case "stopped": own(record, "reachd stopped")
        case "gap": own(record, style.paint(gap(record), .yellow))
        default: streamEvent(record).map(events.line) ?? own(record, DisplayText.sanitized(record.type))
        }
    }

    private func own(_ record: JournalRecord, _ words: String) -> String {
        events.stamp(record.moment.wall) + words + "\n"
    }

    /// The record as an event of a stream, in which the journal's number counts.
    private mutating func streamEvent(_ record: JournalRecord) -> StreamEvent? {
        guard case .object(var members) = record.json else { return nil }
        members["seq"] = .integer(record.number)
        return try? reader.read(.object(members))
    }

    private func gap(_ record: JournalRecord) -> String {
        let reason = record.json["reason"]?.string ?? ""
        guard let count = record.missing?.count else {
            return "another log begins; events before it may be missing"
        }
        let words = count == 1 ? "1 event is missing" : "\(count) events are missing"
        return "\(words): \(DisplayText.sanitized(reason))"
    }
}
