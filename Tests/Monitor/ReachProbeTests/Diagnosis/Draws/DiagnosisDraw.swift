import ReachProbe

@testable import ReachCore
import ReachRecords

/// What the diagnosis of a drawn Internet says, compared with the truth, which follows from what is broken there.
struct DiagnosisDraw {
    enum Verdict: String, CaseIterable { case right, contained, undecided, wrong }

    let internet: DrawnInternet
    let diagnosis: Diagnosis
    let verdict: Verdict
    let reason: String

    init(_ internet: DrawnInternet) {
        self.internet = internet
        let answers = DrawnAnswers(internet: internet)
        diagnosis = Self.diagnosis(answers)
        (verdict, reason) = Self.compare(diagnosis, internet, answers.works)
    }

    private static func diagnosis(_ answers: DrawnAnswers) -> Diagnosis {
        let internet = answers.internet
        var machine = DiagnosisMachine(
            DiagnosisEvidence(
                title: internet.targetText, target: answers.target, endpoints: answers.endpoints,
                anchors: [.ipv4, .ipv6].map { internet.address(of: .anchor, $0) }))
        while case let tasks = machine.nextTasks(), !tasks.isEmpty {
            for task in tasks where !answers.isLate(task) { machine.record(answers.result(of: task), of: task) }
        }
        machine.record(reversePathDrops: internet.has(.reversePath, .machine) ? 12 : 0)
        let dropped = internet.has(.ownInput, .machine) ? 20 + internet.strayPackets : internet.strayPackets
        machine.record(inputDrops: [.ipv4: dropped, .ipv6: dropped])
        if internet.has(.farEndOff, .router(1)) {
            let silence = TunnelSilence(farEnds: [.at("203.0.113.51")], since: .seconds(720))
            machine.record(silentTunnels: [DrawnAnswers.link: silence])
        }
        machine.record(namesServers: !internet.has(.noServer, .machine))
        return machine.diagnosis
    }

    private static func compare(
        _ diagnosis: Diagnosis, _ internet: DrawnInternet, _ works: Bool?
    ) -> (Verdict, String) {
        var suspects = internet.faults.reduce(into: Set<Diagnosis.Party>()) { $0.formUnion($1.suspects(in: internet)) }
        if let owner = internet.ownerOfOtherLink { suspects.insert(owner) }
        if works == true, diagnosis.outcome == .failed { return (.wrong, "it works, and is said to fail") }
        if works == false, [.ok, .degraded].contains(diagnosis.outcome) {
            return (.wrong, "it fails, and is said to work")
        }
        guard let blame = diagnosis.blame else {
            return works == false ? (.undecided, "it fails, and nothing is said") : (.right, "")
        }
        let accused = Set(blame.suspects)
        if accused.isDisjoint(with: suspects) { return (.wrong, "\(accused) accused, and \(suspects) at fault") }
        return (accused.count == 1 ? .right : .contained, "")
    }

    // MARK: - The smallest Internet of the kind

    /// Without all that the fault of the diagnosis does not need.
    var shrunk: DiagnosisDraw {
        var smallest = self
        var isSmaller = true
        while isSmaller {
            isSmaller = false
            for simpler in smallest.simpler {
                let draw = DiagnosisDraw(simpler)
                guard draw.verdict == verdict else { continue }
                (smallest, isSmaller) = (draw, true)
                break
            }
        }
        return smallest
    }

    private var simpler: [DrawnInternet] {
        var all: [DrawnInternet] = []
        func add(_ change: (inout DrawnInternet) -> Void) {
            var other = internet
            change(&other)
            all.append(other)
        }
        for place in internet.faults.indices { add { $0.faults.remove(at: place) } }
        if internet.lateShare > 0 { add { $0.lateShare = 0 } }
        if internet.strayPackets > 0 { add { $0.strayPackets = 0 } }
        for station in internet.mute { add { $0.mute.remove(station) } }
        if !internet.endpoints.isEmpty { add { $0.endpoints.removeLast() } }
        if internet.families.count > 1 {
            add { $0.families = [.ipv4] }
            add { $0.families = [.ipv6] }
        }
        if internet.resolvers.count > 1, !internet.faults.contains(where: { $0.station == .resolver(1) }) {
            add { $0.resolvers.removeLast() }
        }
        if internet.routers > 1, !internet.faults.contains(where: { $0.station == .router(internet.routers) }) {
            add { $0.routers -= 1 }
        }
        if !internet.isRoot { add { $0.isRoot = true } }
        if internet.hasSecondLine, !internet.faults.contains(where: { $0.station == .secondLine }) {
            add { $0.hasSecondLine = false }
        }
        if internet.isTranslated { add { $0.isTranslated = false } }
        if internet.hasSecondRouter { add { $0.hasSecondRouter = false } }
        if internet.otherLink != .absent { add { $0.otherLink = .absent } }
        if internet.memory != nil { add { $0.memory = nil } }
        if internet.proxy != nil, !internet.faults.contains(where: { $0.station == .proxy }) { add { $0.proxy = nil } }
        if internet.roundTrip > .milliseconds(12) { add { $0.roundTrip = .milliseconds(12) } }
        return all
    }
}

extension DiagnosisDraw: CustomStringConvertible {
    var description: String {
        "\(internet)\n  \(verdict): \(reason)\n  \(diagnosis.outcome) \(diagnosis.blame?.party.rawValue ?? "no one"): "
            + "\(diagnosis.blame?.text ?? "nothing")\n    " + diagnosis.steps.map(\.text).joined(separator: "\n    ")
    }
}
