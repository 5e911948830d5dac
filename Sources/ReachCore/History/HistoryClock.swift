/// Puts what happened in one order, although the wall clock may have been set in between.
///
/// Within one start of the machine the boot time is right, and the wall clock was most likely right at the end: a machine
/// without a clock of its own begins in 1970, until it has asked somebody. So each start's last record says when its
/// other records really were.
struct HistoryClock {
    private var offsets: [String: Int64] = [:]

    /// - Parameters:
    ///   - now: The present, on both clocks.
    ///   - boot: The present start of the machine.
    init(_ entries: [HistoryEntry], now: Instant, boot: String) {
        for entry in entries { offsets[entry.boot] = Self.offset(entry.moment) }
        offsets[boot] = Self.offset(now)
    }

    /// When it really was, as far as can be told.
    func time(of entry: HistoryEntry) -> Timestamp {
        let offset = offsets[entry.boot] ?? Self.offset(entry.moment)
        return Timestamp(nanosecondsSince1970: entry.moment.boot.nanoseconds &+ offset)
    }

    private static func offset(_ moment: Instant) -> Int64 {
        // A damaged record must not trap; what it says of times is worth nothing anyway.
        moment.wall.nanosecondsSince1970 &- moment.boot.nanoseconds
    }
}
