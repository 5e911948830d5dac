import ReachCore
import ReachQueue
import Testing

/// Which bodies are begun on a path that comes and goes.
@Suite struct PathHistoryTests {
    private let policy = QueuePolicy()

    private static func at(_ seconds: Double) -> BootTime {
        BootTime(nanoseconds: Int64(seconds * 1e9) + 1_000_000_000_000)
    }

    /// A path that was up for these times, with gaps of 5 s, and is up since second 1000.
    private func history(up windows: [Double], gap: Double = 5) -> PathHistory {
        var history = PathHistory()
        var time = 1000 - windows.reduce(0) { $0 + $1 + gap }
        for window in windows {
            history.gained(at: Self.at(time), policy)
            history.lost(at: Self.at(time + window))
            time += window + gap
        }
        history.gained(at: Self.at(1000), policy)
        return history
    }

    /// Seconds until the next look; `nil` if it starts.
    private func wait(
        _ history: PathHistory, _ bytes: Int64, at time: Double, since: Double? = nil
    ) -> Double? {
        let until = history.wait(for: bytes, waitingSince: Self.at(since ?? time), at: Self.at(time), policy)
        return until.map { Double(($0 - Self.at(time)).nanoseconds) / 1e9 }
    }

    @Test func `a body waits if it takes longer than what is left of the longest recent window`() {
        var history = history(up: [4, 10, 6])
        history.carried(1_000_000, in: .seconds(1))
        for (megabytes, time, wanted) in [
            (5, 1000.0, nil), (9, 1000, nil), (5, 1004, nil), (5, 1006, 14.0), (11, 1000, 20), (11, 1019, 1),
            // It has stayed twice as long as ever.
            (11, 1020, nil), (500, 1100, nil),
        ] as [(Int64, Double, Double?)] {
            #expect(wait(history, megabytes * 1_000_000, at: time) == wanted, "\(megabytes) at \(time)")
        }
        #expect(wait(history, policy.canaries.smallBytes, at: 1009.99) == nil, "small bodies always go")
    }

    @Test func `without a rate, or with fewer than three windows, nothing waits`() {
        #expect(wait(history(up: [1, 1, 1]), 1 << 30, at: 1000) == nil)
        for windows in [[], [1], [1, 1]] as [[Double]] {
            var history = history(up: windows)
            history.carried(1000, in: .seconds(1))
            #expect(wait(history, 1 << 30, at: 1000) == nil)
        }
    }

    @Test func `gaps that attempts outlive separate no windows`() {
        var history = history(up: [2.5, 2.5, 2.5, 2.5, 2.5], gap: 0.7)
        history.carried(1000, in: .seconds(1))
        #expect(wait(history, 1 << 30, at: 1000) == nil)
    }

    @Test func `a body that waited ten minutes is tried anyway`() {
        var history = history(up: [10, 10, 10])
        history.carried(1_000_000, in: .seconds(1))
        #expect(wait(history, 1 << 30, at: 1002, since: 403) == 1)
        #expect(wait(history, 1 << 30, at: 1002, since: 402) == nil)
    }

    @Test func `what was cut off bounds the rate, and what was answered moves it`() {
        var history = history(up: [10, 10, 10])
        history.interrupted(40_000_000, after: .seconds(10))
        #expect(history.rate == 4_000_000)
        #expect(wait(history, 50_000_000, at: 1000) == 20)
        history.interrupted(400_000_000, after: .seconds(10))
        #expect(history.rate == 4_000_000, "a longer body that was cut off shows nothing more")
        history.carried(16_000_000, in: .seconds(1))
        #expect(history.rate == 10_000_000)
        #expect(wait(history, 50_000_000, at: 1000) == nil)
    }

    @Test func `windows of long ago are forgotten`() {
        var history = history(up: [1, 1, 1])
        history.carried(1000, in: .seconds(1))
        history.lost(at: Self.at(1700))
        history.gained(at: Self.at(1710), policy)
        #expect(wait(history, 1 << 30, at: 1710) == nil)
    }
}
