internal import Glibc
package import ReachCore
internal import ReachLoop

/// Whether this machine's wall clock can be believed: it must not be before a time that has certainly passed. The
/// kernel's STA_UNSYNC says nothing about that: in virtual machines and containers, and with time daemons that do not
/// use the kernel's discipline, it is always set.
package enum MachineClock {
    /// 2024-01-01T00:00:00Z, where no file is newer.
    private static let earliest: Int64 = 1_704_067_200_000_000_000

    /// Files whose modification times have passed: this program, which a package gives the time of its build; the last
    /// time that systemd-timesyncd knew; the time of systemd's build.
    private static let files = ["/proc/self/exe", "/var/lib/systemd/timesync/clock", "/usr/lib/clock-epoch"]

    /// The clock shows a time that has passed: a machine without a battery for its clock begins in 1970.
    static func isUnset() -> Bool { isUnset(SystemClock.now.wall, files: files) }

    static func isUnset(_ now: Timestamp, files: [String]) -> Bool { now < earliestTime(files: files) }

    /// No clock that is right shows a time before this one.
    package static func earliestTime() -> Timestamp { earliestTime(files: files) }

    private static func earliestTime(files: [String]) -> Timestamp {
        Timestamp(nanosecondsSince1970: files.compactMap(modification).reduce(earliest, max))
    }

    private static func modification(_ path: String) -> Int64? {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        return Timestamp(secondsSince1970: status.st_mtim.tv_sec, nanoseconds: status.st_mtim.tv_nsec)
            .nanosecondsSince1970
    }
}
