/// The errors of wrong command lines, in the form of all other errors: one line, `PROGRAM: SENTENCE`, and where there is help.
package enum UsageMessage {
    /// - Parameters:
    ///   - full: ArgumentParser's message. Its usage line lists all options, some 250 columns of them.
    ///   - program: The program's name.
    package static func short(_ full: String, program: String) -> String {
        let lines = full.split(scalar: "\n")
        guard let first = lines.first?.after("Error: ") else { return full }
        let rest = lines.dropFirst().filter { !$0.hasUTF8Prefix("Usage: ") && !$0.hasUTF8Prefix("Help:  ") }
        return (["\(program): \(first)"] + rest.map { $0.trimmed.after("See ").map { "See \($0)" } ?? String($0) })
            .joined(separator: "\n")
    }
}
