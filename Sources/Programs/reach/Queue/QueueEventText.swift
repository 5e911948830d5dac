internal import ReachControl
internal import ReachCore
internal import ReachQueue
internal import ReachTerminal

/// What happened in the queue, in one line for people: `request 7 retrying: network, by wlan0`.
struct QueueEventText {
    let style: TerminalStyle

    func line(for event: QueueEvent) -> String {
        let subject = event.request.map { "request " + style.paint("\($0)", .bold) } ?? "the queue:"
        let details = details(of: event).joined(separator: ", ")
        let kind = style.paint(event.kind.rawValue, Self.colour(of: event.kind) ?? .bold)
        return "\(subject) \(kind)" + (details.isEmpty ? "" : ": " + DisplayText.sanitized(details))
    }

    private func details(of event: QueueEvent) -> [String] {
        let blockers = event.blockers.isEmpty ? nil : event.blockers.words.joined(separator: " ")
        return [
            event.reason, event.status.map { "status \($0)" }, blockers, event.condition?.description,
            event.destination?.description,
            event.interface.map { "by \($0)" }, event.attempt.map { "attempt \($0)" },
            event.count.map { "\($0) requests" },
            event.budget.map(QueueText.describe),
        ].compactMap { $0 }
    }

    private static func colour(of kind: QueueEvent.Kind) -> TerminalStyle.Colour? {
        switch kind {
        case .done, .started, .resumed, .opened, .recovered, .breakerClosed, .meteredRenewed: .green
        case .dead, .degraded, .storageReset, .breakerOpen, .meteredUsed: .red
        case .retrying, .waiting, .interrupted, .suspended, .closed, .meteredLow: .yellow
        case .cancelled: .grey
        case .queued, .released: nil
        }
    }
}
