/// How long to wait after a failure.
package enum RetryDelay {
    /// Full jitter: anything from nothing to the bound that doubles with each failure, which under contention makes the
    /// fewest calls. Never less than the floor.
    ///
    /// - Parameter failures: Those before this one.
    package static func draw(
        afterFailures failures: Int, _ policy: QueuePolicy, using generator: inout some RandomNumberGenerator
    ) -> Duration {
        let exponent = min(max(failures, 0), policy.retryExponentLimit)
        let bound = min(policy.retryBase * (1 << exponent), policy.retryLongest)
        return max(policy.retryFloor, bound * Double.random(in: 0...1, using: &generator))
    }
}
