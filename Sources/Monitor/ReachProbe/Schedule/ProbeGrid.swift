package import ReachCore

/// The times at which a probe's attempts are due: a grid with the probe's interval on CLOCK_BOOTTIME.
///
/// The grid's phase is a hash of the machine's identity and the probe's name. It spreads the probes of a machine, and
/// the machines of a fleet, over the interval, and is the same after every restart. Each tick is moved by up to a
/// twentieth of the interval, so that nothing stays in step with it. Steps of the wall clock have no effect.
package struct ProbeGrid: Hashable, Sendable {
    package struct Tick: Hashable, Sendable {
        package let number: Int64
        package let time: BootTime
    }

    private let interval: Int64
    private let phase: Int64
    private let seed: UInt64

    /// The jitter is symmetric, so that the mean interval is the configured one.
    private static let jitterDivisor: Int64 = 20

    package init(interval: Duration, machine: String, probe: String) {
        self.interval = max(1, interval.nanoseconds)
        seed = StableHash.mix(StableHash.fnv64(Array(machine.utf8) + [0] + probe.utf8))
        phase = Int64(seed % UInt64(self.interval))
    }

    /// This probe's offset within a period, which spreads the probes over it.
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
