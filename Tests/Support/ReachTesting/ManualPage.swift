internal import ReachLoop

/// A manual page in mdoc(7), parsed as far as tests need it.
package struct ManualPage: Sendable {
    private let lines: [String]

    package init(_ name: String) {
        lines = ProjectFile.text("man/" + name).split(separator: "\n").map(String.init)
    }

    /// The titles of a section's subsections.
    package func subsections(of section: String) -> [String] {
        lines(of: section).filter { $0.hasPrefix(".Ss ") }.map { String($0.dropFirst(4)) }
    }

    /// The long options that a section, or one of its subsections, explains.
    package func options(of section: String, _ subsection: String? = nil) -> Set<String> {
        Set(items(of: "Fl", section, subsection)).longOptions
    }

    /// The arguments of a macro in the list items of a section, or of one of its subsections: `Va` for keys, `Fl` for
    /// options.
    package func items(of macro: String, _ section: String, _ subsection: String? = nil) -> [String] {
        var part = lines(of: section)[...]
        if let subsection {
            part = part.drop { $0 != ".Ss " + subsection }.dropFirst().prefix { !$0.hasPrefix(".Ss ") }
        }
        return part.filter { $0.hasPrefix(".It " + macro) }.flatMap { Self.arguments(of: macro, in: $0) }
    }

    /// All long options that the page mentions.
    package var mentionedOptions: Set<String> { arguments(of: "Fl").longOptions }

    /// The arguments of a macro anywhere on the page: `Va` for keys, `Cm` for words.
    package func arguments(of macro: String) -> Set<String> {
        Set(lines.filter { $0.hasPrefix(".") }.flatMap { Self.arguments(of: macro, in: $0) })
    }

    private func lines(of section: String) -> [String] {
        Array(lines.drop { $0 != ".Sh " + section }.dropFirst().prefix { !$0.hasPrefix(".Sh ") })
    }

    /// The word after each occurrence of a macro in a line such as `.It Fl h , Fl -help`.
    private static func arguments(of macro: String, in line: String) -> [String] {
        let words = line.dropFirst().split(separator: " ")
        return words.indices.dropLast().filter { words[$0] == macro }.map { String(words[$0 + 1]) }
    }
}

extension Set<String> {
    /// The long options: mdoc(7) writes `--json` as `-json`, and `--` as `-`.
    fileprivate var longOptions: Set<String> {
        Set(filter { $0.hasPrefix("-") && $0.count > 1 }.map { "-" + $0 })
    }
}

/// The project's own files, such as the manual, which tests compare with the programs.
package enum ProjectFile {
    /// The contents of a file, by its path from the top of the project; empty if it does not exist.
    package static func text(_ path: String) -> String { SmallFile.text(self.path(path)) ?? "" }

    /// The full path of a file, by its path from the top of the project.
    package static func path(_ path: String) -> String { root + "/" + path }

    /// The top of the project, four levels above this file.
    private static let root = #filePath.split(separator: "/").dropLast(4).reduce("") { $0 + "/" + $1 }
}
