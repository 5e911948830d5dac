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
        for endpoint in evidence.endpoints {
            var witness = DiagnosisFinding(evidence: evidence)
            witness.examine(endpoint)
            if let portal = witness.fatal.first(where: { $0.layer == .portal }) {
                finding.steps.append(.init(.portal, .bad, "\(portal.text.sentenceStart)."))
                if finding.works { finding.minor.append(portal) } else { finding.fatal.insert(portal, at: 0) }
                return
            }
            let text =
                witness.works
                ? "The Internet answers: \(endpoint.shown) gives the answer that the configuration expects."
                : "\(endpoint.shown), which stands for the Internet, does not answer as it should."
            finding.steps.append(.init(.internet, witness.works ? .good : .bad, text))
            if witness.works, let late = late(endpoint) { finding.steps.append(late) }
        }
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

/// The conclusions about one destination, collected from the link upwards.
struct DiagnosisFinding {
    typealias Step = Diagnosis.Step
    typealias Blame = Diagnosis.Blame

    let evidence: DiagnosisEvidence
    var steps: [Step] = []
    /// Faults that keep the destination from being used, the lowest first.
    var fatal: [Blame] = []
    /// Faults in spite of which it can be used.
    var minor: [Blame] = []
    var serverFaults: [NameServerAddress: Blame] = [:]
    /// Whether the destination was proved to work.
    var isProved = false
    /// What counted where something had to be concluded.
    var facts: [Diagnosis.Fact] = []

    var works: Bool { isProved && fatal.isEmpty }

    mutating func examine(_ destination: DiagnosisDestination) {
        examineAddresses(of: destination)
        guard fatal.isEmpty else { return }
        examinePaths(of: destination)
        guard fatal.isEmpty else { return }
        examineHops(of: destination)
        guard fatal.isEmpty else { return }
        if case .name(let name) = destination.nextHost { examineNames(name, of: destination) }
        guard fatal.isEmpty, !evidence.addresses(of: destination).isEmpty else { return }
        examineConnections(of: destination)
        examineSources(of: destination)
        guard fatal.isEmpty else { return }
        examineExchange(of: destination)
    }

    mutating func examineInternet() {
        guard let fact = evidence.path(.internet) else { return }
        examine(fact, to: nil, families: IPAddress.Family.allCases, isWhole: true)
        guard fatal.isEmpty else { return }
        examine(evidence.internetHops.map { ($0, .gateway) })
        guard fatal.isEmpty else { return }
        let works = examineServers(about: nil)
        guard fatal.isEmpty else { return }
        if !works, let blame = blameForServers() { return fatal.append(blame) }
        let host = evidence.witnesses.first { evidence.isBeyondGateway($0) && evidence.hasAnswered($0) == true }
        if let host {
            steps.append(Step(.internet, .good, "Packets get beyond the gateway: \(host) answers."))
            isProved = true
        } else {
            steps.append(
                Step(
                    .internet, .neutral,
                    "Nothing was tested beyond the gateway: there is no page with a known answer ([connectivity] "
                        + "endpoints of reach.toml), and no name server beyond it."))
        }
    }

    func diagnosis(titled title: String) -> Diagnosis {
        let quality = DiagnosisQuality(evidence)
        var minor = minor
        var fatal = fatal
        if let blame = quality.blame {
            // What a lossy line explains is no fault of anyone else.
            minor.removeAll(where: \.isSilence)
            minor.insert(blame, at: 0)
            if quality.isSevere, let first = fatal.first, first.isSilence {
                // Either explains it.
                fatal[0] = Blame(
                    .undecided, first.layer, first.subject, "\(first.text), or \(blame.text)",
                    between: [first.party, blame.party])
            }
        }
        if quality.isSlow { minor.removeAll(where: \.isSilence) }
        if evidence.isOnModem {
            (fatal, minor) = (fatal.map(\.beyondModem), minor.map(\.beyondModem))
        }
        let outcome: Diagnosis.Outcome =
            !fatal.isEmpty ? .failed : !isProved ? .unknown : minor.isEmpty ? .ok : .degraded
        var all = steps + quality.steps
        if let api = evidence.portalAPI, (fatal + minor).contains(where: { $0.layer == .portal }) {
            all.append(Step(.portal, .neutral, "The network announces the portal's API \(DisplayText.sanitized(api))."))
        }
        let steps = all.reduce(into: [Step]()) { kept, step in if !kept.contains(step) { kept.append(step) } }
        return Diagnosis(
            target: title, outcome: outcome, blame: fatal.first ?? minor.first, steps: steps, facts: facts,
            quality: quality.value)
    }
}

extension DiagnosisDestination {
    /// The title for a sentence.
    var shown: String { DisplayText.sanitized(title) }

    /// The host, for a sentence.
    var shownHost: String {
        switch host {
        case .address(let host): host.description
        case .name(let name): DisplayText.sanitized(name)
        }
    }
}

extension String {
    /// With a capital letter, where it begins with an article or the like. Names of interfaces and hosts stay as they
    /// are.
    var sentenceStart: String {
        for word in [
            "a ", "an ", "the ", "no ", "nothing ", "this ", "large ", "there ", "answers ", "by ",
        ]
        where hasUTF8Prefix(word) {
            return prefix(1).uppercased() + dropFirst()
        }
        return self
    }
}
