/// Why a target is reachable or not, step by step, for people. The verdict is the one that `reach status` tells.
package struct Explanation: Hashable, Sendable {
    /// One thing that was looked at.
    package struct Step: Hashable, Sendable {
        package enum Subject: String, Hashable, Sendable, CaseIterable {
            /// Which addresses stand for the target.
            case target
            /// What the resolver said.
            case name
            /// The policy rules that choose a routing table.
            case rule
            case route
            /// The interface by which packets leave.
            case link
            /// A link that carries that one.
            case lower
            /// The address they are sent from.
            case source
            /// The first hop.
            case neighbour
            /// What follows from the steps before.
            case verdict
        }

        package enum Finding: String, Hashable, Sendable, CaseIterable {
            case good, bad, neutral
        }

        package let subject: Subject
        package let finding: Finding
        /// Whole sentences: what was found, what follows, and for something bad what would mend it.
        package let text: String

        package init(_ subject: Subject, _ finding: Finding, _ text: String) {
            self.subject = subject
            self.finding = finding
            self.text = text
        }
    }

    package struct Family: Hashable, Sendable {
        package let path: NetworkPath
        package let steps: [Step]

        package init(path: NetworkPath, steps: [Step]) {
            self.path = path
            self.steps = steps
        }
    }

    package let target: Target
    package let verdict: Verdict
    package let ipv4: Family
    package let ipv6: Family

    package init(target: Target, verdict: Verdict, ipv4: Family, ipv6: Family) {
        self.target = target
        self.verdict = verdict
        self.ipv4 = ipv4
        self.ipv6 = ipv6
    }
}
