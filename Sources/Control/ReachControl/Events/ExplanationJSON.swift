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

extension Explanation {
    /// Reads an explanation that ``JSONWriter/explanation(_:source:at:)`` wrote.
    package init(reading json: JSONValue) throws(StatusReadingError) { try self.init(StatusReader(json)) }

    private init(_ reader: StatusReader) throws(StatusReadingError) {
        guard let target = try? Target(try reader.value("target", \.string)) else { throw reader.fault("target") }
        let (ipv4, ipv6) = (try Family(reader.object("ipv4")), try Family(reader.object("ipv6")))
        var verdict = Verdict(ipv4: ipv4.path, ipv6: ipv6.path)
        verdict.status = ReachabilityStatus(rawValue: try reader.value("status", \.string)) ?? .unknown
        verdict.reason = try reader.word("reason")
        verdict.rootCause = try reader.rootCause()
        verdict.linkClass = try reader.optional("class", \.string).map { LinkClass(rawValue: $0) ?? .other }
        verdict.interface = try reader.optional("interface", \.string)
        verdict.isMetered = try reader.optional("metered", \.bool) ?? false
        self.init(target: target, verdict: verdict, ipv4: ipv4, ipv6: ipv6)
        if let connectivity: Connectivity = try reader.word("connectivity") {
            let since = try reader.optional("connectivity_since", \.string).flatMap { Timestamp($0) }
            proof = Proof(connectivity, since: since, portal: try reader.optional("portal", \.string))
        }
        isHeld = try reader.optional("held", \.bool) ?? false
    }
}

extension Explanation.Family {
    fileprivate init(_ reader: StatusReader) throws(StatusReadingError) {
        let status = ReachabilityStatus(rawValue: try reader.value("status", \.string)) ?? .unknown
        let steps = try reader.objects("steps").map { step throws(StatusReadingError) in
            try Explanation.Step(step)
        }
        self.init(path: NetworkPath(status: status, reason: try reader.word("reason")), steps: steps)
    }
}

extension Explanation.Step {
    fileprivate init(_ reader: StatusReader) throws(StatusReadingError) {
        let text = try reader.value("text", \.string)
        let finding = Finding(rawValue: try reader.value("finding", \.string)) ?? .neutral
        self.init(Subject(rawValue: try reader.value("subject", \.string)) ?? .target, finding, text)
    }
}
