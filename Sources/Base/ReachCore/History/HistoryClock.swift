/// Corrects the times of records if the wall clock was set in between.
///
/// Within one boot the boot clock is right, and the wall clock was most likely right at the end: a machine without a
/// battery-backed clock starts in 1970 until it has queried a time server. The last record of each boot therefore gives
/// the offset for all of its records.
package struct HistoryClock: Sendable {
    private var offsets: [String: Int64] = [:]

    /// - Parameters:
    ///   - now: The current time on both clocks.
    ///   - boot: The current boot of the machine.
    package init(_ entries: [HistoryEntry], now: Instant, boot: String) {
        for entry in entries { offsets[entry.boot] = Self.offset(entry.moment) }
        offsets[boot] = Self.offset(now)
    }

    /// The corrected time of a record.
    package func time(of entry: HistoryEntry) -> Timestamp { time(of: entry.moment, boot: entry.boot) }

    /// The corrected time of a moment in a boot, such as one of the journal; from 1970 to 2200, so that differences fit
    /// whatever a damaged file contains.
    package func time(of moment: Instant, boot: String) -> Timestamp {
        let offset = offsets[boot] ?? Self.offset(moment)
        let time = Timestamp(nanosecondsSince1970: moment.boot.nanoseconds &+ offset)
        return min(max(time, Timestamp(nanosecondsSince1970: 0)), Timestamp.latest)
    }

    private static func offset(_ moment: Instant) -> Int64 {
        // A damaged record must not trap. Its times are meaningless anyway.
        moment.wall.nanosecondsSince1970 &- moment.boot.nanoseconds
    }
}
