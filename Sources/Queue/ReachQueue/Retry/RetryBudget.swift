package import ReachCore

/// How many retries a destination may still be troubled with (after gRPC's A6). First tries are always allowed.
package struct RetryBudget: Hashable, Sendable {
    package struct Rules: Hashable, Sendable {
        package var capacity = 10.0
        /// Retries are allowed only while there are more than this.
        package var threshold = 5.0
        package var perFailure = 1.0
        package var perSuccess = 0.1
        /// One comes back in this time, so that an empty budget does not stay empty forever.
        package var refillTime: Duration = .seconds(30)

        package init() {}
    }

    private var tokens: Double
    private var refilled: BootTime

    package init(_ rules: Rules, at now: BootTime) {
        tokens = rules.capacity
        refilled = now
    }

    package mutating func fail(at now: BootTime, _ rules: Rules) {
        refill(at: now, rules)
        tokens = max(0, tokens - rules.perFailure)
    }

    package mutating func succeed(at now: BootTime, _ rules: Rules) {
        refill(at: now, rules)
        tokens = min(rules.capacity, tokens + rules.perSuccess)
    }

    /// Takes failures back that turned out to be none.
    package mutating func refund(_ failures: Int, at now: BootTime, _ rules: Rules) {
        refill(at: now, rules)
        tokens = min(rules.capacity, tokens + rules.perFailure * Double(failures))
    }

    package mutating func allowsRetry(at now: BootTime, _ rules: Rules) -> Bool {
        refill(at: now, rules)
        return tokens > rules.threshold
    }

    package mutating func isFull(at now: BootTime, _ rules: Rules) -> Bool {
        refill(at: now, rules)
        return tokens >= rules.capacity
    }

    /// When retries are allowed again if nothing but time passes.
    package mutating func allowsRetryFrom(_ now: BootTime, _ rules: Rules) -> BootTime {
        refill(at: now, rules)
        guard tokens <= rules.threshold else { return now }
        // A hair more than the threshold is needed.
        return refilled + rules.refillTime * (rules.threshold - tokens) + .milliseconds(1)
    }

    private mutating func refill(at now: BootTime, _ rules: Rules) {
        guard now > refilled else { return }
        tokens = min(rules.capacity, tokens + (now - refilled) / rules.refillTime)
        refilled = now
    }
}
