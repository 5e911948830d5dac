internal import ReachCore
internal import ReachLoop
internal import ReachTerminal

/// An explanation for people: the verdict, then the steps of each family.
struct ExplanationText {
    let style: TerminalStyle
    /// The terminal's width in columns; `nil` without a terminal, where each step is one line.
    let width: Int?

    /// Lines longer than this are hard to read, however wide the terminal is.
    private static let comfortableWidth = 100

    func describe(_ explanation: Explanation) -> String {
        let status = StatusText(style: style, lastAnswer: \.lastGatewayAnswer)
        let families = [("IPv4", explanation.ipv4), ("IPv6", explanation.ipv6)].filter { !$0.1.steps.isEmpty }
        var blocks = families.map { name, family in block(name, family, status) }
        // For a name that does not resolve, or a missing interface, both families are the same.
        if families.count == 2, families[0].1.steps == families[1].1.steps {
            blocks = [block("IPv4 and IPv6", families[0].1, status)]
        }
        var state = ReachabilityState(target: explanation.target, since: SystemClock.now.wall)
        state.adopt(explanation.verdict)
        if let proof = explanation.proof {
            state.connectivity = proof.connectivity
            (state.portal, state.connectivityReason) = (proof.portal, proof.reason)
            state.connectivitySince = proof.since ?? state.since
        }
        let held = explanation.isHeld ? " (a hold-down holds this back, so another status is reported)" : ""
        return ([status.summary(of: state) + held + "\n"] + blocks).joined(separator: "\n")
    }

    private func block(_ name: String, _ family: Explanation.Family, _ status: StatusText) -> String {
        let isAsked = family.path.reason != .notAsked
        let heading = style.paint(name, .bold) + (isAsked ? "  " + status.word(for: family.path.status) : "")
        return heading + "\n" + family.steps.map { line($0) }.joined()
    }

    func line<Topic>(_ step: ExplainedStep<Topic>) -> String {
        let time = step.duration.map { " (" + DurationText.milliseconds($0) + ")" } ?? ""
        return line(step.subject.rawValue, step.finding, step.text + time, among: Topic.self)
    }

    /// - Parameter topic: Whose words stand in the column of subjects.
    func line<Topic: StepSubject>(
        _ subject: String, _ finding: StepFinding, _ text: String, among topic: Topic.Type
    ) -> String {
        let width = 2 + (Topic.allCases.map(\.rawValue.count).max() ?? 0)
        let column = 6 + width
        let start = "  \(mark(finding))  \(subject)" + String(repeating: " ", count: width - subject.count)
        let lines = self.width.map { limit in
            WrappedText.broken(start + text, width: min(limit, Self.comfortableWidth), under: column)
        }
        return (lines ?? [start + text]).map { $0 + "\n" }.joined()
    }

    private func mark(_ finding: StepFinding) -> String {
        switch finding {
        case .good: style.paint("ok", .green)
        case .bad: style.paint("!!", .red)
        case .neutral: "  "
        }
    }
}
