internal import ReachCore

/// A set of HTTP status codes, written as `200-299`, `2xx,301` or `404`.
package struct HTTPStatusSet: Hashable, Sendable, CustomStringConvertible {
    package let description: String
    private let ranges: [ClosedRange<Int>]

    /// 200 to 299, which AFNetworking accepts by default.
    package static let success = HTTPStatusSet(description: "2xx", ranges: [200...299])

    private init(description: String, ranges: [ClosedRange<Int>]) {
        self.description = description
        self.ranges = ranges
    }

    /// - Returns: `nil` unless the text is a list of codes, ranges and classes from 100 to 599.
    package init?(_ text: String) {
        var ranges: [ClosedRange<Int>] = []
        for part in text.split(scalar: ",", omittingEmptySubsequences: false) {
            let words = part.split(scalar: " ")
            guard words.count == 1, let range = Self.range(words[0]) else { return nil }
            ranges.append(range)
        }
        self.init(description: text, ranges: ranges)
    }

    package func contains(_ status: Int) -> Bool { ranges.contains { $0.contains(status) } }

    private static func range(_ word: Substring) -> ClosedRange<Int>? {
        if word.count == 3, word.hasUTF8Suffix("xx"), let digit = word.first?.wholeNumberValue, 1...5 ~= digit {
            return digit * 100...digit * 100 + 99
        }
        let ends = word.split(scalar: "-", omittingEmptySubsequences: false).map { code($0) }
        guard let first = ends.first ?? nil, let last = ends.last ?? nil, ends.count <= 2, first <= last else {
            return nil
        }
        return first...last
    }

    private static func code(_ text: Substring) -> Int? {
        guard text.utf8.count == 3, let code = Int(text), 100...599 ~= code else { return nil }
        return code
    }
}
