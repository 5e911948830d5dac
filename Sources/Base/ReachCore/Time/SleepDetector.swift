/// Distinguishes a machine that slept from a wall clock that was set.
///
/// CLOCK_BOOTTIME counts time asleep and CLOCK_MONOTONIC does not. The difference between them grows by exactly the
/// time slept, whatever happens to the wall clock.
package struct SleepDetector: Sendable {
    /// The smallest growth that counts as sleep. Reading the two clocks one after the other takes time, too.
    package static let tolerance: Duration = .milliseconds(100)

    private var offset: Duration

    /// - Parameter offset: CLOCK_BOOTTIME minus CLOCK_MONOTONIC now.
    package init(offset: Duration) { self.offset = offset }

    /// Compares the clocks again.
    ///
    /// - Parameter offset: CLOCK_BOOTTIME minus CLOCK_MONOTONIC now.
    /// - Returns: How long the machine slept since the last reported sleep, or `nil` if it did not.
    package mutating func update(offset now: Duration) -> Duration? {
        let slept = now - offset
        guard slept > Self.tolerance else { return nil }
        offset = now
        return slept
    }
}
