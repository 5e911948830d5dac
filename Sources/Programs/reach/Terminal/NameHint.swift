internal import ArgumentParser
internal import ReachControl
internal import ReachCore
internal import ReachLoop
internal import ReachTerminal

/// What to say about a word where a command belongs.
enum CommandHint {
    /// - Parameters:
    ///   - words: The command line without the program's name.
    ///   - root: The command whose name the program has.
    /// - Returns: A sentence with the command that was probably meant, or with all; `nil` if each command exists.
    static func text(for words: [String], in root: any ParsableCommand.Type) -> String? {
        var command = root
        var path = root.configuration.commandName ?? ""
        for word in words where word != "help" {
            let commands = command.configuration.subcommands
            guard !commands.isEmpty, !word.hasUTF8Prefix("-") else { return nil }
            if let next = commands.first(where: { $0.configuration.commandName == word }) {
                command = next
                path += " " + word
                continue
            }
            let names = commands.compactMap { $0.configuration.commandName }
            if path == "reach", isTarget(word), NearestWord.find(word.lowercased(), among: names) == nil {
                let shown = DisplayText.sanitized(word)
                return "'\(shown)' is no command; did you mean 'reach status \(shown)'?"
            }
            return UsageMessage.text(ofUnknownCommand: word, of: path, among: names)
        }
        return nil
    }

    /// Whether it looks like a host, an address or a URL rather than like a mistyped command.
    private static func isTarget(_ word: String) -> Bool {
        (word.unicodeScalars.contains(".") || word.unicodeScalars.contains(":") || word == "internet")
            && (try? Target(word)) != nil
    }
}

/// What to say about a name that is not resolved, and that may be a mistyped target of the configuration.
enum TargetHint {
    /// The hints for names that are those of links of this machine, and that no resolver knows.
    private static func sentencesForLinks(_ targets: [Target]) -> [String] {
        targets.compactMap { target in
            let word = target.description
            guard case .name = target.subject, LinkName.index(of: word) != nil else { return nil }
            return "'\(DisplayText.sanitized(word))' is a link of this machine; did you mean "
                + "'interface:\(DisplayText.sanitized(word))'?"
        }
    }

    /// - Parameters:
    ///   - targets: Targets whose names are not resolved.
    ///   - known: The names of targets in the configuration.
    static func sentences(for targets: [Target], among known: () -> [String]) -> [String] {
        guard !targets.isEmpty else { return [] }
        let links = sentencesForLinks(targets)
        guard links.isEmpty else { return links }
        let names = known()
        return targets.compactMap { target in
            let word = target.description
            guard let meant = NearestWord.find(word, among: names), meant != word else { return nil }
            return "'\(DisplayText.sanitized(word))' is not a configured target; did you mean "
                + "'\(DisplayText.sanitized(meant))'?"
        }
    }
}
