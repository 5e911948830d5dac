/// What somebody probably meant who wrote a key that does not exist.
enum KeyHint {
    /// - Parameters:
    ///   - path: The table it stands in, `nil` at the top.
    ///   - known: The keys that the table has.
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

    /// The one that takes the fewest changes of a letter, if those are few for its length.
    static func nearest(to word: String, among words: [String]) -> String? {
        let distances = words.map { (word: $0, distance: distance(from: Array(word.utf8), to: Array($0.utf8))) }
        guard let best = distances.min(by: { $0.distance < $1.distance }) else { return nil }
        return best.distance <= max(1, best.word.utf8.count / 3) ? best.word : nil
    }

    /// Levenshtein's distance, two neighbours that changed places counting as one change.
    private static func distance(from: [UInt8], to: [UInt8]) -> Int {
        // Longer ones are no slip of the finger.
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
