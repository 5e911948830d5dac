internal import ArgumentParser
internal import ReachCore
internal import ReachFleetLink
internal import ReachTerminal

/// The command `reach-fleet`, which `reach fleet` runs.
struct FleetCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reach-fleet",
        abstract: "Report what this host sees to its fleet, and look at the fleet.",
        version: "reach-fleet \(ProjectVersion.number) (libnats \(NATSLibrary.version))",
        subcommands: [
            AgentCommand.self, SelfCommand.self, SetupCommand.self, KeyCommand.self, ConfigCommand.self,
            DoctorCommand.self, EnrollCommand.self, SignCommand.self, JoinCommand.self, RevokeCommand.self,
            FleetStatusCommand.self, HostCommand.self, FleetWatchCommand.self, EventsCommand.self,
            OutagesCommand.self, FleetReportCommand.self, PageCommand.self, ExportCommand.self, ServeCommand.self,
            HoldCommand.self, ReleaseCommand.self,
            RetireCommand.self, LabelCommand.self, QuietCommand.self, AcknowledgeCommand.self, AuditCommand.self,
        ])

    /// Parses and runs the command, and ends with its exit status.
    static func runAndExit() -> Never {
        StandardDescriptors.secure()
        do {
            var command = try parseAsRoot()
            try command.run()
            exit(.success)
        } catch let error as FleetFailure {
            if let message = error.message { StandardError.write("reach-fleet: \(message)\n") }
            exit(error.status)
        } catch let error as NATSError {
            let failure = FleetFailure(error)
            StandardError.write("reach-fleet: \(failure.message ?? error.description)\n")
            exit(failure.status)
        } catch {
            let code = exitCode(for: error)
            let message = fullMessage(for: error)
            // Of a command that it does not know ArgumentParser says that it is an argument, or shows all help.
            if code == .success || code == .validationFailure,
                let hint = unknownCommand(in: Array(CommandLine.arguments.dropFirst()))
            {
                StandardError.write("reach-fleet: \(hint)\n")
                exit(.usage)
            }
            guard code != .success else {
                StandardOutput.write(help: message)
                exit(.success)
            }
            // The message quotes the command line.
            StandardError.write(quoting: UsageMessage.short(message, program: "reach-fleet"))
            exit(code == .validationFailure ? .usage : FleetExit(rawValue: code.rawValue) ?? .found)
        }
    }

    /// What to say where there is no command with the first word, or the one after `help`.
    private static func unknownCommand(in words: [String]) -> String? {
        let names = configuration.subcommands.compactMap { $0.configuration.commandName }
        let word = words.first == "help" ? words.dropFirst().first : words.first
        guard let word, !word.hasUTF8Prefix("-"), !names.contains(word) else { return nil }
        return UsageMessage.text(ofUnknownCommand: word, of: "reach-fleet", among: names)
    }

    private static func exit(_ status: FleetExit) -> Never { endProcess(status.rawValue) }
}
