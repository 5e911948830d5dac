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
            continues a line. Nothing is executed or expanded. Options that change nothing here are ignored (-s, -L, \
            --compressed); others are refused, and then no request is added. Prints the number of each request.

            Exit status: as "reach queue add".
            """)

    @OptionGroup var conditions: QueueConditionOptions

    @Flag(help: "Print the requests, and add none.")
    var dryRun = false

    @OptionGroup var queue: QueueOptions

    @Argument(parsing: .postTerminator, help: "A curl command.")
    var words: [String] = []

    func run() throws {
        var commands = [words]
        if words.isEmpty {
            commands = try ShellWords.commands(in: String(decoding: try QueueBodyFile("-").read(), as: UTF8.self))
            if commands.isEmpty { throw CommandError(status: .usage, message: "standard input has no curl command") }
        }
        var additions: [QueueAddition] = []
        for (number, words) in commands.enumerated() {
            do throws(CommandError) {
                let command = try CurlCommand(words)
                additions.append(try QueueAddition(command.request, to: command.url, conditions))
            } catch {
                guard commands.count > 1 else { throw error }
                throw CommandError(
                    status: error.status, message: "command \(number + 1): \(error.message ?? "it cannot be used")")
            }
        }
        for addition in additions {
            if dryRun {
                StandardOutput.write(addition.description)
            } else {
                try QueueAddCommand.report(addition.add(to: queue), queue)
            }
        }
    }
}
