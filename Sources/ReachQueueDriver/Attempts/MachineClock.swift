internal import Glibc
internal import ReachLoop

/// Whether this machine's wall clock can be believed.
enum MachineClock {
    /// 2024-01-01T00:00:00Z: no machine that runs this was built before. One without a battery begins in 1970.
    private static let earliest: Int64 = 1_704_067_200_000_000_000

    /// Nothing has set it since the start (adjtimex(2), STA_UNSYNC), or it shows a time before 2024.
    static func isUnset() -> Bool {
        if SystemClock.now.wall.nanosecondsSince1970 < earliest { return true }
        var state = timex()
        return adjtimex(&state) >= 0 && state.status & STA_UNSYNC != 0
    }
}
