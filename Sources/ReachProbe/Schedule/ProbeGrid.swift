package import ReachCore

/// When a probe's attempts are due: on a grid of its interval, laid over CLOCK_BOOTTIME.
///
/// The grid's phase comes from the machine's identity and the probe's name, so that the probes of a machine, and the
/// machines of a fleet, are spread over the interval, the same way after every restart. Each tick is moved by up to a
/// twentieth of the interval, so that nothing stays in step with it. A step of the wall clock moves nothing.
package struct ProbeGrid: Hashable, Sendable {
    package struct Tick: Hashable, Sendable {
        package let number: Int64
        package let time: BootTime
    }

    private let interval: Int64
    private let phase: Int64
    private let seed: UInt64

    /// Symmetric, so that the mean interval is what was asked for.
    private static let jitterDivisor: Int64 = 20

    package init(interval: Duration, machine: String, probe: String) {
        self.interval = max(1, interval.nanoseconds)
        seed = StableHash.mix(StableHash.fnv64(machine, probe))
        phase = Int64(seed % UInt64(self.interval))
    }

    /// Where in a time that begins somewhere this probe stands among others.
    package func share(of time: Duration) -> Duration {
        .nanoseconds(Int64(seed % UInt64(max(1, time.nanoseconds))))
    }

    /// The first tick later than `moment`.
    package func tick(after moment: BootTime) -> Tick {
        let reach = interval / Self.jitterDivisor
        var number = (moment.nanoseconds - phase - reach) / interval - 1
        while time(of: number) <= moment { number += 1 }
        return Tick(number: number, time: time(of: number))
    }

    package func time(of number: Int64) -> BootTime {
        let reach = UInt64(interval / Self.jitterDivisor)
        let draw = StableHash.mix(seed ^ UInt64(bitPattern: number)) % (2 * reach + 1)
        return BootTime(nanoseconds: number * interval + phase + Int64(draw) - Int64(reach))
    }
}
