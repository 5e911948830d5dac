internal import ArgumentParser
internal import ReachCore
internal import ReachKernel

struct WatchCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Print the state of a target now, and then every change.",
        discussion: """
            Prints JSON, one object a line, unless standard output is a terminal. reach-events(7) describes the lines. \
            Asks the daemon if one runs, otherwise the kernel; reconnects if the daemon goes away.

            Exit status: 0 ended by SIGINT, SIGTERM or a closed pipe, 2 usage, 4 cannot observe.

            Example: reach watch --json | jq -c .status.reason
            """)

    @Flag(help: "Print JSON, one object a line, even on a terminal.")
    var json = false

    @Flag(help: "Print lines for people, even without a terminal.")
    var pretty = false

    @OptionGroup var format: FormatOptions

    @Flag(help: "Also print the kernel's notices of links, addresses, routes, rules and neighbours.")
    var all = false

    @OptionGroup var hold: HoldOptions
    @OptionGroup var daemon: DaemonOptions

    @OptionGroup var observation: ObservationOptions

    @Argument(
        help: "The target; the Internet by default.", completion: ValueCompletion.target,
        transform: { try CommandLineValue.target($0) })
    var target: Target = .internet

    func validate() throws {
        let forms = [("--json", json), ("--pretty", pretty), ("--format", format.template != nil)].filter(\.1).map(\.0)
        if forms.count > 1 { throw ValidationError("\(forms[0]) and \(forms[1]) exclude each other") }
        try daemon.exclude(kernelOptions)
    }

    /// The given options that only a watch of the kernel honours.
    private var kernelOptions: [String] { (all ? ["--all"] : []) + hold.given + observation.given }

    var query: WatchQuery {
        var options = observation.engineOptions
        options.holdDown = hold.holdDown
        options.observer.wantsEveryNotice = all
        let form: WatchQuery.Form =
            format.template.map { .lines($0) } ?? (json ? .json : pretty ? .pretty : .byOutput)
        return WatchQuery(target: target, form: form, source: daemon.source(kernelOptions), kernelOptions: options)
    }

    func run() throws { try query.run() }
}

/// The option for a form of one's own.
struct FormatOptions: ParsableArguments {
    @Option(
        name: .customLong("format"),
        help: ArgumentHelp(
            "Print a line in this form: {FIELD} of the JSON status, {icon}, {since}; see reach(1).",
            valueName: "template"),
        transform: { try CommandLineValue.template($0) })
    var template: StatusTemplate?
}

/// The times that a new status must last before it is reported.
struct HoldOptions: ParsableArguments {
    @Option(
        name: .customLong("hold-up"),
        help: ArgumentHelp("Report \"reachable\" only after it has lasted this long.", valueName: "duration"),
        transform: { try CommandLineValue.duration($0) })
    var up: Duration = .zero

    @Option(
        name: .customLong("hold-down"),
        help: ArgumentHelp("Report \"not reachable\" only after it has lasted this long.", valueName: "duration"),
        transform: { try CommandLineValue.duration($0) })
    var down: Duration = .zero

    /// The given options.
    var given: [String] {
        [("--hold-up", up != .zero), ("--hold-down", down != .zero)].filter(\.1).map(\.0)
    }

    var holdDown: HoldDown { HoldDown(up: up, down: down) }
}
