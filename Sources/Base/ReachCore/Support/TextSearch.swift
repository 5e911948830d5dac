extension StringProtocol {
    /// The first occurrence of `pattern`, compared byte by byte; nothing for an empty one.
    ///
    /// The standard library's `firstRange(of:)` and `split(separator:)` by a text compare characters, and build some twenty
    /// generic types when they are first used, which costs a short-lived program 0.2 ms and half a megabyte.
    package func utf8Range(of pattern: String) -> Range<Index>? {
        let needle = pattern.utf8
        guard let first = needle.first else { return nil }
        var rest = utf8[...]
        while let start = rest.firstIndex(of: first) {
            if rest[start...].starts(with: needle) { return start..<utf8.index(start, offsetBy: needle.count) }
            rest = rest[utf8.index(after: start)...]
        }
        return nil
    }
}
