internal import ArgumentParser
internal import Glibc
internal import ReachCore
internal import ReachLoop

struct RunCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Wait for conditions, then run COMMAND.",
        discussion: """
            Conditions are \(NetworkCondition.grammar); answers: the target is asked until it answers; probe=NAME: that probe \
            of the daemon is up.

            Exit status: that of COMMAND; 124 the timeout passed, 2 usage, 4 the network cannot be observed, 126 and 127 \
            COMMAND cannot be run.

            The exit status is the command's; 124 on timeout, 126 if it cannot be executed, 127 if it is not found.
            """)

    @Option(
        name: .customLong("when"),
        help: ArgumentHelp(
            "What to wait for. May be given several times: all must hold.", valueName: "condition"),
        completion: ValueCompletion.condition, transform: { try CommandLineValue.waitTerms($0) })
    var conditions: [WaitTerms]

    @Option(
        help: ArgumentHelp("Give up after this long.", valueName: "duration"),
        transform: { try CommandLineValue.duration($0) })
    var timeout: Duration?

    @Option(
        help: "The target of the conditions; the Internet by default.", completion: ValueCompletion.target,
        transform: { try CommandLineValue.waitTarget($0) })
    var target: WaitTarget = .internet

    @OptionGroup var daemon: DaemonOptions

    @OptionGroup var observation: ObservationOptions

    @Argument(parsing: .postTerminator, help: "The command and its arguments, after --.")
    var command: [String] = []

    func validate() throws {
        if conditions.isEmpty { throw ValidationError("Missing expected argument '--when <condition>'") }
        try daemon.exclude(observation.given)
        if command.isEmpty { throw ValidationError("Missing the command to run, after --") }
    }

    func run() throws {
        let waiter = try Waiter(
            target: target, terms: conditions, timeout: timeout, source: daemon.source(observation.given),
            kernelOptions: observation.engineOptions)
        try waiter.wait()
        throw become(command)
    }

    /// Only returns when it failed.
    private func become(_ command: [String]) -> CommandError {
        signal(SIGPIPE, SIG_DFL)
        var arguments: [UnsafeMutablePointer<CChar>?] = command.map { strdup($0) }
        arguments.append(nil)
        execvp(command[0], arguments)
        let number = errno
        return CommandError(
            status: number == ENOENT ? .commandNotFound : .cannotExecute,
            message: "\(DisplayText.sanitized(command[0])): \(SystemError.text(number))")
    }
}
