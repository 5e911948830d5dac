package import ReachCore

/// An outage with what is recorded of its cause.
package struct RecordedOutage: Hashable {
    package let target: String
    /// When it began, which may be before the period.
    package let from: Timestamp
    /// When it ended, or the end of the period.
    package let to: Timestamp
    /// How long the target was down within the period.
    package let duration: Duration
    /// Whether it began before the period.
    package let beganBefore: Bool
    /// Whether it was not over at the end of the period.
    package let isOpen: Bool
    package let cause: OutageCause
    /// What broke, as words of the interface; `nil` if none was recorded.
    package var rootCause: String?
    package var rootInterface: String?
    /// The path of the target at the beginning, if there was one.
    package var interface: String?
    package var linkClass: String?
    package var gateway: String?
    /// What tests found meanwhile; `nil` where none were made.
    package var tests: OutageEvidence?
    /// The requests that waited in the queue when it ended; `nil` if that is not recorded.
    package var waiting: Int?

    /// The outages of a target in the period of its timeline.
    package static func list(of target: String, _ source: HistorySource, _ timeline: HistoryTimeline)
        -> [RecordedOutage]
    {
        let within = HistorySummary(timeline)
        guard !within.outages.isEmpty else { return [] }
        // Only the whole history says when the first of them began.
        let history = HistorySummary(source.timeline(of: target, since: nil, until: timeline.to))
        let states = source.states(of: target)
        return zip(within.outages, history.outages.suffix(within.outages.count)).enumerated().map { number, pair in
            let (outage, history) = pair
            var result = RecordedOutage(
                target: target, from: min(history.from, outage.from), to: outage.to, duration: outage.duration,
                beganBefore: history.from < timeline.from,
                isOpen: within.isDown && number == within.outages.count - 1, cause: history.cause)
            result.addEvidence(states)
            result.tests = source.evidence(of: target, from: result.from, to: result.to)
            return result
        }
    }

    private mutating func addEvidence(_ states: [(time: Timestamp, state: HistoryEntry.State)]) {
        // The outage begins with one of these states; the clock of a boot may be off by less than a millisecond.
        let first = states.partitioningIndex { $0.time >= from }
        for (time, state) in states[first...] {
            guard time <= to else { break }
            if rootCause == nil, let cause = state.rootCause {
                (rootCause, rootInterface) = (cause, state.rootInterface)
            }
            if interface == nil, state.status == .reachable {
                (interface, linkClass, gateway) = (state.interface, state.linkClass, state.gateway)
            }
            if rootCause != nil || interface != nil { break }
        }
    }

    /// What failed, in words that may quote names from outside.
    package var sentence: String {
        let kind = rootCause.flatMap(RootCause.Kind.init)
        let broken = kind.map { RootCause($0, interface: rootInterface).sentence }
        if let broken { return broken }
        let hasPath = cause.layer == .internet || cause.layer == .portal || cause == .namesAlone
        guard hasPath, let interface else { return cause.sentence }
        let linkClass = linkClass.map { " (\($0))" } ?? ""
        return "\(cause.sentence); \(interface)\(linkClass) was up"
    }

    /// What tests found that the sentence does not say.
    package var finding: String? { tests.flatMap { $0.text.isEmpty || $0.text == sentence ? nil : $0.text } }

    /// The sentence, and what tests found meanwhile.
    package var sentenceWithTests: String { sentence + (finding.map { "; tests found: " + $0 } ?? "") }

    /// The words from which it follows, such as `no-carrier eth0`.
    package var evidence: String {
        let root = rootCause.flatMap { $0 == cause.evidence ? nil : $0 }
        return [cause.evidence.isEmpty ? nil : cause.evidence, root, rootInterface].compactMap { $0 }
            .joined(separator: " ")
    }
}

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
