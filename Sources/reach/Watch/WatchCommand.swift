internal import ArgumentParser
internal import Glibc
internal import ReachControl
internal import ReachCore
internal import ReachKernel
internal import ReachLoop
internal import ReachTerminal

struct WatchCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Print the state of a target now, and then every change.",
        discussion: """
            Prints JSON, one object a line, unless standard output is a terminal. Ends with status 0 on SIGINT, SIGTERM, \
            or a closed pipe. reach-events(7) describes the lines. Asks the daemon if one runs, otherwise the kernel; \
            reconnects if the daemon goes away.
            """)

    @Flag(help: "Print JSON, one object a line, even on a terminal.")
    var json = false

    @Flag(help: "Print lines for people, even without a terminal.")
    var pretty = false

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
        if json && pretty { throw ValidationError("--json and --pretty exclude each other") }
        try daemon.exclude(kernelOptions)
    }

    /// The given options that only a watch of the kernel honours.
    private var kernelOptions: [String] { (all ? ["--all"] : []) + hold.given + observation.given }

    func run() throws {
        if StandardDescriptors.outputWasClosed { StandardOutput.fail(EBADF) }
        SignalSource.block([SIGINT, SIGTERM, SIGHUP])
        var options = observation.engineOptions
        options.holdDown = hold.holdDown
        options.observer.wantsEveryNotice = all
        do {
            let loop = try EventLoop()
            try SignalSource.watch([SIGINT, SIGTERM, SIGHUP], on: loop) { _ in loop.stop() }
            let isPretty = pretty || (!json && StandardOutput.isTerminal)
            let source = daemon.source(kernelOptions)
            let printer = EventPrinter(isPretty: isPretty, source: source, loop: loop)
            let watch = TargetWatch(
                of: target, from: source, kernelOptions: options, withRequests: target == .internet, on: loop
            ) { printer.write($0, from: $1) }
            loop.afterEvents { watch.start() }
            loop.run()
            printer.finish()
            if let failure = watch.failure { throw failure }
        } catch let error as SystemError {
            throw CommandError(status: .cannotObserve, message: "cannot watch: \(error)")
        }
    }
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
