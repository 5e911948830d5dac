/// What tests of the whole way found while a target could not be used, as `reach explain --probe` prints it, for the
/// history.
package struct OutageEvidence: Hashable, Sendable {
    package var target: String
    /// The word of the diagnosis's outcome.
    package var outcome: String
    /// Who can mend it, as a word of the interface; `nil` where that is not known.
    package var party: String?
    /// What is broken; empty where that is not known.
    package var text: String
    /// What was found on the way, step by step.
    package private(set) var steps: [String]

    /// Servers' words are in the texts, and the history keeps many of them.
    package static let mostSteps = 16
    package static let longestText = 300

    package init(target: String, outcome: String, party: String?, text: String, steps: [String]) {
        self.target = target
        self.outcome = outcome
        self.party = party
        self.text = DisplayText.excerpt(text, upTo: Self.longestText)
        self.steps = steps.prefix(Self.mostSteps).map { DisplayText.excerpt($0, upTo: Self.longestText) }
    }
}
