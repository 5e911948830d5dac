internal import ReachCore
internal import ReachRecords
internal import ReachTerminal

/// A diagnosis for people: what is broken and who can mend it, then the steps in the order in which a packet meets
/// them.
struct DiagnosisText {
    let style: TerminalStyle
    /// The terminal's width in columns; `nil` without a terminal, where each step is one line.
    let width: Int?

    func describe(_ diagnosis: Diagnosis) -> String {
        let layout = ExplanationText(style: style, width: width)
        let steps = diagnosis.steps.map { layout.line($0) }
        let facts = diagnosis.facts.map { fact in
            layout.line("fact", .neutral, fact.text + Self.bearing(of: fact), among: Diagnosis.Subject.self)
        }
        return headline(diagnosis) + quality(diagnosis) + "\n" + (steps + facts).joined()
    }

    /// What a fact speaks for and against, by parties.
    private static func bearing(of fact: Diagnosis.Fact) -> String {
        func parties(_ words: [String]) -> [String] {
            words.reduce(into: []) { parties, word in
                let party = word.split(scalar: "/").first.map(String.init) ?? word
                if !parties.contains(party) { parties.append(party) }
            }
        }
        let sides = [("for", parties(fact.speaksFor)), ("against", parties(fact.speaksAgainst))].filter {
            !$0.1.isEmpty
        }
        return sides.isEmpty
            ? "" : " (" + sides.map { $0 + " " + $1.joined(separator: ", ") }.joined(separator: "; ") + ")"
    }

    /// The line's quality, where it is worth a line.
    private func quality(_ diagnosis: Diagnosis) -> String {
        guard let quality = diagnosis.quality, quality.line.word == .slow, let trip = quality.line.roundTrip else {
            return ""
        }
        let stretch = quality.stretch.map { ", most of it " + DisplayText.sanitized($0) } ?? ""
        return "The line is slow: a round trip takes \(DurationText.milliseconds(trip))\(stretch).\n"
    }

    private func headline(_ diagnosis: Diagnosis) -> String {
        let target = style.paint(DisplayText.sanitized(diagnosis.target), .bold)
        let word: String
        switch diagnosis.outcome {
        case .ok: word = style.paint("works", .green)
        case .degraded: word = style.paint("works, but not everything on the way does", .yellow)
        case .failed: word = style.paint("does not work", .red)
        case .unknown: word = style.paint("unknown", .yellow)
        }
        guard let blame = diagnosis.blame else { return "\(target)  \(word)\n" }
        return "\(target)  \(word): \(DisplayText.sanitized(blame.text))\n\(blame.advice)\n"
    }
}
