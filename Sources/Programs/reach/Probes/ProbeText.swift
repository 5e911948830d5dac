internal import ReachControl
internal import ReachCore
internal import ReachTerminal

/// The result of an attempt, for people, with the duration of each phase.
struct ProbeText {
    let style: TerminalStyle

    func describe(_ answer: ProbeAnswer) -> String {
        let result = answer.result
        var line = style.paint(DisplayText.sanitized(answer.name ?? answer.target), .bold) + "  " + word(result.outcome)
        line += "  " + DurationText.milliseconds(result.duration)
        if let status = result.httpStatus { line += "  HTTP \(status)" }
        if let address = result.address { line += "  \(address)" }
        if let interface = result.interface { line += "  by " + DisplayText.sanitized(interface) }
        var lines = [line]
        if !result.detail.isEmpty { lines.append("    " + DisplayText.sanitized(result.detail)) }
        let phases = result.phases.reached
        if !phases.isEmpty {
            lines.append(
                "    "
                    + phases.map { "\($0.phase.rawValue) \(DurationText.milliseconds($0.duration))" }.joined(
                        separator: ", ")
            )
        }
        if let burst = result.burst { lines.append("    " + Self.describe(burst)) }
        if let end = result.certificateEnd, let days = result.certificateDays {
            // It may not be valid yet, or be another host's.
            let isRefused = result.outcome == .fail(.certificate)
            let text =
                days < 0
                ? "certificate ended \(end.day)"
                : isRefused
                    ? "certificate not accepted, to \(end.day)" : "certificate good for \(days) days, to \(end.day)"
            lines.append("    " + text)
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// `2 of 20 lost; 11.2 ms to 40.1 ms, median 12.0 ms, jitter 3.10 ms`
    static func describe(_ burst: ProbeBurst) -> String {
        let loss = "\(burst.lost) of \(burst.sent) lost"
        guard let trips = burst.trips else { return loss }
        return loss
            + "; \(DurationText.milliseconds(trips.least)) to \(DurationText.milliseconds(trips.most)), median "
            + "\(DurationText.milliseconds(trips.median)), jitter \(DurationText.milliseconds(trips.jitter))"
    }

    func word(_ outcome: ProbeResult.Outcome) -> String {
        switch outcome {
        case .ok: style.paint("ok", .green)
        case .fail(let failure): style.paint("failed: \(failure.rawValue)", .red)
        case .inconclusive(let doubt): style.paint("inconclusive: \(doubt.rawValue)", .yellow)
        }
    }
}

extension Timestamp {
    /// Its date alone.
    fileprivate var day: String { String(description.prefix(10)) }
}
