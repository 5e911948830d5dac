internal import ReachCore

/// The errors of wrong command lines, in the form of all other errors: one line, `PROGRAM: SENTENCE`, and where there
/// is help.
package enum UsageMessage {
    /// - Parameters:
    ///   - full: ArgumentParser's message. Its usage line lists all options, some 250 columns of them.
    ///   - program: The program's name.
    ///   - words: The command line, for hints that the message lacks.
    package static func short(_ full: String, program: String, words: [String] = []) -> String {
        let lines = full.split(scalar: "\n")
        guard let first = lines.first?.after("Error: ").map({ plain($0, words) }) else { return full }
        let rest = lines.dropFirst().filter { !$0.hasUTF8Prefix("Usage: ") && !$0.hasUTF8Prefix("Help:  ") }
        return (["\(program): \(first)"] + rest.map { $0.trimmed.after("See ").map { "See \($0)" } ?? String($0) })
            .joined(separator: "\n")
    }

    /// A sentence of ArgumentParser's as a person would say it, with what was probably meant.
    private static func plain(_ sentence: Substring, _ words: [String]) -> String {
        let quoted = sentence.split(scalar: "'", omittingEmptySubsequences: false).map(String.init)
        if sentence.hasUTF8Prefix("Value to be set with flag '"), quoted.count == 5 {
            return "\(quoted[3]) and \(quoted[1]) exclude each other"
        }
        if sentence.hasUTF8Prefix("Unknown option '"), quoted.count == 3 {
            let isVersion = quoted[1].lowercased() == "-v"
            return String(sentence)
                + NearestWord.hint(for: isVersion ? "--version" : quoted[1], among: ["--version", "--help"])
        }
        if sentence.hasUTF8Prefix("Missing value for '"), quoted.count == 3,
            let option = quoted[1].split(scalar: " ").first, let place = words.firstIndex(of: String(option)),
            place + 1 < words.count
        {
            return sentence + ": '\(DisplayText.excerpt(words[place + 1]))' begins like an option"
        }
        return String(sentence)
    }
}

extension UsageMessage {
    /// What to say about a word where a command belongs.
    ///
    /// - Parameters:
    ///   - path: The command that has the commands with these names.
    package static func text(ofUnknownCommand word: String, of path: String, among names: [String]) -> String {
        let shown = DisplayText.sanitized(word)
        if let meant = NearestWord.find(word.lowercased(), among: names) {
            return "'\(shown)' is no command; did you mean '\(path) \(meant)'?"
        }
        return "'\(shown)' is no command of '\(path)': there are \(names.joined(separator: ", "))"
    }

    /// A help text whose usage line is wrapped: ArgumentParser wraps all lines but this one, which lists all options.
    ///
    /// - Parameter width: The most columns of a line.
    package static func wrapped(_ help: String, width: Int = 80) -> String {
        help.split(scalar: "\n", omittingEmptySubsequences: false).map { line in
            guard line.hasUTF8Prefix("USAGE: "), line.utf8.count > width else { return String(line) }
            return wrapped(usage: line, width)
        }.joined(separator: "\n")
    }

    private static func wrapped(usage line: Substring, _ width: Int) -> String {
        var lines = [""]
        for word in words(of: line) {
            let last = lines[lines.count - 1]
            if !last.isEmpty, last.utf8.count + 1 + word.utf8.count > width {
                lines.append("         " + word)
            } else {
                lines[lines.count - 1] = last.isEmpty ? word : last + " " + word
            }
        }
        return lines.joined(separator: "\n")
    }

    /// The words of a usage line; what is in brackets stays together.
    private static func words(of line: Substring) -> [String] {
        line.split(scalar: " ").reduce(into: [String]()) { words, word in
            if let last = words.last, last.hasUTF8Prefix("["), !last.utf8.contains(UInt8(ascii: "]")) {
                words[words.count - 1] = last + " " + word
            } else {
                words.append(String(word))
            }
        }
    }
}
