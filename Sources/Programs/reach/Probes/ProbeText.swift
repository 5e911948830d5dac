internal import ReachControl
internal import ReachCore
internal import ReachTerminal

/// The result of an attempt, for people, with the duration of each phase.
struct ProbeText {
    let style: TerminalStyle

    func describe(_ answer: ProbeAnswer) -> String {
        let result = answer.result
        var line = style.paint(DisplayText.sanitized(answer.name ?? answer.target), .bold) + "  " + word(result.outcome)
        line += "  " + Self.milliseconds(result.duration)
        if let status = result.httpStatus { line += "  HTTP \(status)" }
        if let address = result.address { line += "  \(address)" }
        if let interface = result.interface { line += "  by " + DisplayText.sanitized(interface) }
        var lines = [line]
        if !result.detail.isEmpty { lines.append("    " + DisplayText.sanitized(result.detail)) }
        let phases = result.phases.reached
        if !phases.isEmpty {
            lines.append(
                "    " + phases.map { "\($0.phase.rawValue) \(Self.milliseconds($0.duration))" }.joined(separator: ", ")
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
            + "; \(milliseconds(trips.least)) to \(milliseconds(trips.most)), median \(milliseconds(trips.median)), "
            + "jitter \(milliseconds(trips.jitter))"
    }

    func word(_ outcome: ProbeResult.Outcome) -> String {
        switch outcome {
        case .ok: style.paint("ok", .green)
        case .fail(let failure): style.paint("failed: \(failure.rawValue)", .red)
        case .inconclusive(let doubt): style.paint("inconclusive: \(doubt.rawValue)", .yellow)
        }
    }

    /// Three significant digits: `0.12 ms`, `12.3 ms`, `1.23 s`.
    static func milliseconds(_ duration: Duration) -> String {
        let microseconds = duration.microseconds
        switch microseconds {
        case ..<10_000: return "\(fixed(microseconds / 10, 2)) ms"
        case ..<100_000: return "\(fixed(microseconds / 100, 1)) ms"
        case ..<1_000_000: return "\(microseconds / 1000) ms"
        default: return "\(fixed(microseconds / 10_000, 2)) s"
        }
    }

    /// Formats a number that was multiplied by a power of ten.
    private static func fixed(_ number: Int64, _ decimals: Int) -> String {
        let digits = String(number)
        let padded = String(repeating: "0", count: max(0, decimals + 1 - digits.count)) + digits
        return padded.dropLast(decimals) + "." + padded.suffix(decimals)
    }
}

extension Timestamp {
    /// Its date alone.
    fileprivate var day: String { String(description.prefix(10)) }
}
