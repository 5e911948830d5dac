internal import ArgumentParser
internal import Glibc
internal import ReachControl
internal import ReachCore
internal import ReachEngine
internal import ReachLoop
internal import ReachNetlink

struct WatchCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Print the state of a target now, and every change from then on.",
        discussion: """
            JSON, one object a line, unless standard output is a terminal. Ends with status 0 on SIGINT, SIGTERM, or \
            when nobody reads any more. reach-events(7) describes the lines.
            """)

    @Flag(help: "Print JSON, one object a line, also on a terminal.")
    var json = false

    @Flag(help: "Print lines for people, also where there is no terminal.")
    var pretty = false

    @Flag(help: "Print the kernel's notices of links, addresses, routes, rules and neighbours, too.")
    var all = false

    @OptionGroup var hold: HoldOptions
    @OptionGroup var observation: ObservationOptions

    @Argument(
        help: "What to watch; the Internet if nothing is given.", transform: { try CommandLineValue.target($0) })
    var target: Target = .internet

    func validate() throws {
        if json && pretty { throw ValidationError("--json and --pretty exclude each other") }
    }

    func run() throws {
        if StandardDescriptors.outputWasClosed { StandardOutput.fail(EBADF) }
        SignalSource.block([SIGINT, SIGTERM, SIGHUP])
        var options = observation.engineOptions
        options.holdDown = hold.holdDown
        options.observer.wantsEveryNotice = all
        do throws(SystemError) {
            let loop = try EventLoop()
            try SignalSource.watch([SIGINT, SIGTERM, SIGHUP], on: loop) { _ in loop.stop() }
            let isPretty = pretty || (!json && StandardOutput.isTerminal)
            let printer = EventPrinter(isPretty: isPretty, source: .kernel, loop: loop)
            let engine = ReachabilityEngine(loop: loop, options: options)
            engine.start()
            _ = engine.watch(target) { event in printer.take(event) }
            loop.run()
            printer.finish()
        } catch {
            throw CommandError(status: .cannotObserve, message: "cannot watch: \(error)")
        }
    }
}

/// How long a new status must last before it is told.
struct HoldOptions: ParsableArguments {
    @Option(
        name: .customLong("hold-up"),
        help: ArgumentHelp("Tell \"reachable\" only when it has lasted this long.", valueName: "duration"),
        transform: { try CommandLineValue.duration($0) })
    var up: Duration = .zero

    @Option(
        name: .customLong("hold-down"),
        help: ArgumentHelp("Tell \"not reachable\" only when it has lasted this long.", valueName: "duration"),
        transform: { try CommandLineValue.duration($0) })
    var down: Duration = .zero

    var holdDown: HoldDown { HoldDown(up: up, down: down) }
}
