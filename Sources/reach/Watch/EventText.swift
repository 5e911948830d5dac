internal import Glibc
internal import ReachControl
internal import ReachCore
internal import ReachKernel

/// Events in words, a line each, for people.
struct EventText {
    let style: TerminalStyle

    func line(for event: TargetWatch.Event) -> String {
        switch event {
        case .kernel(let event): line(for: event)
        case .daemon(let event): line(for: event)
        }
    }

    private func line(for event: EngineEvent) -> String {
        switch event {
        case .change(let change): self.change(change)
        case .resync(let moment, let reason): resync(moment, reason)
        case .wake(let moment, let slept): wake(moment, slept)
        case .notice(let moment, let notice):
            stamp(moment.wall) + style.paint(DisplayText.sanitized(String(describing: notice)), .grey) + "\n"
        }
    }

    private func line(for event: DaemonEvent) -> String {
        switch event {
        case .change(let change), .unavailable(_, let change): self.change(change)
        case .resync(let moment, let reason): resync(moment, DisplayText.sanitized(reason))
        case .wake(let moment, let slept): wake(moment, slept)
        case .dropped(let moment, let count): stamp(moment.wall) + "\(count) events were missed\n"
        case .snapshot(let moment, let state, _):
            stamp(moment.wall) + StatusText(style: style).summary(of: state) + "\n"
        case .other(let moment, "probe", let json): probe(json, at: moment)
        case .other(let moment, "queue", let json): queue(json, at: moment)
        case .other(let moment, let type, _):
            stamp(moment.wall) + style.paint("an event of the type '\(DisplayText.sanitized(type))'", .grey) + "\n"
        case .disconnected(let moment, let error, let state):
            stamp(moment.wall) + style.paint("\(error)", .yellow) + "; "
                + StatusText(style: style).summary(of: state) + "\n"
        case .reconnected(let moment, let away):
            stamp(moment.wall) + "the daemon is back after \(DurationText.describe(away))\n"
        }
    }

    private func probe(_ json: JSONValue, at moment: Instant) -> String {
        guard let event = try? ProbeEvent(reading: json) else { return stamp(moment.wall) + "a probe\n" }
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
        return stamp(moment.wall) + "probe \(name) \(words)\n"
    }

    private func queue(_ json: JSONValue, at moment: Instant) -> String {
        guard case .event(let record)? = (try? QueueNotice(reading: json)) ?? nil else {
            return stamp(moment.wall) + "the queue\n"
        }
        return stamp(moment.wall) + QueueEventText(style: style).line(for: record) + "\n"
    }

    private func resync(_ moment: Instant, _ reason: String) -> String {
        stamp(moment.wall) + "everything was read again: \(reason)\n"
    }

    private func wake(_ moment: Instant, _ slept: Duration) -> String {
        stamp(moment.wall) + "the machine slept for \(DurationText.describe(slept))\n"
    }

    func dropped(_ count: Int, now state: ReachabilityState) -> String {
        "(\(count) lines dropped)\n" + StatusText(style: style).describe(state)
    }

    private func change(_ change: ReachabilityChange) -> String {
        let status = StatusText(style: style)
        let paths = [("IPv4", change.state.ipv4), ("IPv6", change.state.ipv6)]
            .filter { $0.1.status == .reachable }
            .map { "\($0) \(status.describe($1))" }
        let cause = change.isInitial ? "" : style.paint(" [\(change.cause.rawValue)]", .grey)
        let details = paths.isEmpty ? "" : "; " + paths.joined(separator: ", ")
        return stamp(change.time) + status.summary(of: change.state) + details + cause + "\n"
    }

    /// The local time of day.
    private func stamp(_ time: Timestamp) -> String {
        var seconds = time_t(time.nanosecondsSince1970 / 1_000_000_000)
        var parts = tm()
        localtime_r(&seconds, &parts)
        let digits = [parts.tm_hour, parts.tm_min, parts.tm_sec].map { $0 < 10 ? "0\($0)" : "\($0)" }
        return style.paint(digits.joined(separator: ":"), .grey) + "  "
    }

    /// The local date and time of day.
    static func localTime(_ time: Timestamp) -> String {
        var seconds = time_t(time.nanosecondsSince1970 / 1_000_000_000)
        var parts = tm()
        localtime_r(&seconds, &parts)
        var text = [CChar](repeating: 0, count: 32)
        let length = strftime(&text, text.count, "%Y-%m-%d %H:%M:%S", &parts)
        return String(decoding: text.prefix(length).map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
