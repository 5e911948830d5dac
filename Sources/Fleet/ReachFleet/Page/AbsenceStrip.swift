package import ReachCore

/// The last day of a host in cells of half an hour, a digit each: 0 here, 1 partly away, 2 away, 3 not known.
package enum AbsenceStrip {
    package static let cells = 48
    private static let cell: Int64 = 1800 * 1_000_000_000

    /// - Parameters:
    ///   - known: Since when the host's absences are known: the start of the window.
    /// - Returns: `nil` if the host was here all the time.
    package static func text(_ past: HostPast, asOf end: Timestamp, known: Timestamp) -> String? {
        let begin = end.nanosecondsSince1970 - Int64(cells) * cell
        var away = [Int64](repeating: 0, count: cells)
        var unknown = away
        func count(_ from: Int64, _ to: Int64, _ times: inout [Int64]) {
            let (from, to) = (max(from, begin), min(to, end.nanosecondsSince1970))
            guard from < to else { return }
            for index in Int((from - begin) / cell)...Int((to - 1 - begin) / cell) {
                let start = begin + Int64(index) * cell
                times[index] += min(to, start + cell) - max(from, start)
            }
        }
        let leading = max(known, past.known(since: known) ?? known).nanosecondsSince1970
        for absence in past.absences where !absence.isSwitchedOff {
            count(
                absence.start?.nanosecondsSince1970 ?? leading, absence.end?.nanosecondsSince1970 ?? .max, &away)
        }
        for span in past.uncounted { count(max(span.lowerBound, leading), span.upperBound, &unknown) }
        // Of the first cell that is known in part the known part counts.
        let first = min(max(Int((leading - begin) / cell), 0), cells)
        guard first > 0 || away.contains(where: { $0 > 0 }) || unknown.contains(where: { $0 >= cell }) else {
            return nil
        }
        return away.indices.reduce(into: "") { text, index in
            text +=
                away[index] > 0
                ? (away[index] >= cell ? "2" : "1") : index < first || unknown[index] >= cell ? "3" : "0"
        }
    }
}
