internal import ReachCore

/// Converts toml++'s error descriptions to the form of configuration errors: the problem, and what is expected.
enum TOMLErrorText {
    static func error(line: Int, key: String?, _ description: String) -> ConfigurationValidationError {
        let (problem, expected) = parts(of: description)
        return ConfigurationValidationError(line: line, key: key, problem, expected: expected)
    }

    /// Whether the error is at the end of the file. toml++ then reports the last line, which may be correct.
    static func isEndOfFile(_ description: String) -> Bool { description.containsUTF8("end-of-file") }

    /// Parses descriptions such as `Error while parsing key-value pair: expected '=', saw '\n'`.
    private static func parts(of description: String) -> (problem: String, expected: String) {
        let halves = split(description, at: ": ")
        let text = halves.map { String($0.after) } ?? description
        let place = halves.map { " (" + $0.before.dropScalars { $0 != " " }.dropFirst() + ")" } ?? ""
        if text.hasUTF8Prefix("expected "), let (expected, saw) = split(text, at: ", saw ") {
            return ("there is \(saw)\(place)", String(expected.dropFirst("expected ".count)))
        }
        if text == "could not determine value type" {
            return ("it is not a value", "a text in quotes, a number, true, false, or a [list]")
        }
        let isTwice = text.hasUTF8Prefix("cannot redefine")
        return (text + place, isTwice ? "each key and each table once" : "TOML 1.0")
    }

    private static func split(_ text: String, at separator: String) -> (before: Substring, after: Substring)? {
        text.utf8Range(of: separator).map { (text[..<$0.lowerBound], text[$0.upperBound...]) }
    }
}
