/// Turns what toml++ says of a mistake into the form of all mistakes of a configuration: what is wrong, and what should
/// stand there.
enum TOMLMistakeText {
    static func mistake(line: Int, key: String?, _ description: String) -> ConfigurationMistake {
        let (problem, expected) = parts(of: description)
        return ConfigurationMistake(line: line, key: key, problem, expected: expected)
    }

    /// toml++ then names the last line, where nothing is wrong.
    static func isEndOfFile(_ description: String) -> Bool { description.contains("end-of-file") }

    /// Such as `Error while parsing key-value pair: expected '=', saw '\n'`.
    private static func parts(of description: String) -> (problem: String, expected: String) {
        let halves = split(description, at: ": ")
        let text = halves.map { String($0.after) } ?? description
        let place = halves.map { " (" + $0.before.drop { $0 != " " }.dropFirst() + ")" } ?? ""
        if text.hasPrefix("expected "), let (expected, saw) = split(text, at: ", saw ") {
            return ("there is \(saw)\(place)", String(expected.dropFirst("expected ".count)))
        }
        if text == "could not determine value type" {
            return ("it is no value", "a text in quotes, a number, true, false, or a [list]")
        }
        let isTwice = text.hasPrefix("cannot redefine")
        return (text + place, isTwice ? "each key and each table once" : "TOML 1.0")
    }

    private static func split(_ text: String, at separator: String) -> (before: Substring, after: Substring)? {
        var start = text.startIndex
        while start < text.endIndex {
            if text[start...].hasPrefix(separator) {
                return (text[..<start], text[text.index(start, offsetBy: separator.count)...])
            }
            start = text.index(after: start)
        }
        return nil
    }
}
