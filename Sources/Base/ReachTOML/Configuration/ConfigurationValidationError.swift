internal import ReachCore

/// An error in a configuration: where it is, the problem, and what is expected.
package struct ConfigurationValidationError: Error, Hashable, Sendable {
    /// The file, if several are read together.
    package var file: String?
    /// `nil` for the whole file.
    package let line: Int?
    /// The key with its table, such as `hold.up`; `nil` if unknown.
    package let key: String?
    /// The problem, such as `it is not UTF-8`.
    package let problem: String
    /// A description of a correct value.
    package let expected: String?

    package init(line: Int?, key: String? = nil, _ problem: String, expected: String?) {
        self.line = line
        self.key = key
        self.problem = problem
        self.expected = expected
    }

    /// The same error, with this key if it has none.
    package func named(_ key: String) -> ConfigurationValidationError {
        var error = ConfigurationValidationError(line: line, key: self.key ?? key, problem, expected: expected)
        error.file = file
        return error
    }

    /// `FILE:LINE: KEY: PROBLEM; expected EXPECTED`
    package func text(file whole: String) -> String {
        let file = file ?? whole
        let place = line.map { "\(file):\($0)" } ?? file
        return "\(place): \(key.map { $0 + ": " } ?? "")\(problem)\(expected.map { "; expected " + $0 } ?? "")"
    }
}

/// All errors in a configuration, in the order of its files and of their lines.
package struct ConfigurationError: Error, Hashable, Sendable, CustomStringConvertible {
    package let file: String
    package let errors: [ConfigurationValidationError]

    package init(file: String, errors: [ConfigurationValidationError]) {
        self.file = file
        var order: [String?: Int] = [:]
        for error in errors where order[error.file] == nil { order[error.file] = order.count }
        // Syntax errors are found before semantic ones.
        self.errors = errors.enumerated()
            .sorted { left, right in
                (order[left.element.file] ?? 0, left.element.line ?? 0, left.offset)
                    < (order[right.element.file] ?? 0, right.element.line ?? 0, right.offset)
            }.map(\.element)
    }

    /// One line for each error, safe for a terminal.
    package var lines: [String] { errors.map { DisplayText.sanitized($0.text(file: file)) } }

    package var description: String { lines.joined(separator: "\n") }
}
