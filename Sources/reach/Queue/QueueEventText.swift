internal import ReachControl
internal import ReachCore

/// What happened in the queue, in one line for people: `request 7 retrying: network, by wlan0`.
struct QueueEventText {
    let style: TerminalStyle

    func line(for record: QueueEventRecord) -> String {
        let subject = record.id.map { "request " + style.paint("\($0)", .bold) } ?? "the queue:"
        let told = details(of: record).joined(separator: ", ")
        let event = style.paint(DisplayText.sanitized(record.event), Self.colour(of: record.event) ?? .bold)
        return "\(subject) \(event)" + (told.isEmpty ? "" : ": " + DisplayText.sanitized(told))
    }

    private func details(of record: QueueEventRecord) -> [String] {
        let blockers = record.blockers.isEmpty ? nil : record.blockers.joined(separator: " ")
        return [
            record.reason, record.status.map { "status \($0)" }, blockers, record.when, record.destination,
            record.interface.map { "by \($0)" }, record.attempt.map { "attempt \($0)" },
            record.count.map { "\($0) requests" },
        ].compactMap { $0 }
    }

    private static func colour(of event: String) -> TerminalStyle.Colour? {
        switch event {
        case "done", "started", "resumed", "opened", "recovered", "breaker-closed": .green
        case "dead", "degraded", "storage-reset", "breaker-open": .red
        case "retrying", "waiting", "interrupted", "suspended", "closed": .yellow
        case "cancelled": .grey
        default: nil
        }
    }
}
