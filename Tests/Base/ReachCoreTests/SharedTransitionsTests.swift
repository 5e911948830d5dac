import ReachTesting
import Testing

@testable import ReachCore

@Suite struct SharedTransitionsTests {
    private static let verdicts: [Verdict] = [.eth0, .lost, .noCarrier, .blind, .via("wlan0", .wifi)]

    private func targets(_ count: Int) throws -> [Target] {
        try (0..<count).map { try Target("2001:db8::\(String($0 + 1, radix: 16))") }
    }

    private func machines(_ targets: [Target], _ holdDown: HoldDown = HoldDown()) -> [StatusMachine] {
        targets.enumerated().map { StatusMachine(target: $1, holdDown: holdDown, at: .at(Double($0) / 100)) }
    }

    @Test func `targets that share verdicts have the states and changes that each has alone`() throws {
        for seed in 0..<60 {
            var random = SeededGenerator(seed: UInt64(seed))
            let holdDown = random.oneIn(2) ? HoldDown() : HoldDown(up: .seconds(2), down: .seconds(3))
            let targets = try targets(12)
            var together = machines(targets, holdDown)
            var alone = together
            var seconds = 1.0
            for _ in 0..<40 {
                seconds += Double(random.pick([1, 10, 25, 40])) / 10
                let moment = Instant.at(seconds)
                // Some series have every verdict for all; others have two groups, of which targets change sides.
                let choice = (0..<2).map { _ in SharedVerdict(random.pick(Self.verdicts)) }
                let isSplit = random.oneIn(3)
                var transitions = SharedTransitions(epoch: UInt64(seconds), at: moment)
                for index in targets.indices {
                    // A target may miss an evaluation, as one does that is watched later.
                    if random.oneIn(20) { continue }
                    let verdict = isSplit ? random.pick(choice) : choice[0]
                    let cause: Cause = together[index].state.status == .reachable ? .linkDown : .routeAdded
                    let one = transitions.observe(verdict, by: &together[index]) { cause }
                    let other = alone[index].observe(verdict.verdict, cause: cause, epoch: UInt64(seconds), at: moment)
                    #expect(one == other, "seed \(seed) at \(seconds)")
                    #expect(together[index].state == alone[index].state)
                    #expect(together[index].deadline == alone[index].deadline)
                }
                for index in targets.indices where random.oneIn(8) {
                    let moment = Instant.at(seconds + 0.05)
                    #expect(together[index].timeReached(at: moment) == alone[index].timeReached(at: moment))
                    together[index].becomeStale()
                    alone[index].becomeStale()
                }
            }
        }
    }

    @Test func `targets that begin together share the storage of their states from then on`() throws {
        var machines = machines(try targets(1000))
        for (number, verdict) in [Verdict.eth0, .lost, .eth0, .noCarrier].enumerated() {
            let shared = SharedVerdict(verdict)
            var transitions = SharedTransitions(epoch: UInt64(number + 1), at: .at(Double(number + 100)))
            var asked = 0
            for index in machines.indices {
                let change = transitions.observe(shared, by: &machines[index]) {
                    asked += 1
                    return .routeAdded
                }
                #expect(change?.state.target == machines[index].state.target)
            }
            #expect(asked == 1, "determined once")
            #expect(machines.allSatisfy { $0.state.sharesStorage(with: machines[0].state) })
        }
    }

    @Test func `a state that was changed on its own shares again once it is equal`() throws {
        var machines = machines(try targets(2))
        for (seconds, isStale) in [(100.0, false), (101, true), (102, false)] {
            if isStale { machines[1].becomeStale() }
            var transitions = SharedTransitions(epoch: 1, at: .at(seconds))
            let verdict = SharedVerdict(seconds == 100 ? .eth0 : .lost)
            for index in machines.indices { _ = transitions.observe(verdict, by: &machines[index]) { .linkDown } }
        }
        #expect(machines[0].state.sharesStorage(with: machines[1].state))
    }

    @Test func `a copy of a state keeps its values when the original changes`() {
        var state = ReachabilityState(target: .internet, since: Instant.at(0).wall)
        let copy = state
        #expect(copy.sharesStorage(with: state))
        state.flaps = 3
        state.ipv4.interface = "eth0"
        #expect(copy.flaps == 0 && copy.ipv4.interface == nil && copy != state && !copy.sharesStorage(with: state))
    }
}
