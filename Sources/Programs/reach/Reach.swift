internal import ArgumentParser
internal import Glibc
internal import ReachCore
internal import ReachLoop
internal import ReachTerminal

/// The command `reach`.
struct Reach: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reach",
        abstract: "Show whether the network can be reached, through which link, and since when.",
        discussion: """
            Look:    reach status
            Wait:    reach wait --until unmetered --timeout 5m
            Deliver: reach queue add --when unmetered https://example.org/
            Program: reach watch --json
            Fleet:   reach fleet status
            """,
        version: "reach " + ProjectVersion.number,
        groupedSubcommands: [
            CommandGroup(
                name: "Look",
                subcommands: [
                    StatusCommand.self, WatchCommand.self, LinksCommand.self, ExplainCommand.self, ProbeCommand.self,
                    ProbesCommand.self, HistoryCommand.self, ReportCommand.self, TopCommand.self,
                ]),
            CommandGroup(name: "Wait", subcommands: [WaitCommand.self, RunCommand.self, UnitsCommand.self]),
            CommandGroup(name: "Deliver", subcommands: [QueueCommand.self]),
            CommandGroup(name: "Program", subcommands: [SchemaCommand.self, HooksCommand.self]),
            CommandGroup(name: "Fleet", subcommands: [FleetSubcommand.self]),
        ])

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
                var command = try parseAsRoot(QueueCurlOptions.words(words))
                try command.run()
            }
            exit(ExitStatus.success)
        } catch let error as CommandError {
            if let message = error.message { StandardError.write("reach: \(message)\n") }
            exit(error.status)
        } catch {
            let code = exitCode(for: error)
            let message = fullMessage(for: error)
            let words = Array(CommandLine.arguments.dropFirst())
            if code == .validationFailure || code == .success, let hint = CommandHint.text(for: words, in: Self.self) {
                StandardError.write("reach: \(hint)\n")
                exit(ExitStatus.usage)
            }
            guard code != .success else {
                StandardOutput.write(help: CommandCompletion.added(to: message))
                exit(ExitStatus.success)
            }
            // The message quotes the command line.
            StandardError.write(quoting: UsageMessage.short(message, program: "reach", words: words))
            exit(code == .validationFailure ? ExitStatus.usage : ExitStatus.failure(code.rawValue))
        }
    }

    private static func exit(_ status: ExitStatus) -> Never { endProcess(status.rawValue) }
}

/// `reach fleet ...` runs `reach-fleet ...`, a program of its own, since it links what this one does not.
struct FleetSubcommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fleet", abstract: "Run reach-fleet, which shows many hosts together, and reports this one.")

    @Argument(
        parsing: .captureForPassthrough,
        help: ArgumentHelp("The command of reach-fleet and its options.", valueName: "argument"),
        completion: .list(Self.commands))
    var arguments: [String] = []

    private static let program = "reach-fleet"
    /// The commands of that program, which a shell offers.
    static let commands = [
        "agent", "self", "setup", "key", "config", "doctor", "enroll", "sign", "join", "revoke", "status", "host",
        "watch", "events", "outages", "report", "page", "export", "serve", "hold", "release", "retire", "label",
        "quiet", "acknowledge", "audit",
    ]

    func run() throws {
        // The one of the same installation first, then as the shell finds it.
        for path in [ThisProgram.directory + "/" + Self.program, Self.program] {
            // free(3) may change errno.
            let error = CStrings.with([Self.program] + arguments) { words in
                execvp(path, words)
                return errno
            }
            guard error == ENOENT else {
                throw CommandError(status: .cannotExecute, message: "\(Self.program): \(SystemError.text(error))")
            }
        }
        throw CommandError(
            status: .commandNotFound, message: "\(Self.program) is not installed; its package is reach-fleet")
    }
}
