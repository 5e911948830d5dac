import ReachCore
import ReachKernel
import Testing

@testable import ReachProbe

@Suite struct SilencePatienceTests {
    private static func at(_ seconds: Double) -> BootTime { BootTime(nanoseconds: Int64(seconds * 1e9)) }

    @Test func `a user is ignored for twice as long after each test, up to a minute`() {
        var patience = SilencePatience()
        #expect(!patience.isNeeded(at: Self.at(0)) && patience.ignored(at: Self.at(0)) == [])
        var now = 0.0
        for wait in [5.0, 10, 20, 40, 60, 60] {
            patience.refute([7], at: Self.at(now))
            #expect(patience.ignored(at: Self.at(now)) == [7])
            #expect(patience.ignored(at: Self.at(now + wait - 0.1)) == [7])
            now += wait
            #expect(patience.ignored(at: Self.at(now)) == [])
            #expect(patience.isNeeded(at: Self.at(now)))
        }
    }

    @Test func `each user has a wait of its own, and is forgotten after ten minutes without a test`() {
        var patience = SilencePatience()
        patience.refute([1, 2], at: Self.at(0))
        patience.refute([2], at: Self.at(5))
        #expect(patience.ignored(at: Self.at(6)) == [2])
        #expect(patience.isNeeded(at: Self.at(614.9)) && !patience.isNeeded(at: Self.at(615)))
        // 1 was forgotten, and begins at five seconds; 2 goes on.
        patience.refute([1, 2], at: Self.at(606))
        #expect(patience.ignored(at: Self.at(611)) == [2])
        #expect(patience.ignored(at: Self.at(625.9)) == [2] && patience.ignored(at: Self.at(626)) == [])
    }

    @Test func `users of a link that is gone are remembered as long as those of one that is there`() {
        var machine = SilenceMachine()
        var patience = SilencePatience()
        patience.refute([7], at: Self.at(0))
        (machine.patience[2], machine.patience[3]) = (patience, SilencePatience())
        _ = machine.update([], at: Self.at(604))
        #expect(Array(machine.patience.keys) == [2])
        _ = machine.update([], at: Self.at(605))
        #expect(machine.patience.isEmpty)
    }

    @Test func `no more users are remembered than a sample names, the last ones`() {
        var patience = SilencePatience()
        for user in 0...UInt32(SilenceSample.userLimit) { patience.refute([user], at: Self.at(Double(user) / 1000)) }
        #expect(patience.ignored(at: Self.at(1)) == Set(1...UInt32(SilenceSample.userLimit)))
    }
}
