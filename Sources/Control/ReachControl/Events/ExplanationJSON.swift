package import ReachClient
package import ReachCore

extension JSONWriter {
    /// Writes an explanation, as `reach explain --json` prints it.
    package mutating func explanation(_ explanation: Explanation, source: StatusSource, at moment: Instant) {
        line("explanation", at: moment) { json in
            json.field("source", source.rawValue)
            explanation.writeMembers(to: &json)
        }
    }
}

extension Explanation: JSONObject {
    package static var blank: Explanation {
        Explanation(
            target: .internet, verdict: Verdict(ipv4: .unknown, ipv6: .unknown), ipv4: .blank, ipv6: .blank)
    }

    package mutating func members(_ line: inout some JSONMembers & ~Copyable) {
        line.member("target", &target)
        line.word("status", &verdict.status, unknown: .unknown)
        line.word("class", &verdict.linkClass, unknown: .other)
        line.optional("interface", &verdict.interface)
        line.word("reason", &verdict.reason)
        line.rootCause(&verdict.rootCause)
        line.optional("metered", &verdict.isMetered)
        proofMembers(&line)
        line.optional("held", &isHeld)
        line.member("ipv4", &ipv4)
        line.member("ipv6", &ipv6)
        (verdict.ipv4, verdict.ipv6) = (ipv4.path, ipv6.path)
    }

    private mutating func proofMembers(_ line: inout some JSONMembers & ~Copyable) {
        var (connectivity, since) = (proof?.connectivity, proof?.since)
        var (reason, portal) = (proof?.reason, proof?.portal)
        line.word("connectivity", &connectivity)
        line.optional("connectivity_since", &since)
        line.word("connectivity_reason", &reason, else: .missing)
        line.optional("portal", &portal)
        proof = connectivity.map { Proof($0, since: since, portal: portal, reason: reason) }
    }
}

extension Explanation.Family: JSONObject {
    package static var blank: Self { Self(path: .unknown, steps: []) }

    package mutating func members(_ line: inout some JSONMembers & ~Copyable) {
        line.word("status", &path.status, unknown: .unknown)
        line.word("reason", &path.reason)
        line.member("steps", &steps)
    }
}

extension ExplainedStep: JSONObject {
    package static var blank: Self { Self(.other, .neutral, "") }

    package mutating func members(_ line: inout some JSONMembers & ~Copyable) {
        line.word("subject", &subject, unknown: .other)
        line.word("finding", &finding, unknown: .neutral)
        line.member("text", &text)
        if Topic.isTimed { line.microseconds("duration_us", &duration) }
    }
}
