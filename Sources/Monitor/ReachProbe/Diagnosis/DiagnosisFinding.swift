internal import ReachCore
internal import ReachRecords

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
    /// First hops that do not answer.
    var hopFaults: [FirstHop: Blame] = [:]
    /// Whether the destination was proved to work.
    var isProved = false
    /// Whether an answer that decides it may still come.
    var isOpen = false
    /// What counted where something had to be concluded.
    var facts: [Diagnosis.Fact] = []

    var works: Bool { isProved && fatal.isEmpty }

    /// Whether nothing was seen of the destination in time, good or bad.
    var isUnheard: Bool { !isProved && fatal.isEmpty && minor.isEmpty }

    mutating func examine(_ destination: DiagnosisDestination) {
        examineAddresses(of: destination)
        guard fatal.isEmpty else { return }
        examineFamilies(of: destination)
        guard fatal.isEmpty else { return }
        examinePaths(of: destination)
        guard fatal.isEmpty else { return }
        examineHops(of: destination)
        // Something may have led to a host that is not there.
        guard fatal.isEmpty else { return examineSources(of: destination) }
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
                    .undecided, first.layer, first.subject, "\(first.clause), or \(blame.clause)",
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

// MARK: - What is concluded

extension DiagnosisFinding {
    /// The reason why a host does not answer, weighed; that of its first hop, where that does not answer either.
    mutating func weigh(_ host: HostAddress, _ role: DiagnosisFacts.Role, ports: [UInt16]) -> Blame? {
        if let blame = hopFault(to: host) { return blame }
        let facts = DiagnosisFacts(evidence: evidence, host: host, role: role, ports: ports)
        return judge(facts, facts.all)?.blame
    }

    /// Why a host that stands for the Internet is silent, if it is not the host's own fault, and whether more than
    /// silence shows it.
    mutating func weighLine(to host: HostAddress) -> (blame: Blame, isShown: Bool)? {
        if let blame = hopFault(to: host) { return blame.party == .server ? nil : (blame, true) }
        let facts = DiagnosisFacts(evidence: evidence, host: host, role: .server, ports: [DiagnosisPlan.anchorPort])
        guard let (blame, chosen) = judge(facts, facts.all), blame.party != .server else { return nil }
        // A network that lets nothing pass to one host does so at its border.
        let isBeyond = chosen == [.dark] && evidence.traced(host)?.hops.contains { $0.distance > 1 } == true
        return (blame, isBeyond || Set(chosen).isDisjoint(with: [.dark, .bareLinkDark, .silent]))
    }

    /// The verdict on some facts, and the hypotheses from which it follows.
    mutating func judge(
        _ all: DiagnosisFacts, _ observed: [WeighedFact]
    ) -> (blame: Blame, chosen: [DiagnosisHypothesis])? {
        let verdict = DiagnosisVerdict(observed)
        for fact in verdict.shownFacts(owner: all.role.party) where !facts.contains(fact) { facts.append(fact) }
        let scene = DiagnosisScene(facts: all, observed: observed)
        let blames = verdict.chosen.map { Blame($0, scene) }
        guard let first = blames.first else { return nil }
        guard blames.count > 1 else { return (first, verdict.chosen) }
        let parties = blames.map(\.party)
        let either = blames.dropFirst().reduce(first.clause) { "\($0), or \($1.clause)" }
        let undecided = Blame(
            .undecided, blames.map(\.layer).min { $0.rank < $1.rank } ?? first.layer, first.subject,
            "\(either)\(Self.decider(observed, parties))", between: parties)
        return (undecided, verdict.chosen)
    }

    /// What would decide between what remains.
    private static func decider(_ observed: [WeighedFact], _ parties: [Diagnosis.Party]) -> String {
        if Set(parties) == [.localNetwork, .provider] { return ": a test from the gateway itself would decide" }
        if Set(observed.map(\.fact)).isDisjoint(with: [.othersAnswer, .othersSilent]) {
            return ": only one host was asked, and an answer of another one ([connectivity] endpoints) would decide"
        }
        return ""
    }
}

extension Diagnosis.Blame {
    fileprivate init(_ hypothesis: DiagnosisHypothesis, _ scene: DiagnosisScene) {
        let rule = hypothesis.rule
        let clause = rule.clause(scene)
        guard rule.party == .server else {
            self.init(rule.party, rule.layer, rule.subject, clause, isFarEnd: hypothesis == .peerSilent)
            return
        }
        let role = scene.facts.role
        let (layer, subject): (OutageLayer, Diagnosis.Subject) =
            switch role {
            case .server: (rule.layer, rule.subject)
            case .proxy: (rule.layer, .proxy)
            case .nameServer: (.name, .nameServer)
            }
        self.init(role.party, layer, subject, clause, isSilence: [.silent, .filtered].contains(hypothesis))
    }
}

extension DiagnosisFacts.Role {
    /// Who can mend the host.
    var party: Diagnosis.Party {
        switch self {
        case .server: .server
        case .proxy: .proxy
        case .nameServer: .nameServer
        }
    }
}

extension OutageLayer {
    /// The test that shows it where the kernel does.
    var subject: Diagnosis.Subject {
        switch self {
        case .link: .link
        case .address: .address
        case .route, .target: .route
        case .gateway: .gateway
        case .name: .name
        case .portal: .portal
        case .internet: .internet
        }
    }

    /// The place in the order in which a packet meets the layers.
    var rank: Int { Self.allCases.firstIndex(of: self).map { Int($0) } ?? 0 }
}
