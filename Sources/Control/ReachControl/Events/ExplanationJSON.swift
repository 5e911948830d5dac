package import ReachCore

extension JSONWriter {
    /// Writes an explanation, as `reach explain --json` prints it.
    package mutating func explanation(_ explanation: Explanation, source: StatusSource, at moment: Instant) {
        object { json in
            json.field("v", 1)
            json.field("type", "explanation")
            json.times(moment.wall, moment.boot)
            json.field("source", source.rawValue)
            json.field("target", explanation.target.description)
            let verdict = explanation.verdict
            json.field("status", verdict.status.rawValue)
            json.field("class", verdict.linkClass?.rawValue)
            json.field("interface", verdict.interface)
            json.field("reason", verdict.reason?.rawValue)
            json.rootCause(verdict.rootCause)
            json.field("metered", verdict.isMetered)
            json.proof(explanation.proof)
            json.field("held", explanation.isHeld)
            json.field("ipv4", object: { $0.family(explanation.ipv4) })
            json.field("ipv6", object: { $0.family(explanation.ipv6) })
        }
    }

    /// - Parameter proof: `nil` where nothing is checked.
    private mutating func proof(_ proof: Explanation.Proof?) {
        field("connectivity", proof?.connectivity.rawValue)
        if let since = proof?.since {
            field("connectivity_since", since)
        } else {
            field("connectivity_since", String?.none)
        }
        field("portal", proof?.portal)
    }

    private mutating func family(_ family: Explanation.Family) {
        field("status", family.path.status.rawValue)
        field("reason", family.path.reason?.rawValue)
        field(
            "steps",
            array: { json in
                for step in family.steps {
                    json.object {
                        $0.field("subject", step.subject.rawValue)
                        $0.field("finding", step.finding.rawValue)
                        $0.field("text", step.text)
                    }
                }
            })
    }
}
