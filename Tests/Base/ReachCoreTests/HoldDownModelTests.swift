import ReachCore
import ReachTesting
import Testing

/// A hold-down computed from the whole history by its definition: slow and simple.
private struct HoldDownModel {
    let holdDown: HoldDown
    var reported: ReachabilityStatus
    /// When `reported` was reported.
    var reportedAt: BootTime
    var history: [(time: BootTime, status: ReachabilityStatus)]

    var latest: ReachabilityStatus { history.last?.status ?? .unknown }

    /// The beginning of the latest run of verdicts that all fulfil `isIn`, since the last report.
    private func start(ofRun isIn: (ReachabilityStatus) -> Bool) -> BootTime {
        var start = history.last?.time ?? reportedAt
        for entry in history.reversed() {
            guard isIn(entry.status) else { break }
            start = max(entry.time, reportedAt)
        }
        return start
    }

    /// When the status first differed from the reported one, without having agreed for a whole hold-down since.
    private var unsettledSince: BootTime {
        var since: BootTime?
        var agreedAt: BootTime?
        for entry in history where entry.time >= reportedAt {
            if entry.status == reported {
                agreedAt = agreedAt ?? entry.time
            } else {
                if let agreed = agreedAt, entry.time >= agreed + max(holdDown.up, holdDown.down) { since = nil }
                agreedAt = nil
                since = since ?? entry.time
            }
        }
        return since ?? reportedAt
    }

    /// When the latest verdict is due for reporting; `nil` if it has been reported.
    var due: BootTime? {
        guard latest != reported else { return nil }
        let isUp = latest == .reachable
        let lasting = start { $0 != reported && ($0 == .reachable) == isUp }
        return min(lasting + (isUp ? holdDown.up : holdDown.down), unsettledSince + holdDown.maximum)
    }
}

@Suite struct HoldDownModelTests {
    private static let holdDowns = [
        HoldDown(), HoldDown(down: .seconds(5)), HoldDown(up: .seconds(2), down: .seconds(5)),
        HoldDown(up: .seconds(5), down: .seconds(1), maximum: .seconds(8)), HoldDown(up: .seconds(3)),
        HoldDown(up: .seconds(3), down: .seconds(3), maximum: .seconds(1)),
    ]

    private static func verdict(_ status: ReachabilityStatus) -> Verdict {
        switch status {
        case .reachable: .eth0
        case .notReachable: .lost
        case .unknown: .blind
        }
    }

    /// The first disagreement of machine and model in a random series of verdicts; `nil` if there is none.
    private func disagreement(seed: UInt64, _ holdDown: HoldDown) -> String? {
        var random = SeededGenerator(seed: seed)
        // Half of the series use only two statuses, which flap more.
        let statuses = seed % 2 == 0 ? [ReachabilityStatus.reachable, .notReachable] : ReachabilityStatus.allCases
        let first = random.pick(statuses)
        var machine = StatusMachine.begun(with: Self.verdict(first), holdDown: holdDown)
        var model = HoldDownModel(holdDown: holdDown, reported: first, reportedAt: .at(0), history: [(.at(0), first)])
        var flaps = 0
        var isAway = false
        var seconds = 0.0
        for _ in 0..<80 {
            seconds += Double(random.pick([1, 3, 10, 20, 49, 60])) / 10
            // A status that is due before the next verdict is reported in time.
            if let due = model.due, due < .at(seconds) {
                let change = machine.timeReached(at: Instant(wall: Instant.at(0).wall, boot: due))
                guard change?.state.status == model.latest else { return "seed \(seed): not reported at \(due)" }
                model.reported = model.latest
                model.reportedAt = due
            }
            let status = random.pick(statuses)
            if status == .reachable, isAway { flaps += 1 }
            isAway = status != .reachable && (isAway || model.latest == .reachable)
            model.history.append((.at(seconds), status))
            let isDue = model.due.map { $0 <= .at(seconds) } ?? false
            guard (machine.see(Self.verdict(status), at: seconds) != nil) == isDue else {
                return "seed \(seed): should \(isDue ? "" : "not ")be reported at \(seconds)"
            }
            if isDue {
                model.reported = status
                model.reportedAt = .at(seconds)
            }
            guard machine.state.status == model.reported, machine.state.isHeld == (status != model.reported),
                machine.deadline == model.due, (machine.deadline != nil) == machine.state.isHeld,
                machine.state.flaps == flaps
            else { return "seed \(seed) at \(seconds): \(machine), but \(model), \(flaps) flaps" }
        }
        return nil
    }

    @Test(arguments: holdDowns)
    func `any series of verdicts is reported as the definition says`(holdDown: HoldDown) {
        let disagreements = (0..<300).compactMap { disagreement(seed: $0, holdDown) }
        #expect(disagreements == [])
    }
}
