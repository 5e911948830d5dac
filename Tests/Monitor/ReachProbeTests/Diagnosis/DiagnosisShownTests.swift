import ReachCore
import ReachProbe
import ReachRecords
import ReachTesting
import Testing

/// Everything that a reader of a diagnosis gets, and what was tested for it.
struct DiagnosisShownTests {
    @Test func `each way to be broken is described as this, whole`() {
        let texts = DiagnosisSituation.all.map { "# \($0.name)\n" + Self.text($0.world().run) }
        #expect(ShownText.difference(of: texts.joined(separator: "\n"), from: "diagnoses.txt") == nil)
    }

    private static func text(_ run: (diagnosis: Diagnosis, tasks: [DiagnosisTask])) -> String {
        let diagnosis = run.diagnosis
        var lines = [diagnosis.outcome.rawValue]
        if let blame = diagnosis.blame {
            let between = blame.between.map(\.rawValue).joined(separator: " or ")
            let signs = (blame.isSilence ? " (silence)" : "") + (blame.isFarEnd ? " (far end)" : "")
            lines.append("\(blame.party.rawValue) \(blame.layer.rawValue)\(signs): \(blame.text)")
            if !between.isEmpty { lines.append("between \(between)") }
        }
        lines += diagnosis.steps.map { step in
            "\(step.finding.rawValue) \(step.subject.rawValue)\(step.duration == nil ? "" : " (timed)"): \(step.text)"
        }
        for fact in diagnosis.facts {
            lines.append("fact \(fact.word) \(fact.weight): \(fact.text)")
            lines.append("  for \(listed(fact.speaksFor)), against \(listed(fact.speaksAgainst))")
        }
        if let quality = diagnosis.quality {
            let line = quality.line
            lines.append(
                "line \(line.word.rawValue) \(quality.stretch ?? "as a whole"): \(line.lossPermille) of 1000 lost of "
                    + "\(line.packets), \(line.roundTrip?.description ?? "no round trip"), "
                    + "\(line.jitter?.description ?? "no jitter")")
        }
        return (lines + [counts(run.tasks)]).joined(separator: "\n") + "\n"
    }

    private static func listed(_ words: [String]) -> String { words.isEmpty ? "none" : words.listed }

    /// How many tasks of each kind there were.
    private static func counts(_ tasks: [DiagnosisTask]) -> String {
        let kinds = Dictionary(grouping: tasks) { String("\($0)".prefix { $0 != "(" }) }.mapValues(\.count)
        return "tasks: " + kinds.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
    }
}
