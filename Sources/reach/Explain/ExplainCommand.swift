internal import ArgumentParser
internal import ReachControl
internal import ReachCore
internal import ReachKernel
internal import ReachLoop
internal import ReachTerminal

struct ExplainCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain",
        abstract: "Explain step by step why a target is reachable or not.",
        discussion: """
            Goes through rules, route, link, the links below it, source address and first hop, in the order in which a \
            packet would meet them. Asks the daemon if one runs, otherwise the kernel; sends nothing. The verdict is that \
            of "reach status".

            Exit status: 0 reachable, 1 not reachable, 2 usage, 3 unknown, 4 cannot observe.
            """)

    @Flag(help: "Print a JSON object.")
    var json = false

    @OptionGroup var daemon: DaemonOptions

    @OptionGroup var observation: ObservationOptions

    @Argument(
        help: "The target; the Internet by default.", transform: { try CommandLineValue.target($0) })
    var target: Target = .internet

    func validate() throws { try daemon.exclude(observation.given) }

    func run() throws {
        var source = daemon.source(observation.given)
        let answer = try source.ask { client throws(ControlError) in try client.explanation(of: target) }
        let explanation = try answer ?? queryKernel()
        show(explanation, answer == nil ? .kernel : .daemon)
        if !json { StandardOutput.write(source.note(isDaemon: answer != nil, .current)) }
        try CommandError.check([(explanation.verdict.status, explanation.verdict.reason)])
    }

    private func queryKernel() throws(CommandError) -> Explanation {
        do throws(NetlinkError) {
            return try Explainer(options: observation.engineOptions).explain(target)
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
            StandardOutput.write(text.describe(explanation))
        }
    }
}
