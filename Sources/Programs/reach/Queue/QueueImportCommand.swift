internal import ArgumentParser
internal import ReachControl
internal import ReachCore
internal import ReachLoop
internal import ReachTerminal

struct QueueImportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Add the requests of curl commands, such as a browser copies, to the queue.",
        discussion: """
            The command is given after --, or commands are read from standard input, one on each line; a backslash \
            continues a line. Nothing is executed or expanded. Options that change nothing here are ignored (-s), and \
            so are the headers of the connection, which browsers copy along; other options are refused, and then no \
            request is added. Prints the number of each request.

            Exit status: as "reach queue add".

            Example: reach queue import -- curl -d 21.5 http://collect.example.org/
            """)

    @OptionGroup var conditions: QueueConditionOptions

    @Flag(help: "Print the requests, and add none.")
    var dryRun = false

    @OptionGroup var queue: QueueOptions

    @Argument(parsing: .postTerminator, help: "A curl command.")
    var words: [String] = []

    func run() throws {
        var commands = [words.map { ByteText.bytes(of: $0) }]
        if words.isEmpty {
            commands = try ShellWords.commands(in: try QueueBodyFile("-").read())
            if commands.isEmpty { throw CommandError(status: .usage, message: "standard input has no curl command") }
        }
        var additions: [QueueAddition] = []
        for (number, words) in commands.enumerated() {
            do throws(CommandError) {
                let command = try CurlCommand(bytes: words)
                let place = commands.count > 1 ? "command \(number + 1): " : ""
                for note in command.notes {
                    StandardError.write(DisplayText.sanitized("reach: \(place)\(note)") + "\n")
                }
                additions.append(try QueueAddition(command.request, to: command.url, conditions))
            } catch {
                guard commands.count > 1 else { throw error }
                throw CommandError(
                    status: error.status, message: "command \(number + 1): \(error.message ?? "it cannot be used")")
            }
        }
        for addition in additions {
            if dryRun {
                StandardOutput.write(lines: addition.description)
            } else {
                try QueueAddCommand.report(addition.add(to: queue), queue)
            }
        }
    }
}
