/// One thing that happened, as a table for people has it.
package struct HistoryRow: Hashable, Sendable {
    package let time: Timestamp
    package let content: HistoryEntry.Content
    /// How long it stayed so; `nil` for what has no length, and for what still holds.
    package fileprivate(set) var lasted: Duration?

    /// What happened in the time that is asked for, oldest first. What a daemon found as it was before is left out.
    package static func rows(
        of log: HistoryLog, matching query: HistoryQuery, now: Instant, boot: String
    ) -> [HistoryRow] {
        let clock = HistoryClock(log.entries, now: now, boot: boot)
        let earliest = query.since.map { now.wall.nanosecondsSince1970 - $0.nanoseconds } ?? .min
        var known = Known()
        for entry in log.entries where query.target == nil || entry.target == nil || entry.target == query.target {
            known.take(entry, at: clock.time(of: entry))
        }
        return known.rows.filter { $0.time.nanosecondsSince1970 >= earliest }
    }
}

/// Follows the records, and measures how long each state lasted.
private struct Known {
    private(set) var rows: [HistoryRow] = []
    /// The row of each target's present state.
    private var places: [String: Int] = [:]

    mutating func take(_ entry: HistoryEntry, at time: Timestamp) {
        switch entry.content {
        case .state(let state):
            if let place = places[state.target], rows[place].state?.isLike(state) == true { return }
            end(state.target, at: time)
            places[state.target] = rows.count
        case .unwatched(let target): end(target, at: time)
        case .started, .stopped: for target in Array(places.keys) { end(target, at: time) }
        case .dropped: break
        }
        rows.append(HistoryRow(time: time, content: entry.content))
    }

    private mutating func end(_ target: String, at time: Timestamp) {
        guard let place = places.removeValue(forKey: target) else { return }
        let nanoseconds = time.nanosecondsSince1970 - rows[place].time.nanosecondsSince1970
        rows[place].lasted = .nanoseconds(max(0, nanoseconds))
    }
}

extension HistoryRow {
    fileprivate var state: HistoryEntry.State? {
        guard case .state(let state) = content else { return nil }
        return state
    }
}

extension HistoryEntry.State {
    fileprivate func isLike(_ other: HistoryEntry.State) -> Bool {
        !other.isChange && status == other.status && linkClass == other.linkClass && interface == other.interface
            && reason == other.reason
    }
}
