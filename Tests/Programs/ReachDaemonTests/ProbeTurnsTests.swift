import ReachDaemon
import Testing

@Suite struct ProbeTurnsTests {
    @Test func `an outage of a probe is one event where the daemon was restarted meanwhile, and its end another`() {
        var turns = ProbeTurns(down: ["probe:nas", "probe:tv", "internet"])
        let found: [(probe: String, isDown: Bool, isEvent: Bool)] = [
            // This was told before the restart.
            ("nas", true, false), ("nas", false, true), ("nas", true, true), ("nas", true, false),
            // It came back while no one looked.
            ("tv", false, true),
            ("printer", false, false), ("printer", true, true),
            // What was down is no probe.
            ("internet", true, true),
        ]
        for (number, finding) in found.enumerated() {
            let isEvent = turns.turn(finding.probe, isDown: finding.isDown)
            #expect(isEvent == finding.isEvent, "\(number): \(finding)")
        }
    }

    @Test func `a probe that is removed while it is down is over once`() {
        var turns = ProbeTurns(down: ["probe:nas"])
        let wasDown = ["nas", "nas", "tv"].map { turns.forget($0) }
        #expect(wasDown == [true, false, false])
        let isEvent = turns.turn("nas", isDown: true)
        #expect(isEvent)
    }
}
