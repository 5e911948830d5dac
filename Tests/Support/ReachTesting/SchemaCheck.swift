/// Checks lines of JSON by their schema, with Python's jsonschema (`contrib/schema/check`).
package enum SchemaCheck {
    package static let isAvailable = (try? ChildProcess.run(["python3", "-c", "import jsonschema"])) != nil
    package static let whyNot = "Python's jsonschema is not installed (apt-get install python3-jsonschema)"

    /// - Parameters:
    ///   - lines: The lines; empty ones are left out.
    ///   - hasEveryKey: Whether each key of the schema has to be in one of them.
    /// - Returns: What is wrong, a sentence for each fault.
    package static func faults(in lines: [String], by schema: String, hasEveryKey: Bool = false) throws -> [String] {
        let directory = try TemporaryDirectory()
        let schema = try directory.file("schema.json", schema)
        let text = lines.filter { !$0.isEmpty }.map { $0 + "\n" }.joined()
        let input = try directory.file("lines", text.split(separator: "\n").map { $0 + "\n" }.joined())
        let check = ProjectFile.path("contrib/schema/check")
        let script = "python3 '\(check)' '\(schema)' \(hasEveryKey ? "--every-key" : "") < '\(input)' 2>&1 || true"
        return try ChildProcess.run(["sh", "-c", script]).split(separator: "\n").map(String.init)
    }
}
