internal import ArgumentParser
internal import Glibc
internal import ReachControl
internal import ReachCore
internal import ReachLoop
internal import ReachTerminal

struct HooksCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "hooks", abstract: "Test the daemon's hooks.", subcommands: [HooksTestCommand.self])
}

struct HooksTestCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "test",
        abstract: "Run the hooks with an event that says that nothing has happened, and print what each did.",
        discussion: """
            The daemon runs them, as for any event: as its user, in its sandbox, with its time limit. REACH_EVENT is \
            "test".

            Exit status: 0 all ended with status 0, 1 at least one did not or there is none, 2 usage, 4 no daemon \
            answers, 77 not permitted.

            Example: reach hooks test
            """)

    @Option(help: ArgumentHelp("Ask the daemon that listens on this socket.", valueName: "path"), completion: .file())
    var socket: String?

    func run() throws {
        let report = try ask()
        let outcomes = report.outcomes.map { outcome in
            ([outcome.end] + outcome.output.map { "  " + $0 }).map { DisplayText.sanitized($0) + "\n" }.joined()
        }
        StandardOutput.write(lines: outcomes.joined())
        let place = DisplayText.sanitized(report.directory ?? "the directory of hooks")
        guard !report.outcomes.isEmpty else {
            throw CommandError(status: .notReachable, message: "there is no hook in \(place)")
        }
        guard report.outcomes.allSatisfy(\.isOK) else { throw CommandError(status: .notReachable) }
    }

    private func ask() throws(CommandError) -> HookTestReport {
        let path = socket ?? SocketPath.forClient(uid: getuid(), environment: SocketPath.processEnvironment)
        do throws(ControlError) {
            var client = try ControlClient(path: path, patience: .seconds(5))
            try client.ping()
            // A hook may run for a day, if the configuration says so.
            client = try ControlClient(path: path, patience: .seconds(86_460))
            return try client.testHooks()
        } catch {
            if case .permissionDenied = error.monitorError {
                throw CommandError(
                    status: .notPermitted,
                    message: "only root, the daemon's user and the group of [socket] may run hooks")
            }
            throw .cannotAsk(error)
        }
    }
}
