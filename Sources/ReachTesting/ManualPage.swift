/// A manual page's mdoc(7), as far as tests have to understand it.
package struct ManualPage: Sendable {
    private let lines: [String]

    package init(_ name: String) {
        lines = ProjectFile.text("man/" + name).split(separator: "\n").map(String.init)
    }

    /// The titles of the subsections of a section.
    package func subsections(of section: String) -> [String] {
        lines(of: section).filter { $0.hasPrefix(".Ss ") }.map { String($0.dropFirst(4)) }
    }

    /// The long options that a section explains, or one of its subsections.
    package func options(of section: String, _ subsection: String? = nil) -> Set<String> {
        Set(items(of: "Fl", section, subsection)).longOptions
    }

    /// What the items of a section's lists are about, or of one of its subsections: `Va` for keys, `Fl` for options.
    package func items(of macro: String, _ section: String, _ subsection: String? = nil) -> [String] {
        var part = lines(of: section)[...]
        if let subsection {
            part = part.drop { $0 != ".Ss " + subsection }.dropFirst().prefix { !$0.hasPrefix(".Ss ") }
        }
        return part.filter { $0.hasPrefix(".It " + macro) }.flatMap { Self.arguments(of: macro, in: $0) }
    }

    /// All long options that are mentioned anywhere.
    package var mentionedOptions: Set<String> { arguments(of: "Fl").longOptions }

    /// All that stands behind a macro, anywhere: `Va` for keys, `Cm` for words.
    package func arguments(of macro: String) -> Set<String> {
        Set(lines.filter { $0.hasPrefix(".") }.flatMap { Self.arguments(of: macro, in: $0) })
    }

    private func lines(of section: String) -> [String] {
        Array(lines.drop { $0 != ".Sh " + section }.dropFirst().prefix { !$0.hasPrefix(".Sh ") })
    }

    /// A macro takes the words up to the next macro: `.It Fl h , Fl -help`.
    private static func arguments(of macro: String, in line: String) -> [String] {
        let words = line.dropFirst().split(separator: " ")
        return words.indices.dropLast().filter { words[$0] == macro }.map { String(words[$0 + 1]) }
    }
}

extension Set<String> {
    /// `-json` is how mdoc(7) has `--json`; `-` alone is `--`.
    fileprivate var longOptions: Set<String> {
        Set(filter { $0.hasPrefix("-") && $0.count > 1 }.map { "-" + $0 })
    }
}
