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
            Prints a line when a host's word changes, and a line for each event that a host reports. Reconnects when the \
            server goes away, and continues where it was. Ends with status 0 on SIGINT, SIGTERM, or a closed pipe.
            """)

    @Flag(help: "Print JSON, one object a line.")
    var json = false

    @OptionGroup var filters: FilterOptions
    @OptionGroup var engine: EngineOptions

    func run() throws {
        if StandardDescriptors.outputWasClosed { StandardOutput.fail(EBADF) }
        SignalSource.block([SIGINT, SIGTERM, SIGHUP])
        let settings = try engine.settings(reconnects: true)
        let filter = try filters.filter()
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
                reference: reference)
            loop.afterEvents { watch.start() }
            loop.run()
            watch.stop()
        } catch let error as SystemError {
            throw FleetFailure(.tryAgain, "cannot watch: \(error)")
        }
    }
}
