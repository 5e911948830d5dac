package import ReachCore

extension JSONWriter {
    /// An explanation, as `reach explain --json` prints it.
    package mutating func explanation(_ explanation: Explanation, at moment: Moment) {
        object { json in
            json.field("v", 1)
            json.field("type", "explanation")
            json.times(moment.wall, moment.boot)
            json.field("target", explanation.target.description)
            json.field("status", explanation.verdict.status.rawValue)
            json.field("reason", explanation.verdict.reason?.rawValue)
            json.field("ipv4", object: { $0.family(explanation.ipv4) })
            json.field("ipv6", object: { $0.family(explanation.ipv6) })
        }
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
