internal import ArgumentParser
internal import ReachCore
internal import ReachTerminal

/// The command `reach`.
struct Reach: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reach",
        abstract: "Show whether the network can be reached, through which link, and since when.",
        version: "reach " + ProjectVersion.number,
        subcommands: [
            StatusCommand.self, WatchCommand.self, WaitCommand.self, RunCommand.self, UnitsCommand.self,
            LinksCommand.self,
            ExplainCommand.self, TopCommand.self, HistoryCommand.self, ReportCommand.self, ProbeCommand.self,
            ProbesCommand.self, HooksCommand.self, QueueCommand.self, SchemaCommand.self, FleetSubcommand.self,
        ]
    )

    /// Prints the status of the Internet if there is no subcommand.
    func run() throws { try StatusQuery(source: DaemonOptions.Source(socket: nil, noDaemon: false)).run() }

    /// Parses and runs the command, and ends with its exit status.
    static func runAndExit() -> Never {
        StandardDescriptors.secure()
        do {
            let words = Array(CommandLine.arguments.dropFirst())
            if let plain = PlainCommandLine(words) {
                try plain.run()
            } else {
                var command = try parseAsRoot(QueueCurlOptions.separated(words))
                try command.run()
            }
            exit(ExitStatus.success)
        } catch let error as CommandError {
            if let message = error.message { StandardError.write("reach: \(message)\n") }
            exit(error.status)
        } catch {
            let code = exitCode(for: error)
            let message = fullMessage(for: error)
            guard code != .success else {
                StandardOutput.write(UsageMessage.wrapped(CompletionScript.withoutExpansion(message)) + "\n")
                exit(ExitStatus.success)
            }
            if code == .validationFailure,
                let hint = CommandHint.text(for: Array(CommandLine.arguments.dropFirst()), in: Self.self)
            {
                StandardError.write("reach: \(hint)\n")
                exit(ExitStatus.usage)
            }
            // The message quotes the command line.
            StandardError.write(quoting: UsageMessage.short(message, program: "reach"))
            exit(code == .validationFailure ? ExitStatus.usage : ExitStatus.failure(code.rawValue))
        }
    }

    private static func exit(_ status: ExitStatus) -> Never { endProcess(status.rawValue) }
}
