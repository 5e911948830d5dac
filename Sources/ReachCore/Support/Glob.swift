/// A pattern in which `*` stands for any bytes, none included, and `?` for one byte.
package struct Glob: Hashable, Sendable {
    /// The pattern as it was written.
    package let pattern: String

    package init(_ pattern: String) { self.pattern = pattern }

    /// The whole of `text` fits the pattern.
    ///
    /// Only the last `*` ever has to take back a byte: whatever an earlier one could match, the later one can too. So
    /// no pattern takes longer than the product of the two lengths.
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
