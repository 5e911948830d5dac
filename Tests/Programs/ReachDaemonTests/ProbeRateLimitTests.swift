import ReachCore
import ReachDaemon
import Testing

@Suite struct ProbeRateLimitTests {
    @Test func `a user has one attempt a second, and does not wait for other users`() {
        var limit = ProbeRateLimit()
        let now = BootTime(nanoseconds: 1_000_000_000_000)
        let starts = (0..<4).map { _ in limit.claim(for: 1, at: now) - now }
        #expect(starts == [.zero, .seconds(1), .seconds(2), .seconds(3)])
        #expect(limit.claim(for: 2, at: now) == now)
        let later = now + .milliseconds(3500)
        #expect(limit.claim(for: 1, at: later) - later == .milliseconds(500))
        let muchLater = now + .seconds(100)
        #expect(limit.claim(for: 1, at: muchLater) == muchLater)
    }
}
