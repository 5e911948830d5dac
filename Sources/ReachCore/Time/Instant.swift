/// A point in time since the machine was started, time asleep included (CLOCK_BOOTTIME).
public struct BootTime: Hashable, Comparable, Sendable {
    /// Nanoseconds since the machine was started.
    public let nanoseconds: Int64

    /// A point in time from its nanoseconds since the machine was started.
    public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    /// Earlier comes first.
    public static func < (left: BootTime, right: BootTime) -> Bool { left.nanoseconds < right.nanoseconds }

    /// A deadline too far away to be told in nanoseconds is the farthest that can be: never, for all purposes.
    package static func + (time: BootTime, duration: Duration) -> BootTime {
        BootTime(nanoseconds: time.nanoseconds.addingUpToBounds(duration.nanoseconds))
    }

    package static func - (left: BootTime, right: BootTime) -> Duration {
        let (difference, overflow) = left.nanoseconds.subtractingReportingOverflow(right.nanoseconds)
        return .nanoseconds(overflow ? (left < right ? .min : .max) : difference)
    }
}

/// One moment on both clocks: one for people, one to reckon with.
package struct Instant: Hashable, Sendable {
    package let wall: Timestamp
    package let boot: BootTime

    package init(wall: Timestamp, boot: BootTime) {
        self.wall = wall
        self.boot = boot
    }
}

extension Int64 {
    fileprivate func addingUpToBounds(_ other: Int64) -> Int64 {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? (other < 0 ? .min : .max) : sum
    }
}

extension Duration {
    /// Whole nanoseconds. Durations of three centuries and more are cut to `Int64`'s ends.
    package var nanoseconds: Int64 {
        let (seconds, attoseconds) = components
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        if overflow { return seconds < 0 ? .min : .max }
        return product.addingUpToBounds(attoseconds / 1_000_000_000)
    }
}
