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
        if let reason = proof?.reason { field("connectivity_reason", reason.rawValue as String?) }
        field("portal", proof?.portal)
    }

    private mutating func family(_ family: Explanation.Family) {
        field("status", family.path.status.rawValue)
        field("reason", family.path.reason?.rawValue)
        steps(family.steps)
    }

    mutating func steps<Topic>(_ steps: [ExplainedStep<Topic>]) {
        objects("steps", steps) { json, step in
            json.field("subject", step.subject.rawValue)
            json.field("finding", step.finding.rawValue)
            json.field("text", step.text)
            if Topic.isTimed { json.field("duration_us", step.duration?.microseconds) }
        }
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
            proof = Proof(
                connectivity, since: since, portal: try reader.optional("portal", \.string),
                reason: try reader.word("connectivity_reason"))
        }
        isHeld = try reader.optional("held", \.bool) ?? false
    }
}

extension Explanation.Family {
    fileprivate init(_ reader: StatusReader) throws(StatusReadingError) {
        let status = ReachabilityStatus(rawValue: try reader.value("status", \.string)) ?? .unknown
        self.init(path: NetworkPath(status: status, reason: try reader.word("reason")), steps: try reader.steps())
    }
}

extension StatusReader {
    func steps<Topic>() throws(StatusReadingError) -> [ExplainedStep<Topic>] {
        try objects("steps").map { step throws(StatusReadingError) in
            ExplainedStep(
                Topic(rawValue: try step.value("subject", \.string)) ?? .other,
                StepFinding(rawValue: try step.value("finding", \.string)) ?? .neutral,
                try step.value("text", \.string),
                duration: try step.optional("duration_us", \.integer).map { .microseconds($0) })
        }
    }
}
