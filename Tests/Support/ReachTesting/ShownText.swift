internal import Glibc

/// What people or programs see in many situations, whole, as a file of Tests/Support/Shown has it: a line too many is
/// noticed as well as one that is missing.
///
/// `REACH_SHOWN=write make test ONLY=...` writes the files; the difference is then read before it is committed.
package enum ShownText {
    /// - Returns: Where a text first differs from the file of this name; `nil` if it is the same.
    package static func difference(of text: String, from name: String) -> String? {
        let path = "Tests/Support/Shown/" + name
        if getenv("REACH_SHOWN").map({ String(cString: $0) }) == "write" {
            guard let file = fopen(ProjectFile.path(path), "w") else { return "\(path) cannot be written" }
            fputs(text, file)
            fclose(file)
            return nil
        }
        let expected = ProjectFile.text(path)
        guard text != expected else { return nil }
        let (old, new) = (lines(of: expected), lines(of: text))
        let place = zip(old, new).enumerated().first { $1.0 != $1.1 }?.offset ?? min(old.count, new.count)
        let heading = old.prefix(place).last { $0.hasPrefix("# ") } ?? ""
        return """
            \(path):\(place + 1): \(heading)
            it is:    \(new.dropFirst(place).first ?? "the end")
            expected: \(old.dropFirst(place).first ?? "the end")
            """
    }

    private static func lines(of text: String) -> [Substring] {
        text.split(separator: "\n", omittingEmptySubsequences: false)
    }
}
