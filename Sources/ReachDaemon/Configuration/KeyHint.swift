/// Suggests the key or table that the user probably meant.
enum KeyHint {
    /// - Parameters:
    ///   - path: The table of the key; `nil` at the top of the file.
    ///   - known: The known keys of the table.
    static func text(for key: String, in path: String?, known: [String], isTable: Bool) -> String {
        let tables = Configuration.tables
        let candidates = isTable && path == nil ? tables.filter { $0.name != nil } : []
        if let meant = nearest(to: key, among: candidates.compactMap(\.name)) {
            return "\(candidates.first { $0.name == meant }?.header ?? meant), which is the nearest table"
        }
        if let meant = nearest(to: key, among: known) { return "\(meant), which is the nearest key" }
        if let home = tables.first(where: { $0.name != path && $0.keys.contains(key) }) {
            return "\(key) below \(home.header)"
        }
        let words = isTable && path == nil ? candidates.map(\.header) : known
        return "one of " + words.joined(separator: ", ")
    }

    /// The word with the smallest edit distance, if that is small for its length.
    static func nearest(to word: String, among words: [String]) -> String? {
        let distances = words.map { (word: $0, distance: distance(from: Array(word.utf8), to: Array($0.utf8))) }
        guard let best = distances.min(by: { $0.distance < $1.distance }) else { return nil }
        return best.distance <= max(1, best.word.utf8.count / 3) ? best.word : nil
    }

    /// The edit distance, in which swapping two adjacent letters is one edit (optimal string alignment).
    private static func distance(from: [UInt8], to: [UInt8]) -> Int {
        // Longer keys are not typing errors, and the cost is quadratic.
        guard from.count <= 64 else { return .max }
        var beforeLast: [Int] = []
        var last = Array(0...to.count)
        for (row, byte) in from.enumerated() {
            var next = [row + 1]
            for (column, other) in to.enumerated() {
                var cost = min(last[column] + (byte == other ? 0 : 1), last[column + 1] + 1, next[column] + 1)
                if row > 0, column > 0, byte == to[column - 1], from[row - 1] == other {
                    cost = min(cost, beforeLast[column - 1] + 1)
                }
                next.append(cost)
            }
            (beforeLast, last) = (last, next)
        }
        return last[to.count]
    }
}
