internal import ReachCore
internal import ReachRecords

extension HistoryRow {
    /// The rows without the pauses of probes that an outage of a path explains, and without their returns: they are
    /// part of the outage's row. One cable that is pulled is one row, however many probes there are.
    static func joiningPauses(_ rows: [HistoryRow]) -> [HistoryRow] {
        let outages = rows.indices.filter { rows[$0].isOutageOfPath }
        guard !outages.isEmpty else { return rows }
        var kept: [HistoryRow?] = rows
        /// The indices of each probe's latest state, and of the outage that its pause belongs to.
        var latest: [String: (row: Int, outage: Int?)] = [:]
        for (place, row) in rows.enumerated() {
            guard let state = row.state, HistoryEntry.probe(ofTarget: state.target) != nil else { continue }
            let before = latest[state.target]
            if let before, state.isPauseForPath, let outage = outage(at: row.time, among: outages, of: rows) {
                kept[place] = nil
                kept[outage]?.tookAlong.append(state.target)
                latest[state.target] = (before.row, outage)
            } else if let before, before.outage != nil, let earlier = rows[before.row].state,
                earlier.status == state.status, earlier.reason?.word == state.reason?.word
            {
                // The same again. Of the time between, nothing is known.
                kept[place] = nil
                let first = kept[before.row]?.lasted
                kept[before.row]?.lasted = row.lasted.flatMap { second in first.map { $0 + second } }
                latest[state.target] = (before.row, nil)
            } else {
                latest[state.target] = (place, nil)
            }
        }
        return kept.compactMap(\.self)
    }

    /// The row of the outage in which something happened: the Internet's, if there are several.
    private static func outage(at time: Timestamp, among outages: [Int], of rows: [HistoryRow]) -> Int? {
        let matching = outages.filter { place in
            let (row, slack) = (rows[place], HistoryTimeline.Span.shredLimit.nanoseconds)
            let begin = row.time.nanosecondsSince1970 - slack
            let end = row.lasted.map { row.time.nanosecondsSince1970 + $0.nanoseconds + slack } ?? .max
            return begin <= time.nanosecondsSince1970 && time.nanosecondsSince1970 <= end
        }
        return matching.first { rows[$0].state?.target == Target.internet.description } ?? matching.first
    }

    private var isOutageOfPath: Bool {
        guard let state, HistoryEntry.probe(ofTarget: state.target) == nil else { return false }
        return state.isUnusable
    }
}

extension HistoryEntry.State {
    fileprivate var isPauseForPath: Bool {
        guard status == .unknown, case .probe(let word)? = reason else { return false }
        switch ProbePause(rawValue: word) {
        case .noPath?, .interface?, .notValidated?: return true
        case .linkClass?, .network?, .metered?, .quality?, .tunnel?, nil: return false
        }
    }
}
