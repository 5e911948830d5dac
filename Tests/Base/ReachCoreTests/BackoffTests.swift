import ReachCore
import Testing

@Suite struct BackoffTests {
    @Test func `waits double up to the longest and restart after a success`() {
        var backoff = Backoff(first: .seconds(1), longest: .seconds(30))
        #expect((0..<8).map { _ in backoff.wait() } == [1, 2, 4, 8, 16, 30, 30, 30].map { .seconds($0) })
        backoff.reset()
        #expect((0..<2).map { _ in backoff.wait() } == [.seconds(1), .seconds(2)])
    }

    @Test func `the longest wait holds after a thousand failures`() {
        var backoff = Backoff(first: .milliseconds(1), longest: .seconds(30))
        for _ in 0..<1000 { _ = backoff.wait() }
        #expect(backoff.wait() == .seconds(30))
    }
}
