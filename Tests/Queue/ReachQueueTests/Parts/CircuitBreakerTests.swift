import ReachCore
import ReachQueue
import Testing

@Suite struct CircuitBreakerTests {
    private let rules = CircuitBreaker.Rules()

    private func at(_ milliseconds: Int) -> BootTime {
        BootTime(nanoseconds: 1_000_000_000_000 + Int64(milliseconds) * 1_000_000)
    }

    /// What a breaker is after results at these times: `-` a failure, `+` a success.
    private func breaker(_ results: String, every milliseconds: Int = 100) -> CircuitBreaker {
        var breaker = CircuitBreaker()
        var random = SplitMix64(seed: 1)
        for (number, result) in results.enumerated() {
            let now = at(number * milliseconds)
            if result == "-" { breaker.fail(at: now, rules, using: &random) } else { breaker.succeed(at: now, rules) }
        }
        return breaker
    }

    @Test(arguments: [
        ("----", true), ("-----", false), ("----+----", true), ("----+-----", false),
        // Eight of ten, and fewer.
        ("+---+-----", false), ("+--+----+-", true), ("+----+---+", true), ("+----+----", false),
        // Nine are too few; of these the last five failed in a row.
        ("----+---+", true), ("-+-------", false),
    ])
    func `it opens after five failures in a row, or when four of five of at least ten attempts fail`(
        results: String, isClosed: Bool
    ) {
        #expect(breaker(results).isClosed == isClosed)
    }

    @Test func `what happened more than 30 s ago does not count`() {
        #expect(!breaker("+----+----").isClosed)
        #expect(breaker("+----+----", every: 4000).isClosed)
    }

    @Test func `it is open for half of the time for certain, and twice as long each time, up to a limit`() throws {
        var breaker = breaker("-----")
        var random = SplitMix64(seed: 1)
        var now = at(400)
        for step in 1...12 {
            guard case .open(let until) = breaker.state else {
                Issue.record("it is not open: \(breaker.state)")
                return
            }
            let length = min(rules.openFirst * (1 << (step - 1)), rules.openLongest)
            #expect(until >= now + length / 2 && until <= now + length)
            #expect(breaker.step == step && !breaker.isPristine)
            // A failure of an attempt that was on its way changes nothing.
            let open = breaker.state
            breaker.fail(at: now, rules, using: &random)
            #expect(breaker.state == open && breaker.step == step)
            now = until
            breaker.fail(at: now, rules, using: &random)
        }
        breaker.epochChanged()
        #expect(breaker.admits(running: 0) && !breaker.admits(running: 1))
        breaker.succeed(at: now, rules)
        #expect(!breaker.isClosed)
        breaker.succeed(at: now, rules)
        #expect(breaker.isClosed && breaker.isPristine && breaker.admits(running: 7))
    }
}
