internal import ReachCore
internal import ReachRecords

/// The hypotheses that remain, weighed against the facts.
struct DiagnosisVerdict {
    let facts: [WeighedFact]
    /// The best; several of different parties where none explains more than the others.
    let chosen: [DiagnosisHypothesis]

    init(_ facts: [WeighedFact]) {
        self.facts = facts
        let observed = Set(facts.map(\.fact))
        let weights = Dictionary(facts.map { ($0.fact, $0.weight) }, uniquingKeysWith: max)
        let standing = DiagnosisHypothesis.allCases.compactMap { hypothesis -> (DiagnosisHypothesis, Int)? in
            let rule = hypothesis.rule
            guard !rule.needs.isDisjoint(with: observed), rule.excludes.isDisjoint(with: observed) else { return nil }
            return (hypothesis, rule.explains.reduce(0) { $0 + (weights[$1] ?? 0) })
        }
        // What an open question alone suggests is possible beside the best, and never the verdict by itself.
        let shown = standing.filter { !$0.0.rule.needs.allSatisfy { weights[$0] ?? 0 == 0 } }
        let best = shown.map(\.1).max()
        var parties: Set<Diagnosis.Party> = []
        chosen = standing.filter { $0.1 >= best ?? .max && parties.insert($0.0.rule.party).inserted }.map(\.0)
    }

    /// The facts, with the hypotheses that each one speaks for and against, as `party/hypothesis`, of those that
    /// anything suggests.
    ///
    /// - Parameter owner: Who can mend the host in question.
    func shownFacts(owner: Diagnosis.Party) -> [Diagnosis.Fact] {
        let observed = Set(facts.map(\.fact))
        let suggested = DiagnosisHypothesis.allCases.map { ($0, $0.rule) }.filter {
            !$1.needs.isDisjoint(with: observed)
        }
        func words(_ counts: (DiagnosisHypothesis.Rule) -> Bool) -> [String] {
            suggested.filter { counts($0.1) }.map { hypothesis, rule in
                (rule.party == .server ? owner : rule.party).rawValue + "/" + hypothesis.rawValue
            }
        }
        return facts.map { fact in
            Diagnosis.Fact(
                fact.fact.rawValue, fact.clause.sentence, weight: fact.weight,
                speaksFor: words { $0.explains.contains(fact.fact) },
                speaksAgainst: words { $0.excludes.contains(fact.fact) })
        }
    }
}
