package import ReachCore

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
