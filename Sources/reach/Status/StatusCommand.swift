internal import ArgumentParser
internal import ReachControl
internal import ReachCore
internal import ReachKernel
internal import ReachLoop
internal import ReachTerminal

struct StatusCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Print whether targets can be reached, and how.",
        discussion: """
            A target is the Internet (nothing, or "internet"), a host name, an address, a prefix, interface:NAME or a \
            URL. Asks the daemon if one runs, otherwise the kernel; sends nothing.

            Exit status: 0 all reachable, 1 at least one not reachable, 2 usage, 3 unknown, 4 cannot observe.
            """)

    @Flag(help: "Print a JSON object for each target, one a line.")
    var json = false

    @OptionGroup var daemon: DaemonOptions
    @OptionGroup var observation: ObservationOptions

    @Argument(
        help: "Targets; the Internet by default.", transform: { try CommandLineValue.target($0) })
    var targets: [Target] = []

    func validate() throws { try daemon.exclude(observation.given) }

    func run() throws {
        let asked = targets.isEmpty ? [.internet] : targets
        var source = daemon.source(observation.given)
        let answer = try source.ask { client throws(ControlError) in
            var states: [ReachabilityState] = []
            for target in asked { states.append(try client.status(of: target)) }
            return states
        }
        for state in answer ?? [] { show(state, .daemon) }
        let states = try answer ?? queryKernel(asked)
        if !json { StandardOutput.write(source.note(isDaemon: answer != nil, .current)) }
        try CommandError.check(states.map { ($0.status, $0.reason) })
    }

    private func queryKernel(_ asked: [Target]) throws(CommandError) -> [ReachabilityState] {
        var states: [ReachabilityState] = []
        do throws(NetlinkError) {
            let snapshot = try KernelSnapshot(options: observation.engineOptions)
            for target in asked {
                let state = try snapshot.state(of: target)
                show(state, .kernel)
                states.append(state)
            }
            return states
        } catch {
            for target in asked.dropFirst(states.count) {
                var state = ReachabilityState(target: target, since: SystemClock.now.wall)
                state.adopt(Verdict(.unknown, reason: .cannotObserve))
                show(state, .kernel)
            }
            throw CommandError.cannotAsk(error)
        }
    }

    private func show(_ state: ReachabilityState, _ source: StatusSource) {
        if json {
            let now = SystemClock.now
            StandardOutput.writeJSON { $0.status(state, source: source, at: now.wall, now.boot) }
        } else {
            StandardOutput.write(StatusText(style: .current).describe(state))
        }
    }
}
