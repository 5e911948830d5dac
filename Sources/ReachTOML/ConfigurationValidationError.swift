internal import ReachCore

/// An error in a configuration: where it is, the problem, and what is expected.
package struct ConfigurationValidationError: Error, Hashable, Sendable {
    /// `nil` for the whole file.
    package let line: Int?
    /// The key with its table, such as `hold.up`; `nil` if unknown.
    package let key: String?
    /// The problem, such as `it is not UTF-8`.
    package let problem: String
    /// A description of a correct value.
    package let expected: String

    package init(line: Int?, key: String? = nil, _ problem: String, expected: String) {
        self.line = line
        self.key = key
        self.problem = problem
        self.expected = expected
    }

    /// The same error, with this key if it has none.
    package func named(_ key: String) -> ConfigurationValidationError {
        ConfigurationValidationError(line: line, key: self.key ?? key, problem, expected: expected)
    }

    /// `FILE:LINE: KEY: PROBLEM; expected EXPECTED`
    package func text(file: String) -> String {
        let place = line.map { "\(file):\($0)" } ?? file
        return "\(place): \(key.map { $0 + ": " } ?? "")\(problem); expected \(expected)"
    }
}

/// All errors in a configuration, in the order of their lines.
package struct ConfigurationError: Error, Hashable, Sendable, CustomStringConvertible {
    package let file: String
    package let errors: [ConfigurationValidationError]

    package init(file: String, errors: [ConfigurationValidationError]) {
        self.file = file
        // Syntax errors are found before semantic ones.
        self.errors = errors.enumerated()
            .sorted { ($0.element.line ?? 0, $0.offset) < ($1.element.line ?? 0, $1.offset) }.map(\.element)
    }

    /// One line for each error, safe for a terminal.
    package var lines: [String] { errors.map { DisplayText.sanitized($0.text(file: file)) } }

    package var description: String { lines.joined(separator: "\n") }
}
