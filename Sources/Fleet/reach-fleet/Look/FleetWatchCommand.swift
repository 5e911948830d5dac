internal import ArgumentParser
internal import Glibc
internal import ReachCore
internal import ReachFleet
internal import ReachFleetLink
internal import ReachLoop
internal import ReachTerminal

struct FleetWatchCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Print what happens in the fleet from now on.",
        discussion: """
            Prints a line when a host's word changes, and a line for each event that a host reports. Reconnects when \
            the server goes away, and continues where it was. With --alerts it prints messages for people who are \
            called: one for hosts that were lost together, and one when they are back. Ends with status 0 on SIGINT, \
            SIGTERM, or a closed pipe.

            Example: reach fleet watch --alerts --after 3m
            """)

    @Flag(help: "Print JSON, one object a line.")
    var json = false

    @OptionGroup var alerting: AlertArguments
    @OptionGroup var filters: FilterOptions
    @OptionGroup var engine: EngineOptions

    func run() throws {
        if StandardDescriptors.outputWasClosed { StandardOutput.fail(EBADF) }
        SignalSource.block([SIGINT, SIGTERM, SIGHUP])
        let settings = try engine.settings(reconnects: true)
        let filter = try filters.filter()
        let alerts = try alerting.desk(isJSON: json, filter: filter)
        do {
            let loop = try EventLoop()
            try SignalSource.watch([SIGINT, SIGTERM, SIGHUP], on: loop) { _ in loop.stop() }
            let mailbox = loop.mailbox
            let reference = LoopReference<FleetWatch>()
            let link = try NATSLink.connect(settings) { event in
                mailbox.post { _ in reference.owner?.link(event) }
            }
            let watch = FleetWatch(
                link, try FleetView(JetStream(link)), on: loop, output: WatchOutput(isJSON: json, filter: filter),
                alerts: alerts, reference: reference)
            loop.afterEvents { watch.start() }
            loop.run()
            watch.stop()
        } catch let error as SystemError {
            throw FleetFailure(.tryAgain, "cannot watch: \(error)")
        }
    }
}

/// Who is called, and when.
struct AlertArguments: ParsableArguments {
    @Flag(help: "Print alerts: messages about hosts that are lost, joined, and about their return.")
    var alerts = false

    @Option(
        help: ArgumentHelp("How long a host has to be away before an alert; 2m by default.", valueName: "duration"),
        transform: { try FleetArgument.duration($0) })
    var after: Duration?

    @Option(
        help: ArgumentHelp("How long it has to be back; 1m by default.", valueName: "duration"),
        transform: { try FleetArgument.duration($0) })
    var settle: Duration?

    @Option(
        name: .customLong("repeat"),
        help: ArgumentHelp("Repeat an alert that no one has acknowledged this often.", valueName: "duration"),
        transform: { try FleetArgument.duration($0) })
    var reminder: Duration?

    @Option(
        help: ArgumentHelp(
            "The program that calls the next person if no one has acknowledged an alert after so long; may be repeated.",
            valueName: "duration=program"),
        transform: { text in
            guard let escalation = Escalation(text) else {
                throw ValidationError("'\(text)' is not DURATION=PROGRAM, such as 15m=/etc/reach/call-anna")
            }
            return escalation
        })
    var escalate: [Escalation] = []

    struct Escalation {
        let after: Duration
        let program: String

        init?(_ text: String) {
            let parts = text.split(scalar: "=", maxSplits: 1).map(String.init)
            guard parts.count == 2, let after = DurationText.parse(parts[0]), after > .zero else { return nil }
            (self.after, program) = (after, parts[1])
        }
    }

    @Flag(help: "Alerts also about hosts that are limited.")
    var limited = false

    @Option(
        help: ArgumentHelp(
            "A program that gets each alert: JSON on its standard input, and REACH_SENTENCE.", valueName: "program"))
    var exec: String?

    @Option(
        help: ArgumentHelp(
            "Where to keep what was reported, so that a watch that starts again does not repeat it.", valueName: "file")
    )
    var state: String?

    func validate() throws {
        let isPlain = after == nil && settle == nil && reminder == nil && !limited && exec == nil && state == nil
        guard alerts || isPlain && escalate.isEmpty else {
            throw ValidationError(
                "--after, --settle, --repeat, --escalate, --limited, --exec and --state belong to --alerts")
        }
    }

    func desk(isJSON: Bool, filter: RosterFilter) throws -> AlertDesk? {
        guard alerts else { return nil }
        let later = escalate.sorted { $0.after < $1.after }
        let programs = try [exec.map(Self.path)] + later.map { try Self.path($0.program) }
        var options = AlertOptions()
        options.wait = after ?? options.wait
        options.settle = settle ?? options.settle
        options.reminder = reminder
        options.escalations = later.map(\.after)
        options.includesLimited = limited
        return try AlertDesk(options, isJSON: isJSON, filter: filter, file: state, programs: programs)
    }

    /// It runs in another directory.
    private static func path(_ name: String) throws -> String {
        guard access(name, X_OK) == 0, let path = realpath(name, nil) else {
            throw FleetFailure(.cannotRead, "\(DisplayText.sanitized(name)) is not a program that can be run")
        }
        defer { free(path) }
        return String(cString: path)
    }
}
