import ReachCore
import Testing

@testable import ReachFleet

@Suite struct ReconnectDelayTests {
    private static func delay(_ seed: UInt64, host: String = "a", spread: Duration = .seconds(30)) -> ReconnectDelay {
        ReconnectDelay(host: host, spread: spread, seed: seed)
    }

    /// The longest of many hosts' waits, in whole seconds: how far they are spread.
    private static func longest(_ waits: (UInt64) -> [Duration]) -> [Int64] {
        let all = (0..<400).map { waits(UInt64($0)) }
        return all[0].indices.map { place in
            (all.map { $0[place] }.max().map { Int64(($0 / .seconds(1)).rounded(.up)) }) ?? 0
        }
    }

    @Test func `hosts come back within the spread, then within twice as long each time, up to five minutes`() {
        let waits = Self.longest { seed in
            var delay = Self.delay(seed)
            return (0..<6).map { _ in delay.afterLoss(of: nil) }
        }
        for (wait, bound) in zip(waits, [30, 60, 120, 240, 300, 300] as [Int64]) {
            #expect(wait <= bound && wait >= bound * 9 / 10, "\(waits)")
        }
        var delay = Self.delay(1)
        for _ in 0..<5 { _ = delay.afterLoss(of: nil) }
        delay.reset()
        #expect(delay.afterLoss(of: nil) <= .seconds(30))
    }

    @Test func `the hosts of a lost server have their places in the spread by their names`() {
        func first(_ host: String, _ server: String, seed: UInt64) -> Duration {
            var delay = Self.delay(seed, host: host)
            return delay.afterLoss(of: server)
        }
        #expect(first("a", "s", seed: 1) == first("a", "s", seed: 2))
        #expect(first("a", "s", seed: 1) != first("b", "s", seed: 1))
        #expect(first("a", "s", seed: 1) != first("a", "t", seed: 1))
        let waits = (0..<400).map { first("h\($0)", "s", seed: 1) }.sorted()
        #expect(waits[0] < .seconds(1) && waits[399] < .seconds(30) && waits[399] > .seconds(29))
        #expect(waits[200] > .seconds(13) && waits[200] < .seconds(17))
    }

    @Test func `a refused host waits five minutes and doubles that up to an hour, a tenth of it by chance`() {
        let waits = Self.longest { seed in
            var delay = Self.delay(seed)
            return (0..<6).map { _ in delay.afterRefusal() }
        }
        for (wait, bound) in zip(waits, [300, 600, 1200, 2400, 3600, 3600] as [Int64]) {
            #expect(wait <= bound && wait >= bound * 98 / 100, "\(waits)")
        }
        var delay = Self.delay(1)
        let first = delay.afterRefusal()
        #expect(first >= .seconds(270) && first <= .seconds(300))
        _ = delay.afterRefusal()
        delay.reset()
        #expect(delay.afterRefusal() <= .seconds(300))
    }

    @Test func `after the path returned a host waits at most five seconds, whatever happened before`() {
        let waits = Self.longest { seed in
            var delay = Self.delay(seed)
            _ = delay.afterLoss(of: nil)
            return [delay.afterPathReturned()]
        }
        #expect(waits == [5])
    }

    @Test func `without a spread the first wait is none, and the next ones grow from a second`() {
        var delay = Self.delay(3, spread: .zero)
        #expect(delay.afterLoss(of: nil) == .zero)
        #expect(delay.afterLoss(of: nil) <= .seconds(2))
    }
}
