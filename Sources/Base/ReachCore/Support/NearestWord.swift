/// The known word that a mistyped one may mean, for hints in errors.
package enum NearestWord {
    /// The word with the smallest edit distance, if that is small for its length.
    package static func find(_ word: String, among words: [String]) -> String? {
        let distances = words.map { (word: $0, distance: distance(from: Array(word.utf8), to: Array($0.utf8))) }
        guard let best = distances.min(by: { $0.distance < $1.distance }) else { return nil }
        return best.distance <= max(1, best.word.utf8.count / 3) ? best.word : nil
    }

    /// What to add to a sentence about an unknown word: `; did you mean 'office'?`, or nothing.
    package static func hint(for word: String, among words: [String]) -> String {
        find(word, among: words).map { "; did you mean '\(DisplayText.sanitized($0))'?" } ?? ""
    }

    /// The edit distance, in which swapping two adjacent letters is one edit (optimal string alignment).
    private static func distance(from: [UInt8], to: [UInt8]) -> Int {
        // Longer words are not typing errors, and the cost is quadratic.
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
