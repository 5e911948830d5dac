internal import ArgumentParser
internal import ReachControl
internal import ReachCore
internal import ReachEngine
internal import ReachLoop
internal import ReachNetlink

struct StatusCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Print whether targets can be reached, and how.",
        discussion: """
            A target is the Internet (nothing, or "internet"), a host name, an address, a prefix, interface:NAME or a \
            URL. The kernel is asked; nothing is sent.

            Exit status: 0 all reachable, 1 at least one not reachable, 2 usage, 3 unknown, 4 cannot observe.
            """)

    @Flag(help: "Print a JSON object for each target, one a line.")
    var json = false

    @OptionGroup var observation: ObservationOptions

    @Argument(
        help: "What to ask about; the Internet if nothing is given.", transform: { try CommandLineValue.target($0) })
    var targets: [Target] = []

    func run() throws {
        let asked = targets.isEmpty ? [.internet] : targets
        var states: [ReachabilityState] = []
        do throws(NetlinkError) {
            let inspector = try Inspector(options: observation.engineOptions)
            for target in asked {
                let state = try inspector.state(of: target)
                show(state)
                states.append(state)
            }
        } catch {
            for target in asked.dropFirst(states.count) {
                var state = ReachabilityState(target: target, since: SystemClock.now.wall)
                state.adopt(Verdict(.unknown, reason: .cannotObserve))
                show(state)
            }
            throw CommandError.cannotAsk(error)
        }
        try CommandError.check(states.map { ($0.status, $0.reason) })
    }

    private func show(_ state: ReachabilityState) {
        if json {
            var writer = JSONWriter()
            let now = SystemClock.now
            writer.status(state, source: .kernel, at: now.wall, now.boot)
            writer.newline()
            StandardOutput.write(writer.bytes)
        } else {
            StandardOutput.write(StatusText(style: .current).describe(state))
        }
    }
}
