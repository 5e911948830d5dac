/// A pattern in which `*` matches any number of bytes, including none, and `?` matches one byte.
package struct Glob: Hashable, Sendable {
    /// The pattern as written.
    package let pattern: String

    package init(_ pattern: String) { self.pattern = pattern }

    /// Whether the pattern matches all of `text`.
    ///
    /// Backtracking returns to the last `*` only: whatever an earlier one could match, the later one can match too. The
    /// time is therefore at most proportional to the product of the two lengths.
    package func matches(_ text: String) -> Bool {
        let pattern = pattern.utf8, text = text.utf8
        var here = pattern.startIndex, there = text.startIndex
        var retry: (afterStar: String.Index, text: String.Index)?
        while there != text.endIndex {
            let wanted = here == pattern.endIndex ? nil : pattern[here]
            if wanted == UInt8(ascii: "*") {
                here = pattern.index(after: here)
                retry = (here, there)
            } else if wanted == UInt8(ascii: "?") || wanted == text[there] {
                here = pattern.index(after: here)
                there = text.index(after: there)
            } else if let star = retry {
                here = star.afterStar
                there = text.index(after: star.text)
                retry = (here, there)
            } else {
                return false
            }
        }
        return pattern[here...].allSatisfy { $0 == UInt8(ascii: "*") }
    }
}
