import ReachCore
import ReachRecords
import ReachTesting
import Testing

@Suite struct HistorySourceTests {
    @Test func `a report's history has the Internet first, and each target its own records`() {
        var script = HistoryScript()
        script.add(.started(lastSeen: nil), at: 5)
        script.add(.notReachable, at: 10, target: "a")
        script.add(.reachable, at: 20)
        script.add(.reachable, at: 30, target: "a")
        let evidence = OutageEvidence(target: "a", outcome: "failed", party: nil, text: "t", steps: [])
        script.add(.evidence(evidence), at: 12)
        let source = HistorySource(script.log, now: script.now(60), boot: script.currentBoot, isRunning: true)
        #expect(source.targets == ["internet", "a"])
        #expect(source.firstTime(of: "a") == .at(10) && source.firstTime(of: "internet") == .at(20))
        #expect(source.firstTime(of: "b") == nil && source.states(of: "b").isEmpty)
        #expect(source.states(of: "a").map(\.time) == [.at(10), .at(30)])
        #expect(source.states(of: "a").map(\.state.status) == [.notReachable, .reachable])
        #expect(source.timeline(of: "a", since: .at(15), until: .at(40)).shown == "15-30 down, 30-40 up")
    }
}
