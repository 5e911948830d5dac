internal import ReachControl
internal import ReachCore
internal import ReachKernel
internal import ReachLoop
internal import ReachTerminal

/// A question about targets, as `reach status` asks it.
struct StatusQuery {
    var targets: [Target] = [.internet]
    var json = false
    /// The form of each line, instead of text for people or JSON.
    var format: StatusTemplate?
    /// Whether only what connectivity checks have proved counts; then each target is one about which they can prove
    /// something.
    var validated = false
    var source: DaemonOptions.Source
    var kernelOptions = ReachabilityEngine.Options()

    func run() throws {
        var source = source
        var hints: [String] = []
        let answer = try source.ask { client throws(ControlError) in
            var states: [ReachabilityState] = []
            for target in targets { states.append(try client.status(of: target)) }
            let unresolved = states.filter { $0.reason == .nameNotResolved }.map(\.target)
            hints = TargetHint.sentences(for: unresolved) { (try? client.targetNames()) ?? [] }
            return states
        }
        for state in answer ?? [] { show(state, .daemon) }
        let states: [ReachabilityState]
        if let answer {
            states = answer
        } else {
            let configuration = try KernelConfiguration(kernelOptions)
            states = try queryKernel(configuration)
            let unresolved = states.filter { $0.reason == .nameNotResolved }.map(\.target)
            hints = TargetHint.sentences(for: unresolved) { configuration.names }
        }
        if !json, format == nil {
            if states.contains(where: \.restsOnTheGatewayAlone) {
                StandardOutput.write(lines: TerminalStyle.current.paint("(\(Self.gatewayNote))", .grey) + "\n")
            }
            StandardOutput.write(lines: source.note(isDaemon: answer != nil, .current))
        }
        for hint in hints { StandardError.write("reach: \(hint)\n") }
        if validated { return try checkProof(states, isDaemon: answer != nil) }
        try CommandError.check(states.map { ($0.status, $0.reason) })
    }

    /// What has been proved where no endpoints are configured.
    static let gatewayNote = "as far as the first gateway; [connectivity] in reach.toml(5) proves more"

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

    private func queryKernel(_ configuration: KernelConfiguration) throws(CommandError) -> [ReachabilityState] {
        var states: [ReachabilityState] = []
        do throws(NetlinkError) {
            let snapshot = try KernelSnapshot(
                options: configuration.options, wantsWireless: configuration.namesWireless, onDemand: true)
            for target in targets {
                let meant = configuration.target(target)
                var state = try snapshot.state(of: meant)
                (state.target, state.name) = (target, configuration.name(of: meant))
                show(state, .kernel)
                states.append(state)
            }
            return states
        } catch {
            for target in targets.dropFirst(states.count) {
                var state = ReachabilityState(target: target, since: SystemClock.now.wall)
                state.adopt(Verdict(.unknown, reason: .cannotObserve))
                show(state, .kernel)
            }
            throw CommandError.cannotAsk(error)
        }
    }

    private func show(_ state: ReachabilityState, _ source: StatusSource) {
        if let format {
            StandardOutput.write(format.line(for: state, from: source))
        } else if json {
            let now = SystemClock.now
            StandardOutput.writeJSON { $0.status(state, source: source, at: now.wall, now.boot) }
        } else {
            StandardOutput.write(lines: StatusText(style: .current, lastAnswer: \.lastGatewayAnswer).describe(state))
        }
    }
}

extension ReachabilityState {
    /// The status by what connectivity checks have proved.
    var proof: ReachabilityStatus {
        guard status == .reachable else { return status }
        switch connectivity {
        case .full: return .reachable
        case .portal, .limited, .none: return .notReachable
        case .unknown: return .unknown
        }
    }
}

extension ReachabilityState {
    /// Whether the Internet counts as reachable by the path to the first gateway, since nothing checks more.
    fileprivate var restsOnTheGatewayAlone: Bool {
        target == .internet && status == .reachable && !isValidated
    }
}

extension Target {
    /// Whether connectivity checks can prove something about it.
    var canBeProved: Bool {
        switch subject {
        case .internet, .interface: true
        case .name, .address, .prefix: false
        }
    }
}

extension NetworkPath {
    /// When the gateway answered the kernel for the last time, while the kernel calls it reachable, asked now: the
    /// daemon's knowledge may be some seconds old, since the kernel reports no change of an entry that it begins to
    /// doubt while it is used.
    var lastGatewayAnswer: Timestamp? {
        guard let gateway, let interfaceIndex, let queries = try? KernelQueries() else { return nil }
        return try? queries.lastAnswer(of: Neighbour.Key(interface: interfaceIndex, address: gateway))
    }
}
