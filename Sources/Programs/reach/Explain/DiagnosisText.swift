internal import ReachCore
internal import ReachTerminal

/// A diagnosis for people: what is broken and who can mend it, then the steps in the order in which a packet meets them.
struct DiagnosisText {
    let style: TerminalStyle
    /// The terminal's width in columns; `nil` without a terminal, where each step is one line.
    let width: Int?

    func describe(_ diagnosis: Diagnosis) -> String {
        let layout = ExplanationText(style: style, width: width)
        let steps = diagnosis.steps.map { step in
            let time = step.duration.map { " (" + ProbeText.milliseconds($0) + ")" } ?? ""
            return layout.line(step.subject.rawValue, step.finding, step.text + time, subjectWidth: 13)
        }
        return headline(diagnosis) + "\n" + steps.joined()
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
