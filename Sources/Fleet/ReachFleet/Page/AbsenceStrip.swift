package import ReachCore

/// The last day of a host in cells of half an hour, a digit each: 0 here, 1 partly away, 2 away, 3 not known.
package enum AbsenceStrip {
    package static let cells = 48
    private static let cell: Int64 = 1800 * 1_000_000_000

    /// - Parameters:
    ///   - known: Since when the host's absences are known: the start of the window.
    /// - Returns: `nil` if the host was here all the time.
    package static func text(_ absences: [Absence], asOf end: Timestamp, known: Timestamp) -> String? {
        let begin = end.nanosecondsSince1970 - Int64(cells) * cell
        var away = [Int64](repeating: 0, count: cells)
        for absence in absences {
            let from = max(absence.start?.nanosecondsSince1970 ?? .min, begin)
            let to = min(absence.end?.nanosecondsSince1970 ?? .max, end.nanosecondsSince1970)
            guard from < to else { continue }
            for index in Int((from - begin) / cell)...Int((to - 1 - begin) / cell) {
                let start = begin + Int64(index) * cell
                away[index] += min(to, start + cell) - max(from, start)
            }
        }
        let unknown = min(max(Int((known.nanosecondsSince1970 - begin) / cell), 0), cells)
        guard unknown > 0 || away.contains(where: { $0 > 0 }) else { return nil }
        return away.enumerated().reduce(into: "") { text, item in
            text += item.offset < unknown ? "3" : item.element == 0 ? "0" : item.element >= cell ? "2" : "1"
        }
    }
}
