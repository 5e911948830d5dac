/// How long to wait after a failure.
package enum RetryDelay {
    /// Full jitter: anything from nothing to the bound that doubles with each failure, which under contention makes the
    /// fewest calls (scheduling.md 4.4). Never less than the floor.
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

/// Random numbers for waits: quick, and the same for the same seed (SplitMix64). Not for secrets.
package struct JitterGenerator: RandomNumberGenerator, Hashable, Sendable {
    private var state: UInt64

    package init(seed: UInt64) { state = seed }

    package mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ mixed >> 27) &* 0x94d0_49bb_1331_11eb
        return mixed ^ mixed >> 31
    }
}
