internal import ArgumentParser
internal import ReachControl
internal import ReachCore
internal import ReachKernel
internal import ReachLoop
internal import ReachRecords
internal import ReachTerminal

struct ExplainCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain",
        abstract: "Explain step by step why a target is reachable or not.",
        discussion: """
            Goes through rules, route, link, the links below it, source address and first hop, in the order in which a \
            packet would meet them. Asks the daemon if one runs, otherwise the kernel; sends nothing. The verdict is \
            that of "reach status".

            With --probe it sends packets: to the gateway, the name servers and the target, for at most ten seconds, \
            and says what is broken and who can mend it. The target may then also be HOST:PORT.

            With --until it also says whether a condition of "reach wait" holds, and if not, why.

            Exit status: 0 reachable, or all conditions hold; 1 not; 2 usage, 3 unknown, 4 cannot observe.

            Example: reach explain --until unmetered,network=home
            """)

    @Flag(help: "Print a JSON object.")
    var json = false

    @Flag(help: "Test the way to the target, layer by layer, with packets.")
    var probe = false

    @Option(
        name: .customLong("until"),
        help: ArgumentHelp(
            "Also explain whether this condition holds. May be given several times.", valueName: "condition"),
        completion: ValueCompletion.condition, transform: { try CommandLineValue.condition($0) })
    var conditions: [NetworkCondition] = []

    @OptionGroup var daemon: DaemonOptions

    @OptionGroup var observation: ObservationOptions

    @Argument(help: "The target; the Internet by default.", completion: ValueCompletion.target)
    var target = "internet"

    func validate() throws {
        try daemon.exclude(observation.given)
        if !conditions.isEmpty, json || probe {
            throw ValidationError("--until and \(json ? "--json" : "--probe") exclude each other")
        }
        guard probe else {
            _ = try CommandLineValue.target(target)
            return
        }
        let others = observation.given + (daemon.socket == nil ? [] : ["--socket"])
        if let option = others.first {
            throw ValidationError("--probe and \(option) exclude each other: the packets leave as those of any program")
        }
        do throws(TargetError) {
            _ = try DiagnosisDestination.read(target)
        } catch {
            throw ValidationError(error.description)
        }
    }

    func run() throws {
        if probe { return try diagnose() }
        try explain(try CommandLineValue.target(target))
    }

    private func diagnose() throws(CommandError) {
        let (diagnosis, line) = try ProbeProgram.diagnose(target)
        if json {
            StandardOutput.write(line)
        } else {
            StandardOutput.write(lines: DiagnosisText(style: .current, width: StandardOutput.width).describe(diagnosis))
        }
        switch diagnosis.outcome {
        case .ok, .degraded: break
        case .failed: throw CommandError(status: .notReachable)
        case .unknown: throw CommandError(status: .unknown)
        }
    }

    private func explain(_ target: Target) throws {
        var source = daemon.source(observation.given)
        var hints: [String] = []
        var (state, names): (ReachabilityState?, [String]?) = (nil, nil)
        let answer = try source.ask { client throws(ControlError) in
            let explanation = try client.explanation(of: target)
            if explanation.verdict.reason == .nameNotResolved {
                hints = TargetHint.sentences(for: [target]) { (try? client.targetNames()) ?? [] }
            }
            if !conditions.isEmpty { (state, names) = (try client.status(of: target), try client.networkNames()) }
            return explanation
        }
        let explanation: Explanation
        if let answer {
            explanation = answer
        } else {
            let configuration = try KernelConfiguration(
                observation.engineOptions, isRequired: conditions.contains(where: \.dependsOnConfiguration))
            explanation = try queryKernel(configuration.target(target), configuration)
            if !conditions.isEmpty { state = try queryState(configuration.target(target), configuration) }
            if explanation.verdict.reason == .nameNotResolved {
                hints = TargetHint.sentences(for: [target]) { configuration.names }
            }
        }
        show(explanation, answer == nil ? .kernel : .daemon)
        let texts = conditions.compactMap { condition in
            state.map {
                ConditionText(
                    condition: condition, state: $0, source: answer == nil ? .kernel : .daemon, networkNames: names)
            }
        }
        for text in texts { StandardOutput.write(lines: "\n" + text.describe(.current)) }
        if !json { StandardOutput.write(lines: source.note(isDaemon: answer != nil, .current)) }
        for hint in hints { StandardError.write("reach: \(hint)\n") }
        guard conditions.isEmpty else {
            if !texts.allSatisfy(\.holds) { throw CommandError(status: .notReachable) }
            return
        }
        try CommandError.check([(explanation.verdict.status, explanation.verdict.reason)])
    }

    private func queryState(
        _ target: Target, _ configuration: KernelConfiguration
    ) throws(CommandError) -> ReachabilityState {
        do throws(NetlinkError) {
            let snapshot = try KernelSnapshot(
                options: configuration.options, wantsWireless: configuration.namesWireless, onDemand: true)
            return try snapshot.state(of: target)
        } catch {
            throw .cannotAsk(error)
        }
    }

    private func queryKernel(
        _ target: Target, _ configuration: KernelConfiguration
    ) throws(CommandError) -> Explanation {
        do throws(NetlinkError) {
            return try Explainer(options: configuration.options, wantsWireless: configuration.namesWireless)
                .explain(target)
        } catch {
            show(Explainer.cannotObserve(target), .kernel)
            throw .cannotAsk(error)
        }
    }

    private func show(_ explanation: Explanation, _ source: StatusSource) {
        if json {
            StandardOutput.writeJSON { $0.explanation(explanation, source: source, at: SystemClock.now) }
        } else {
            let text = ExplanationText(style: .current, width: StandardOutput.width)
            StandardOutput.write(lines: text.describe(explanation))
        }
    }
}
