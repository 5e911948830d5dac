internal import ReachCore
internal import ReachRecords

/// Draws the conclusions from the evidence of a diagnosis: the steps, what is broken, and who can mend it.
struct DiagnosisJudge {
    let evidence: DiagnosisEvidence

    var diagnosis: Diagnosis {
        if let target = evidence.target { return diagnosis(of: target) }
        return evidence.endpoints.isEmpty ? diagnosisWithoutEndpoint : diagnosisByEndpoints
    }

    private func diagnosis(of target: DiagnosisDestination) -> Diagnosis {
        var finding = DiagnosisFinding(evidence: evidence)
        finding.examine(target)
        addWitnesses(to: &finding)
        return finding.diagnosis(titled: evidence.title)
    }

    /// What the pages with a known answer show about the Internet, where something else is the target.
    private func addWitnesses(to finding: inout DiagnosisFinding) {
        var lines: [Diagnosis.Blame?] = []
        defer { if let line = Self.line(lines), finding.isUnheard { finding.minor.append(line) } }
        for endpoint in evidence.endpoints {
            var witness = DiagnosisFinding(evidence: evidence)
            witness.examine(endpoint)
            if let portal = witness.fatal.first(where: { $0.layer == .portal }) {
                finding.steps.append(portal.step)
                if finding.works || finding.isOpen {
                    finding.minor.append(portal)
                } else {
                    finding.fatal.insert(portal, at: 0)
                }
                return
            }
            lines.append(witness.works ? nil : witness.fatal.first)
            let text =
                witness.works
                ? "The Internet answers: \(endpoint.shown) gives the answer that the configuration expects."
                : "\(endpoint.shown), which stands for the Internet, does not answer as it should."
            finding.steps.append(.init(.internet, witness.works ? .good : .bad, text))
            if witness.works, let late = late(endpoint) { finding.steps.append(late) }
        }
    }

    /// Why no page answers, where that is no page's own fault: of a target of which nothing is known yet it is the best
    /// that can be said.
    private static func line(_ blames: [Diagnosis.Blame?]) -> Diagnosis.Blame? {
        let parties = blames.map { $0.map { Set($0.between + [$0.party]) } ?? [.server] }
        guard parties.allSatisfy({ $0.isDisjoint(with: [.server, .proxy, .nameServer]) }) else { return nil }
        return blames.first ?? nil
    }

    /// Why the daemon may doubt the Internet all the same: it does not wait as long as this page takes.
    private func late(_ endpoint: DiagnosisDestination) -> Diagnosis.Step? {
        guard let patience = evidence.patience, let taken = evidence.time(of: endpoint), taken > patience else {
            return nil
        }
        return .init(
            .internet, .bad,
            "\(endpoint.shown) takes \(taken.milliseconds) ms, and the daemon waits \(patience.milliseconds) ms ([connectivity] timeout).",
            duration: taken)
    }

    /// The Internet by its endpoints: one that answers as it should proves it.
    private var diagnosisByEndpoints: Diagnosis {
        let findings = evidence.endpoints.map { endpoint in
            var finding = DiagnosisFinding(evidence: evidence)
            finding.examine(endpoint)
            return finding
        }
        let chosen =
            findings.firstIndex(where: \.works)
            ?? findings.firstIndex { finding in finding.fatal.contains { $0.layer == .portal } } ?? 0
        var finding = findings[chosen]
        for (endpoint, other) in zip(evidence.endpoints, findings) where endpoint != evidence.endpoints[chosen] {
            let isGood = other.works
            finding.steps.append(
                .init(
                    .internet, isGood ? .good : .bad,
                    "\(endpoint.shown) \(isGood ? "answers as it should" : "does not answer as it should")."))
            if finding.works, !isGood, let blame = other.fatal.first { finding.minor.append(blame) }
        }
        finding.steps += zip(evidence.endpoints, findings).compactMap { $1.works ? late($0) : nil }
        return finding.diagnosis(titled: evidence.title)
    }

    /// Without a page with a known answer: the kernel's half, the gateways and the name servers.
    private var diagnosisWithoutEndpoint: Diagnosis {
        var finding = DiagnosisFinding(evidence: evidence)
        finding.examineInternet()
        return finding.diagnosis(titled: evidence.title)
    }
}
