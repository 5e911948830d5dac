internal import ReachCore

/// Something wrong in a configuration, with all that is needed to put it right.
package struct ConfigurationValidationError: Error, Hashable, Sendable {
    /// `nil` where the whole file is meant.
    package let line: Int?
    /// With its table: `hold.up`. `nil` where no key could be made out.
    package let key: String?
    /// Such as `it is not UTF-8`.
    package let problem: String
    /// What should stand there instead.
    package let expected: String

    init(line: Int?, key: String? = nil, _ problem: String, expected: String) {
        self.line = line
        self.key = key
        self.problem = problem
        self.expected = expected
    }

    /// The same mistake, with its key if it has none yet.
    func named(_ key: String) -> ConfigurationValidationError {
        ConfigurationValidationError(line: line, key: self.key ?? key, problem, expected: expected)
    }

    /// `FILE:LINE: KEY: what is wrong; expected ...`
    package func text(file: String) -> String {
        let place = line.map { "\(file):\($0)" } ?? file
        return "\(place): \(key.map { $0 + ": " } ?? "")\(problem); expected \(expected)"
    }
}

/// All that is wrong in a configuration, in the order of its lines.
package struct ConfigurationError: Error, Hashable, Sendable, CustomStringConvertible {
    package let file: String
    package let mistakes: [ConfigurationValidationError]

    init(file: String, mistakes: [ConfigurationValidationError]) {
        self.file = file
        // Mistakes of syntax are found before those of meaning.
        self.mistakes = mistakes.enumerated()
            .sorted { ($0.element.line ?? 0, $0.offset) < ($1.element.line ?? 0, $1.offset) }.map(\.element)
    }

    /// A line for each mistake, made safe for a terminal.
    package var lines: [String] { mistakes.map { DisplayText.sanitized($0.text(file: file)) } }

    package var description: String { lines.joined(separator: "\n") }
}
