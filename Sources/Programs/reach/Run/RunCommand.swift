internal import ArgumentParser
internal import Glibc
internal import ReachCore
internal import ReachLoop

struct RunCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Wait for conditions, then run COMMAND; also only while they hold.",
        discussion: """
            Conditions are \(NetworkCondition.grammar). For --when also answers: the target is asked until it answers; \
            probe=NAME: that probe of the daemon is up.

            With --while the command starts once the condition holds. When it is lost, the command and all processes \
            of its group are paused until it holds again, ended, or ended and started again. With --unit a unit of \
            systemd is started and stopped instead.

            Exit status: that of COMMAND; 75 it was ended because the condition was lost, 124 the timeout passed \
            before it started, 2 usage, 4 the network cannot be observed, 69 no systemd for --scope and --unit, 126 \
            and 127 COMMAND cannot be run.

            Example: reach run --while unmetered -- rsync -a /srv nas:/srv
            """)

    @Option(
        name: .customLong("when"),
        help: ArgumentHelp(
            "What to wait for. May be given several times: all must hold.", valueName: "condition"),
        completion: ValueCompletion.condition, transform: { try CommandLineValue.waitTerms($0) })
    var conditions: [WaitTerms] = []

    @Option(
        name: .customLong("while"),
        help: ArgumentHelp(
            "What must hold as long as the command runs. May be given several times: all must hold.",
            valueName: "condition"),
        completion: ValueCompletion.condition, transform: { try CommandLineValue.condition($0) })
    var lasting: [NetworkCondition] = []

    @Option(
        help: ArgumentHelp(
            "With --while, what happens when the condition is lost: pause, stop or restart; pause by default.",
            valueName: "reaction"),
        completion: .list(CommandSupervision.Reaction.allCases.map(\.rawValue)),
        transform: { try CommandLineValue.reaction($0) })
    var onLoss: CommandSupervision.Reaction?

    @Option(
        help: ArgumentHelp(
            "With --while, how long the condition must be missing before it counts as lost; 2s by default.",
            valueName: "duration"),
        transform: { try CommandLineValue.duration($0) })
    var hold: Duration?

    @Option(
        help: ArgumentHelp(
            "With --while, the time between SIGTERM and SIGKILL; 10s by default.", valueName: "duration"),
        transform: { try CommandLineValue.duration($0) })
    var grace: Duration?

    @Flag(help: "With --while, run the command in a systemd scope, which holds all of its processes.")
    var scope = false

    @Option(
        help: ArgumentHelp(
            "With --while, a unit of systemd to start and stop instead of a command.", valueName: "unit"),
        transform: { try CommandLineValue.unit($0) })
    var unit: String?

    @Option(
        help: ArgumentHelp(
            "Give up after this long; with --while also when the condition is lost for so long.",
            valueName: "duration"),
        transform: { try CommandLineValue.duration($0) })
    var timeout: Duration?

    @Option(
        help: "The target of the conditions; the Internet by default.", completion: ValueCompletion.target,
        transform: { try CommandLineValue.waitTarget($0) })
    var target: WaitTarget = .internet

    @OptionGroup var daemon: DaemonOptions

    @OptionGroup var observation: ObservationOptions

    @Argument(
        parsing: .postTerminator, help: "The command and its arguments, after --.", completion: .file())
    var command: [String] = []

    func validate() throws {
        if conditions.isEmpty, lasting.isEmpty {
            throw ValidationError("Missing expected argument '--when <condition>' or '--while <condition>'")
        }
        let given = [
            ("--on-loss", onLoss != nil), ("--hold", hold != nil), ("--grace", grace != nil), ("--scope", scope),
            ("--unit", unit != nil),
        ].first(where: \.1)
        if let given, lasting.isEmpty { throw ValidationError("\(given.0) needs --while") }
        try daemon.exclude(observation.given)
        guard unit == nil else {
            let excluded = [
                ("--on-loss", onLoss != nil), ("--grace", grace != nil), ("--scope", scope),
                ("a command", !command.isEmpty),
            ].first(where: \.1)
            if let excluded { throw ValidationError("--unit and \(excluded.0) exclude each other") }
            return
        }
        if command.isEmpty { throw ValidationError("Missing the command to run, after --") }
    }

    func run() throws {
        let source = daemon.source(observation.given)
        if !conditions.isEmpty {
            let waiter = try Waiter(
                target: target, terms: conditions, timeout: timeout, source: source,
                kernelOptions: observation.engineOptions)
            try waiter.wait()
        }
        guard lasting.isEmpty else { return try runWhile(source) }
        throw become(command)
    }

    private func runWhile(_ source: DaemonOptions.Source) throws {
        try NetworkNames.check(lasting, of: source)
        let grace = grace ?? .seconds(10)
        if scope, access("/run/systemd/system", F_OK) != 0 {
            throw CommandError(status: .unavailable, message: "--scope needs systemd as the service manager")
        }
        let reaction = unit == nil ? onLoss ?? .pause : .restart
        let supervision = CommandSupervision(
            reaction: reaction, hold: hold ?? .seconds(2), grace: grace, timeout: timeout, now: SystemClock.boot)
        let watched = ConditionWatch.Source(
            target: target.target, source: source, kernelOptions: observation.engineOptions)
        do {
            throw CommandError(status: .failure(try supervise(supervision, watched, grace)))
        } catch let error as SystemError {
            throw CommandError(status: .cannotObserve, message: "cannot watch: \(error)")
        }
    }

    private func supervise(
        _ supervision: CommandSupervision, _ source: ConditionWatch.Source, _ grace: Duration
    ) throws -> CInt {
        if let unit {
            return try UnitSupervisor(unit, supervision: supervision).run(while: lasting, of: source)
        }
        let scope = scope ? ScopeUnit(grace: grace) : nil
        return try CommandSupervisor(command, scope: scope, supervision: supervision).run(while: lasting, of: source)
    }

    /// Only returns when it failed.
    private func become(_ command: [String]) -> CommandError {
        signal(SIGPIPE, SIG_DFL)
        return CStrings.with(command) {
            execvp(command[0], $0)
            return .cannotRun(command[0], errno)
        }
    }
}

extension CommandError {
    /// - Parameter number: The error of exec(3).
    static func cannotRun(_ command: String, _ number: CInt) -> CommandError {
        CommandError(
            status: number == ENOENT ? .commandNotFound : .cannotExecute,
            message: "\(DisplayText.sanitized(command)): \(SystemError.text(number))")
    }
}

extension CommandLineValue {
    fileprivate static func unit(_ text: String) throws -> String {
        guard ServiceManager.isName(text) else {
            throw ValidationError(
                "'\(DisplayText.sanitized(text))' is not the name of a unit; systemd-escape(1) writes one of a text")
        }
        return text
    }

    fileprivate static func reaction(_ text: String) throws -> CommandSupervision.Reaction {
        guard let reaction = CommandSupervision.Reaction(rawValue: text) else {
            let words = CommandSupervision.Reaction.allCases.map(\.rawValue)
            throw ValidationError(
                "'\(DisplayText.sanitized(text))' is not a reaction\(NearestWord.hint(for: text, among: words)); "
                    + "there are "
                    + words.joined(separator: ", "))
        }
        return reaction
    }
}
