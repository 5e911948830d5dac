/// The reasons why a target is reachable or not, step by step, for people. The verdict is that of `reach status`.
package struct Explanation: Hashable, Sendable {
    package typealias Step = ExplainedStep<Subject>

    package enum Subject: String, StepSubject {
        /// The addresses that represent the target.
        case target
        /// The answer of the resolver.
        case name
        /// The policy rules that choose a routing table.
        case rule
        /// The route that matched, or the lack of one.
        case route
        /// The interface by which packets leave.
        case link
        /// A link that carries this interface.
        case lower
        /// The source address.
        case source
        /// The first hop.
        case neighbour
        /// The conclusion from the steps before.
        case verdict

        package static var other: Subject { .target }
        package static var isTimed: Bool { false }
    }

    /// The path in one family, and the steps that explain it.
    package struct Family: Hashable, Sendable {
        package var path: NetworkPath
        package var steps: [Step]

        package init(path: NetworkPath, steps: [Step]) {
            self.path = path
            self.steps = steps
        }
    }

    package var target: Target
    package var verdict: Verdict
    package var ipv4: Family
    package var ipv6: Family
    /// What checks have proved about the target, as its state says; `nil` if none do.
    package var proof: Proof?
    /// Whether a hold-down holds back this verdict, so that another one is reported.
    package var isHeld = false

    /// What checks have proved.
    package struct Proof: Hashable, Sendable {
        package let connectivity: Connectivity
        /// When it began, as far as a state says that.
        package let since: Timestamp?
        package let portal: String?
        /// Why the Internet does not answer, where more than that is proved.
        package let reason: Reason?

        package init(_ connectivity: Connectivity, since: Timestamp?, portal: String?, reason: Reason? = nil) {
            self.connectivity = connectivity
            self.reason = reason
            self.since = since
            self.portal = portal
        }
    }

    package init(target: Target, verdict: Verdict, ipv4: Family, ipv6: Family) {
        self.target = target
        self.verdict = verdict
        self.ipv4 = ipv4
        self.ipv6 = ipv6
    }
}

/// One fact that was checked: what `reach explain` and `reach explain --probe` print alike.
package struct ExplainedStep<Topic: StepSubject>: Hashable, Sendable {
    package typealias Subject = Topic
    package typealias Finding = StepFinding

    package var subject: Subject
    package var finding: Finding
    /// Whole sentences: what was found, what follows from it, and how to fix a problem.
    package var text: String
    /// How long the answer took; `nil` where nothing answered, or nothing was sent.
    package var duration: Duration?

    package init(_ subject: Subject, _ finding: Finding, _ text: String, duration: Duration? = nil) {
        self.subject = subject
        self.finding = finding
        self.text = text
        self.duration = duration
    }
}

package enum StepFinding: String, Hashable, Sendable, CaseIterable {
    case good, bad, neutral
}

/// What a step was about. The raw values are words of the interface.
package protocol StepSubject: RawRepresentable<String>, CaseIterable, Hashable, Sendable {
    /// What stands for the word of a newer version.
    static var other: Self { get }
    /// Whether such steps take time, so that programs read how long.
    static var isTimed: Bool { get }
}
