internal import Glibc
internal import ReachControl
internal import ReachCore
internal import ReachLoop
internal import ReachQueue
internal import ReachTerminal

/// Events in words, a line each, for people.
struct EventText {
    let style: TerminalStyle
    /// Whether a line begins with the date, not only with the time of day.
    var hasDate = false

    func line(for event: StreamEvent) -> String {
        switch event {
        case .target(let event): line(for: event)
        case .unavailable(_, let change): self.change(change)
        case .dropped(let moment, let count): stamp(moment.wall) + "\(count) events were missed\n"
        case .snapshot(let change, _): stamp(change.time) + StatusText(style: style).summary(of: change.state) + "\n"
        case .other(let moment, "probe", let json):
            (try? ProbeEvent(reading: json)).map(probe) ?? stamp(moment.wall) + "a probe\n"
        case .other(let moment, "queue", let json): queue(json, at: moment)
        case .other(let moment, let type, _):
            stamp(moment.wall) + style.paint("an event of the type '\(DisplayText.sanitized(type))'", .grey) + "\n"
        case .disconnected(let moment, let error, let state):
            stamp(moment.wall) + style.paint("\(error)", .yellow) + "; "
                + StatusText(style: style).summary(of: state) + "\n"
        case .reconnected(let moment, let away, _):
            stamp(moment.wall) + "the daemon is back after \(DurationText.describe(away))\n"
        }
    }

    private func line(for event: TargetEvent) -> String {
        switch event {
        case .change(let change): self.change(change)
        case .resync(let moment, let reason):
            stamp(moment.wall) + "everything was read again: \(DisplayText.sanitized(reason))\n"
        case .wake(let moment, let slept):
            stamp(moment.wall) + "the machine slept for \(DurationText.describe(slept))\n"
        case .notice(let moment, let notice):
            stamp(moment.wall) + style.paint(DisplayText.sanitized(String(describing: notice)), .grey) + "\n"
        case .probe(let event): probe(event)
        }
    }

    private func probe(_ event: ProbeEvent) -> String {
        let report = event.report
        let name = style.paint(DisplayText.sanitized(report.name), .bold)
        let last = report.last.map { $0.detail.isEmpty ? $0.outcome.reason ?? "" : $0.detail } ?? ""
        let words: String =
            switch event.kind {
            case .up: style.paint("up", .green)
            case .down: style.paint("down", .red) + ": " + DisplayText.sanitized(last)
            case .paused: style.paint("paused", .yellow) + ": \(report.pause?.rawValue ?? "")"
            case .resumed: "resumed"
            case .result: report.last.map { ProbeText(style: style).word($0.outcome) } ?? ""
            }
        return stamp(event.moment.wall) + "probe \(name) \(words)\n"
    }

    private func queue(_ json: JSONValue, at moment: Instant) -> String {
        guard case .event(let record)? = (try? QueueNotice(reading: json)) ?? nil else {
            return stamp(moment.wall) + "the queue\n"
        }
        return stamp(moment.wall) + QueueEventText(style: style).line(for: record) + "\n"
    }

    func dropped(_ count: Int, now state: ReachabilityState) -> String {
        "(\(count) lines dropped)\n" + StatusText(style: style).describe(state)
    }

    private func change(_ change: ReachabilityChange) -> String { line(for: JoinedChange(change)) }

    func line(for joined: JoinedChange) -> String {
        let change = joined.change
        let status = StatusText(style: style, lastAnswer: \.lastGatewayAnswer)
        let paths = [("IPv4", change.state.ipv4), ("IPv6", change.state.ipv6)]
            .filter { $0.1.status == .reachable }
            .map { "\($0) \(status.describe($1))" }
        let cause = change.isInitial ? "" : style.paint(" [\(change.cause.rawValue)]", .grey)
        let details = paths.isEmpty ? "" : "; " + paths.joined(separator: ", ")
        let gap = joined.gap.map { "; " + style.paint($0.sentence, .yellow) } ?? ""
        return stamp(change.time) + status.summary(of: change.state) + details + gap + cause + "\n"
    }

    /// The local time of day, or with the date.
    func stamp(_ time: Timestamp) -> String {
        if hasDate { return style.paint(LocalTimeText.full(time), .grey) + "  " }
        var seconds = time_t(time.nanosecondsSince1970 / 1_000_000_000)
        var parts = tm()
        localtime_r(&seconds, &parts)
        let digits = [parts.tm_hour, parts.tm_min, parts.tm_sec].map { $0 < 10 ? "0\($0)" : "\($0)" }
        return style.paint(digits.joined(separator: ":"), .grey) + "  "
    }
}

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
