internal import CReachLinux
internal import ReachCore
internal import ReachLoop

/// Whether this machine's wall clock can be believed.
enum MachineClock {
    /// 2024-01-01T00:00:00Z: a machine without a battery for its clock begins in 1970.
    private static let earliest: Int64 = 1_704_067_200_000_000_000

    /// Nothing has set it since the start, or it shows a time before 2024 (scheduling.md 4.4).
    static func isUnset() -> Bool {
        SystemClock.now.wall.nanosecondsSince1970 < earliest || reach_clock_is_unsynchronised() != 0
    }
}
