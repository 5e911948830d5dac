internal import ArgumentParser
internal import ReachControl
internal import ReachCore
internal import ReachTerminal

struct SchemaCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schema",
        abstract: "Print the JSON Schema of the lines that commands print with --json.",
        discussion: """
            The schema (draft 2020-12) names every key, its type and the known words. It allows further keys and \
            words, since later versions may add them. reach-events(7) explains the keys.

            Exit status: 0 printed, 2 usage.

            Example: reach schema > reach.schema.json
            """)

    @Argument(
        help: ArgumentHelp("The command that prints the lines; by default all lines.", valueName: "command"),
        completion: ValueCompletion.words(LineCommand.self), transform: { try Self.command($0) })
    var command: LineCommand?

    private static func command(_ word: String) throws -> LineCommand {
        if let command = LineCommand(rawValue: word) { return command }
        let words = LineCommand.allCases.map(\.rawValue)
        let meant = NearestWord.find(word, among: words).map { "; did you mean '\($0)'? " } ?? ". "
        throw ValidationError(
            "'\(DisplayText.sanitized(word))' prints no JSON\(meant)These do: " + words.joined(separator: ", "))
    }

    func run() throws {
        var json = JSONWriter()
        LineSchema().write(command, to: &json)
        StandardOutput.write(JSONLayout.indented(json.bytes))
    }
}
