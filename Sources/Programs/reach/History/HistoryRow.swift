internal import ReachCore
internal import ReachRecords

/// One event of the history, as a row of a table.
struct HistoryRow: Hashable, Sendable {
    let time: Timestamp
    fileprivate(set) var content: HistoryEntry.Content
    /// How long the state lasted; `nil` for events without a duration, and for the current state.
    var lasted: Duration?
    /// The probes that paused for it, as the history has them.
    var tookAlong: [String] = []

    /// The events of the queried time, oldest first. A state that a daemon found unchanged makes no row, and the
    /// first check's result belongs to the row of the path that it checked.
    static func rows(
        of log: HistoryLog, matching query: HistoryQuery, now: Instant, boot: String
    ) -> [HistoryRow] {
        let clock = HistoryClock(log.entries, now: now, boot: boot)
        let earliest = query.since.map { now.wall.nanosecondsSince1970 - $0.nanoseconds } ?? .min
        var builder = RowBuilder()
        for entry in log.entries where query.target == nil || entry.target == nil || entry.target == query.target {
            builder.add(entry, at: clock.time(of: entry))
        }
        builder.fold()
        return joiningPauses(builder.rows).filter { $0.time.nanosecondsSince1970 >= earliest }
    }
}

/// Builds rows from records in order, and measures how long each state lasted.
private struct RowBuilder {
    private(set) var rows: [HistoryRow] = []
    /// The index of the row with each target's current state.
    private var places: [String: Int] = [:]

    mutating func add(_ entry: HistoryEntry, at time: Timestamp) {
        switch entry.content {
        case .state(let state):
            if let place = places[state.target], let shown = rows[place].state {
                if shown.isRepeated(by: state) { return }
                if shown.isIdentified(by: state) {
                    rows[place].complete { $0.network = state.network }
                    return
                }
                if shown.isMeasured(by: state) {
                    rows[place].complete { $0.quality = state.quality }
                    return
                }
                if shown.isUndecided, shown.isSamePath(as: state), !state.isUndecided {
                    rows[place].complete { $0.connectivity = state.connectivity }
                    return
                }
            }
            end(state.target, at: time)
            places[state.target] = rows.count
        case .unwatched(let target): end(target, at: time)
        case .started, .stopped: for target in Array(places.keys) { end(target, at: time) }
        // A figure, and no event.
        case .quality, .evidence: return
        case .dropped: break
        }
        rows.append(HistoryRow(time: time, content: entry.content))
    }

    /// Drops the states that lasted only moments on the way back, and adds their time to the state before: without a
    /// cable there is first no carrier, then for some milliseconds no address, no route or no answer of the gateway.
    mutating func fold() {
        var kept: [HistoryRow?] = []
        /// The indices of each target's rows.
        var places: [String: [Int]] = [:]
        for row in rows {
            var shown: HistoryRow? = row
            defer { kept.append(shown) }
            guard let state = row.state else { continue }
            var spans = places[state.target] ?? []
            /// Makes a row a part of the one before it.
            func merge(_ merged: HistoryRow) -> Bool {
                guard let place = spans.last, let before = kept[place], before.state?.status == .notReachable,
                    let earlier = before.lasted, let lasted = merged.lasted, lasted < HistoryTimeline.Span.shredLimit
                else { return false }
                kept[place]?.lasted = earlier + lasted
                return true
            }
            if state.status == .notReachable, spans.count > 1, let moment = kept[spans[spans.count - 1]],
                moment.state?.status != .notReachable
            {
                let place = spans.removeLast()
                if merge(moment) { kept[place] = nil } else { spans.append(place) }
            }
            if state.status == .notReachable, merge(row) {
                shown = nil
                places[state.target] = spans
                continue
            }
            spans.append(kept.count)
            places[state.target] = spans
        }
        rows = kept.compactMap(\.self)
    }

    private mutating func end(_ target: String, at time: Timestamp) {
        guard let place = places.removeValue(forKey: target) else { return }
        let nanoseconds = time.nanosecondsSince1970 - rows[place].time.nanosecondsSince1970
        rows[place].lasted = .nanoseconds(max(0, nanoseconds))
    }
}

extension HistoryRow {
    var state: HistoryEntry.State? {
        guard case .state(let state) = content else { return nil }
        return state
    }

    /// Adds what became known of the state later, and was so all the time.
    fileprivate mutating func complete(_ change: (inout HistoryEntry.State) -> Void) {
        guard case .state(var state) = content else { return }
        change(&state)
        content = .state(state)
    }
}

extension HistoryEntry.State {
    /// Whether a later state is no change but the same state again.
    fileprivate func isRepeated(by other: HistoryEntry.State) -> Bool {
        !other.isChange && isSamePath(as: other) && connectivity == other.connectivity && quality == other.quality
    }

    /// Whether a later state differs only in that the network became known, which it was all the time.
    fileprivate func isIdentified(by other: HistoryEntry.State) -> Bool {
        guard network == nil, other.network != nil else { return false }
        var unnamed = other
        unnamed.network = nil
        return isSamePath(as: unnamed) && connectivity == other.connectivity
    }

    /// Whether a later state differs only in that the line was measured, and is as lines should be.
    fileprivate func isMeasured(by other: HistoryEntry.State) -> Bool {
        quality == nil && other.quality == LineQuality.Word.good.rawValue && isSamePath(as: other)
            && connectivity == other.connectivity
    }

    fileprivate func isSamePath(as other: HistoryEntry.State) -> Bool {
        status == other.status && linkClass == other.linkClass && interface == other.interface
            && reason == other.reason && rootCause == other.rootCause && rootInterface == other.rootInterface
            && network == other.network
    }
}
