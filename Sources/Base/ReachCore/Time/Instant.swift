/// A point in time since the machine started, including time asleep (CLOCK_BOOTTIME).
public struct BootTime: Hashable, Comparable, Sendable {
    /// Nanoseconds since the machine started.
    public let nanoseconds: Int64

    /// Creates a point in time from its nanoseconds since the machine started.
    public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    /// Orders earlier times first.
    public static func < (left: BootTime, right: BootTime) -> Bool { left.nanoseconds < right.nanoseconds }

    /// The time `duration` after `time`. A sum that 64 bits cannot hold becomes the latest time, 292 years after the
    /// start of the machine.
    package static func + (time: BootTime, duration: Duration) -> BootTime {
        BootTime(nanoseconds: time.nanoseconds.addingUpToBounds(duration.nanoseconds))
    }

    package static func - (left: BootTime, right: BootTime) -> Duration {
        let (difference, overflow) = left.nanoseconds.subtractingReportingOverflow(right.nanoseconds)
        return .nanoseconds(overflow ? (left < right ? .min : .max) : difference)
    }
}

/// One moment read on two clocks: the wall clock for people, the boot clock for arithmetic.
package struct Instant: Hashable, Sendable {
    package let wall: Timestamp
    package let boot: BootTime

    package init(wall: Timestamp, boot: BootTime) {
        self.wall = wall
        self.boot = boot
    }
}

extension Int64 {
    package func addingUpToBounds(_ other: Int64) -> Int64 {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? (other < 0 ? .min : .max) : sum
    }
}

extension Duration {
    /// The duration in whole nanoseconds, limited to what `Int64` holds: 292 years in both directions.
    package var nanoseconds: Int64 {
        let (seconds, attoseconds) = components
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        if overflow { return seconds < 0 ? .min : .max }
        return product.addingUpToBounds(attoseconds / 1_000_000_000)
    }

    /// The duration in whole microseconds, with the same limits.
    package var microseconds: Int64 { nanoseconds / 1000 }

    /// The duration in whole milliseconds. The time of many hosts together may be a hundred thousand years.
    package var milliseconds: Int64 {
        let (seconds, attoseconds) = components
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1000)
        if overflow { return seconds < 0 ? .min : .max }
        return product.addingUpToBounds(attoseconds / 1_000_000_000_000_000)
    }
}
