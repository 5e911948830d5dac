import ReachCore
import ReachDaemon
import Testing

@Suite struct RequestHookLimitTests {
    private func time(hours: Int64) -> BootTime { BootTime(nanoseconds: hours * 3_600_000_000_000) }

    @Test
    func
        `hooks hear of fifty dead requests of a user in a day, of root's of all, and the log of the first one left out`()
    {
        var limit = RequestHookLimit()
        let most = RequestHookLimit.eventsPerDay
        for _ in 0..<most { #expect(limit.admit(of: 1000, at: time(hours: 0)) == .admitted) }
        #expect(limit.admit(of: 1000, at: time(hours: 1)) == .beginsToLeaveOut(until: time(hours: 24)))
        for _ in 0..<100 { #expect(limit.admit(of: 1000, at: time(hours: 2)) == .leftOut) }
        #expect(limit.admit(of: 1001, at: time(hours: 2)) == .admitted, "another user has a day of their own")
        for _ in 0..<1000 { #expect(limit.admit(of: 0, at: time(hours: 2)) == .admitted) }
        #expect(limit.admit(of: 1000, at: time(hours: 24)) == .admitted)
        for _ in 1..<most { #expect(limit.admit(of: 1000, at: time(hours: 25)) == .admitted) }
        #expect(limit.admit(of: 1000, at: time(hours: 25)) == .beginsToLeaveOut(until: time(hours: 48)))
    }
}
