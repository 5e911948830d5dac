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

            Exit status: 0 all reachable, 1 at least one not reachable, 2 usage, 3 unknown, 4 cannot observe. With \
            --validated: 0 the Internet answers, 1 it does not, 3 nothing has been proved.
            """)

    @Flag(help: "Print a JSON object for each target, one per line.")
    var json = false

    @Flag(help: "Exit by what the daemon's connectivity checks have proved.")
    var validated = false

    @OptionGroup var daemon: DaemonOptions
    @OptionGroup var observation: ObservationOptions

    @Argument(
        help: "Targets; the Internet by default.", completion: ValueCompletion.target,
        transform: { try CommandLineValue.target($0) })
    var targets: [Target] = []

    private var asked: [Target] { targets.isEmpty ? [.internet] : targets }

    func validate() throws {
        try daemon.exclude(observation.given)
        guard validated else { return }
        for target in asked where !target.canBeProved {
            throw ValidationError(
                "--validated: checks prove nothing about '\(DisplayText.sanitized(target.description))', only about "
                    + "internet and interface:NAME; leave it out, or see 'reach probe'")
        }
    }

    func run() throws {
        var source = daemon.source(observation.given)
        var hints: [String] = []
        let answer = try source.ask { client throws(ControlError) in
            var states: [ReachabilityState] = []
            for target in asked { states.append(try client.status(of: target)) }
            hints = TargetHint.sentences(for: states.filter { $0.reason == .nameNotResolved }.map(\.target), &client)
            return states
        }
        for state in answer ?? [] { show(state, .daemon) }
        let states = try answer ?? queryKernel(asked)
        if !json { StandardOutput.write(source.note(isDaemon: answer != nil, .current)) }
        for hint in hints { StandardError.write("reach: \(hint)\n") }
        if validated { return try checkProof(states, isDaemon: answer != nil) }
        try CommandError.check(states.map { ($0.status, $0.reason) })
    }

    private func checkProof(_ states: [ReachabilityState], isDaemon: Bool) throws(CommandError) {
        let isUnproved = states.allSatisfy { $0.proof == .unknown && !$0.isValidated }
        guard !isUnproved else {
            let message =
                isDaemon
                ? "--validated: nothing is checked, since reachd has no [connectivity] endpoints; see reach.toml(5)"
                : "--validated needs reachd with [connectivity] endpoints, and reachd does not run"
            throw CommandError(status: .unknown, message: message)
        }
        try CommandError.check(states.map { ($0.proof, $0.reason) })
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

extension ReachabilityState {
    /// The status by what connectivity checks have proved.
    fileprivate var proof: ReachabilityStatus {
        guard status == .reachable else { return status }
        switch connectivity {
        case .full: return .reachable
        case .portal, .limited, .none: return .notReachable
        case .unknown: return .unknown
        }
    }
}

extension Target {
    /// Whether connectivity checks can prove something about it.
    fileprivate var canBeProved: Bool {
        switch subject {
        case .internet, .interface: true
        case .name, .address, .prefix: false
        }
    }
}
