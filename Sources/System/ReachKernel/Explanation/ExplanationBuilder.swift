package import ReachCore

/// Explains a verdict from the facts behind it: what was found, what follows from it, and how to fix a problem.
///
/// It decides nothing and states nothing beyond the facts.
package struct ExplanationBuilder {
    let facts: ExplanationFacts

    package init(_ facts: ExplanationFacts) { self.facts = facts }

    package var explanation: Explanation {
        var explanation = Explanation(
            target: facts.target, verdict: facts.verdict,
            ipv4: Explanation.Family(path: facts.verdict.ipv4, steps: steps(for: .ipv4)),
            ipv6: Explanation.Family(path: facts.verdict.ipv6, steps: steps(for: .ipv6)))
        explanation.proof = proof
        explanation.isHeld = facts.reported.map { $0.isHeld && $0.status != facts.verdict.status } ?? false
        return explanation
    }

    /// What the reported state says, where it is about the same path; otherwise what follows from the checks.
    private var proof: Explanation.Proof? {
        guard let report = facts.proved else { return nil }
        if let state = facts.reported, state.isValidated, state.status == facts.verdict.status,
            state.interface == facts.verdict.interface
        {
            return Explanation.Proof(
                state.connectivity, since: state.connectivitySince, portal: state.portal,
                reason: state.connectivityReason)
        }
        var state = ReachabilityState(target: facts.target, since: Timestamp(nanosecondsSince1970: 0))
        state.adopt(facts.verdict)
        state.adopt(proved: report)
        return Explanation.Proof(
            state.connectivity, since: nil, portal: state.portal, reason: state.connectivityReason)
    }

    private func steps(for family: IPAddress.Family) -> [Explanation.Step] {
        let path = family == .ipv4 ? facts.verdict.ipv4 : facts.verdict.ipv6
        let targetSteps = targetSteps(for: family)
        guard path.reason != .notAsked else { return targetSteps }
        let findings = facts.findings.filter { $0.destination.family == family }
        let builder = FamilyExplanationBuilder(
            facts: facts, family: family, path: path, finding: findings.first(where: \.isDecisive),
            lookup: facts.lookups[family])
        return targetSteps + builder.steps
    }

    // MARK: - The addresses that represent the target

    private func targetSteps(for family: IPAddress.Family) -> [Explanation.Step] {
        switch facts.target.subject {
        case .internet: anchorSteps(for: family)
        case .name(let name): nameSteps(DisplayText.sanitized(name), for: family)
        case .prefix(let prefix) where prefix.address.family == family:
            [step(.target, .neutral, "\(prefix.representative), its first host, stands for \(prefix).")]
        case .prefix, .address, .interface: []
        }
    }

    private func anchorSteps(for family: IPAddress.Family) -> [Explanation.Step] {
        let checked = facts.findings.filter { $0.destination.family == family }
        guard let decisive = checked.first(where: \.isDecisive)?.destination else { return [] }
        let good = checked.filter { $0.path.status == .reachable }.map { "\($0.destination)" }
        let bad = checked.filter { $0.path.status != .reachable }.map { "\($0.destination)" }
        let total = facts.anchors.count { $0.family == family }
        let needed = Verdict.anchorsNeeded(of: total)
        let finding: Explanation.Step.Finding = good.count >= needed ? .good : .bad
        guard total > 1 else { return [step(.target, finding, "\(decisive) stands for the Internet.")] }
        var results: [String] = []
        if !good.isEmpty { results.append("\(good.listed) \(good.count == 1 ? "does" : "do")") }
        if !bad.isEmpty { results.append("\(bad.listed) \(bad.count == 1 ? "does" : "do") not") }
        let text =
            "Of the \(total) addresses that stand for the Internet, \(needed) must have a path: "
            + "\(results.joined(separator: ", ")). The next steps follow the path to \(decisive)."
        return [step(.target, finding, text)]
    }

    private func nameSteps(_ name: String, for family: IPAddress.Family) -> [Explanation.Step] {
        switch facts.resolution {
        case .addresses(let all):
            let addresses = all.filter { $0.family == family }
            guard !addresses.isEmpty else {
                let title = family.title
                return [step(.name, .neutral, "\(name) has no \(title) address, so \(title) is not checked.")]
            }
            let end = addresses.count == 1 ? "" : "; one that can be reached is enough"
            return [step(.name, .good, "\(name) resolves to \(addresses.map(\.description).listed)\(end).")]
        case .noAddress:
            return [
                step(.name, .bad, "The resolver says that \(name) does not exist or has no address: is it spelt right?")
            ]
        case .notAsked, nil:
            let text =
                "The resolver gave no answer for \(name), so nothing is known about it. /etc/resolv.conf names the "
                + "servers; `reach explain ADDRESS` shows whether they can be reached."
            return [step(.name, .bad, text)]
        }
    }

    private func step(
        _ subject: Explanation.Step.Subject, _ finding: Explanation.Step.Finding, _ text: String
    ) -> Explanation.Step {
        Explanation.Step(subject, finding, text)
    }
}

extension IPAddress.Family {
    /// The command `ip`, with `-6` for IPv6.
    var command: String { self == .ipv4 ? "ip" : "ip -6" }
}
