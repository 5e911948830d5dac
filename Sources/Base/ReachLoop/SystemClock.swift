internal import CReachLinux
internal import Glibc
package import ReachCore

/// The machine's clocks.
package enum SystemClock {
    /// Now, on the wall clock and on CLOCK_BOOTTIME.
    package static var now: Instant {
        let wall = time(CLOCK_REALTIME)
        return Instant(wall: Timestamp(secondsSince1970: wall.tv_sec, nanoseconds: wall.tv_nsec), boot: boot)
    }

    /// Now, on CLOCK_BOOTTIME.
    package static var boot: BootTime { BootTime(nanoseconds: read(CLOCK_BOOTTIME)) }

    /// CLOCK_BOOTTIME minus CLOCK_MONOTONIC: the total time asleep since the boot.
    package static var timeAsleep: Duration {
        let monotonic = read(CLOCK_MONOTONIC)
        return .nanoseconds(read(CLOCK_BOOTTIME) - monotonic)
    }

    /// The processor time that the calling thread has taken, the kernel's work for it included.
    package static var threadTime: Duration { .nanoseconds(read(CLOCK_THREAD_CPUTIME_ID)) }

    private static func time(_ clock: clockid_t) -> timespec {
        var time = timespec()
        clock_gettime(clock, &time)
        return time
    }

    /// Of a clock that begins with the machine, or with the thread.
    private static func read(_ clock: clockid_t) -> Int64 {
        let time = time(clock)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}

extension LocalZone {
    /// The time zone of this machine, or the one that the variable TZ names (tzset(3)).
    package static let system = LocalZone { time in
        var seconds = time_t(time.nanosecondsSince1970.flooredSeconds)
        var parts = tm()
        localtime_r(&seconds, &parts)
        let name = parts.tm_zone.map { String(cString: $0) } ?? ""
        return Offset(seconds: Int(parts.tm_gmtoff), name: name)
    }
}

extension Int64 {
    fileprivate var flooredSeconds: Int64 { self / 1_000_000_000 - (self % 1_000_000_000 < 0 ? 1 : 0) }
}
