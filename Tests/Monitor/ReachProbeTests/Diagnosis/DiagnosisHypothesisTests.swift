import ReachCore
import ReachRecords
import Testing

@testable import ReachProbe

struct DiagnosisHypothesisTests {
    /// The explanations that the facts leave as the best ones.
    private func best(_ facts: Set<DiagnosisFact>) -> [DiagnosisHypothesis] {
        DiagnosisVerdict(facts.sorted { $0.rawValue < $1.rawValue }.map { WeighedFact($0, "A fact.") }).chosen
    }

    /// Sets of facts that a hypothesis predicts: with each of its needs alone, with and without the rest, and with one
    /// more fact.
    private func worlds(of hypothesis: DiagnosisHypothesis) -> [Set<DiagnosisFact>] {
        let rule = hypothesis.rule
        let rest = rule.explains.subtracting(rule.needs)
        let plain = rule.needs.flatMap { [[$0], rest.union([$0])] as [Set<DiagnosisFact>] }
        return plain + plain.flatMap { world in DiagnosisFact.allCases.map { world.union([$0]) } }
    }

    @Test func `any two hypotheses of different parties can be told apart`() {
        let all = DiagnosisHypothesis.allCases
        let choices = Dictionary(uniqueKeysWithValues: all.map { ($0, worlds(of: $0).map { Set(best($0)) }) })
        for one in all {
            for other in all where one.rule.party != other.rule.party {
                let both = (choices[one] ?? []) + (choices[other] ?? [])
                #expect(both.contains { $0.contains(one) != $0.contains(other) }, "\(one) and \(other)")
            }
        }
    }

    @Test func `no two hypotheses predict the same of every fact`() {
        let all = DiagnosisHypothesis.allCases
        for (place, one) in all.enumerated() {
            for other in all[(place + 1)...] {
                let isSame =
                    one.rule.needs == other.rule.needs && one.rule.explains == other.rule.explains
                    && one.rule.excludes == other.rule.excludes
                #expect(!isSame, "\(one) and \(other)")
            }
        }
    }

    @Test(arguments: DiagnosisHypothesis.allCases)
    func `each hypothesis is among the best in a world that it predicts`(hypothesis: DiagnosisHypothesis) {
        #expect(worlds(of: hypothesis).contains { best($0).contains(hypothesis) })
        #expect(hypothesis.rule.explains.isDisjoint(with: hypothesis.rule.excludes))
    }

    @Test func `each fact speaks for or against a hypothesis`() {
        let rules = DiagnosisHypothesis.allCases.map(\.rule)
        for fact in DiagnosisFact.allCases {
            #expect(rules.contains { $0.explains.contains(fact) || $0.excludes.contains(fact) }, "\(fact)")
        }
    }

    @Test(arguments: DiagnosisHypothesis.allCases)
    func `no hypothesis stands against a fact that excludes it`(hypothesis: DiagnosisHypothesis) {
        for fact in hypothesis.rule.excludes {
            for world in worlds(of: hypothesis) { #expect(!best(world.union([fact])).contains(hypothesis)) }
        }
    }

    @Test(arguments: DiagnosisSituation.all)
    func `no party is blamed alone that a listed fact speaks against and none speaks for`(situation: DiagnosisSituation)
    {
        let diagnosis = situation.world().run.diagnosis
        guard let party = diagnosis.blame?.party, diagnosis.blame?.between == [], !diagnosis.facts.isEmpty else {
            return
        }
        let isMeant = { (word: String) in word.hasPrefix(party.rawValue + "/") }
        if diagnosis.facts.contains(where: { $0.speaksAgainst.contains(where: isMeant) }) {
            #expect(diagnosis.facts.contains { $0.speaksFor.contains(where: isMeant) })
        }
    }
}
