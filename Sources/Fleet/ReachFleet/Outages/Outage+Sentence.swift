package import ReachCore

/// A piece of a sentence: words, or a time, which the reader's clock decides how to show.
package enum SentencePiece: Hashable, Sendable {
    case words(String)
    case time(Timestamp)
}

extension Outage {
    /// The outage for people: `312 of 318 hosts behind 203.0.113.0/24 silent since 03:10:04, within 4 s; 100 are back`.
    package var sentence: [SentencePiece] {
        var pieces: [SentencePiece] = [
            .words(
                "\(extent.affected) of \(extent.known) hosts\(extent.trait.phrase) \(state) \(isOpen ? "since" : "from") "
            ),
            .time(first), .words(isVague ? ", or up to \(Self.text(vagueness)) later" : ", within \(Self.text(span))"),
        ]
        if let reason { pieces.append(.words(": \(reason.sentence)")) }
        if let lastBack {
            switch (isOpen, back == members.count) {
            case (true, _): pieces.append(.words(back == 1 ? "; 1 is back" : "; \(back) are back"))
            case (false, true): pieces += [.words("; all back by "), .time(lastBack)]
            case (false, false): pieces += [.words("; \(back) back by "), .time(lastBack)]
            }
        }
        return pieces
    }

    /// What else the hosts share: `also 30 of 30 on wwan, 30 of 30 with site=berlin-7`; `nil` for nothing.
    package var addition: String? {
        guard !others.isEmpty else { return nil }
        let shown = others.prefix(Self.shownOthers).map { "\($0.affected) of \($0.known)\($0.trait.phrase)" }
        let more = others.count - shown.count
        return "also " + shown.joined(separator: ", ") + (more > 0 ? " and \(more) more" : "")
    }

    /// A line of a terminal has room for about so many.
    private static let shownOthers = 4

    /// Silent is what the engine sees. Hosts that have spoken since say that they had no path.
    private var state: String { confirmed * 2 > members.count ? "not reachable" : "silent" }

    private var vagueness: Duration { first.duration(to: firstBy) }

    /// Whether it is known too badly when the hosts went to say how close together. Hosts that are found to be away
    /// later may show better when it was.
    private var isVague: Bool { vagueness > RosterHost.clockTolerance }

    private static func text(_ span: Duration) -> String {
        // Whole seconds, so that no one reads a precision into it that the clocks do not have.
        let seconds = max((span.nanoseconds + 999_999_999) / 1_000_000_000, 1)
        return seconds < 60 ? "\(seconds) s" : DurationText.describe(.seconds(seconds))
    }
}

extension [SentencePiece] {
    /// The sentence, with times as the reader wants them.
    package func text(writing time: (Timestamp) -> String) -> String {
        reduce(into: "") { text, piece in
            switch piece {
            case .words(let words): text += words
            case .time(let moment): text += time(moment)
            }
        }
    }
}
