/// Tells a machine that slept from a clock that was set.
///
/// CLOCK_BOOTTIME counts time asleep and CLOCK_MONOTONIC does not, so the distance between them grows by exactly the
/// time slept, whatever happens to the wall clock.
package struct SleepDetector: Sendable {
    /// Reading the two clocks one after the other takes a moment; less than this is not sleep.
    package static let tolerance: Duration = .milliseconds(100)

    private var offset: Duration

    /// - Parameter offset: CLOCK_BOOTTIME minus CLOCK_MONOTONIC now.
    package init(offset: Duration) { self.offset = offset }

    /// - Parameter offset: CLOCK_BOOTTIME minus CLOCK_MONOTONIC now.
    /// - Returns: How long the machine slept since the last look, or `nil` if it did not.
    package mutating func look(offset now: Duration) -> Duration? {
        let slept = now - offset
        guard slept > Self.tolerance else { return nil }
        offset = now
        return slept
    }
}
