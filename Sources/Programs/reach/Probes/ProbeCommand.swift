internal import ArgumentParser
internal import ReachControl
internal import ReachCore
internal import ReachLoop
internal import ReachTerminal

struct ProbeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "probe",
        abstract: "Test whether a server answers now, and how fast.",
        discussion: """
            A URL is http://, https://, tcp://HOST:PORT, tls://HOST[:PORT], dns://SERVER/NAME[?type=TYPE], dns:NAME or \
            icmp://HOST; a name is that of a probe in the daemon's configuration. The daemon makes the attempt; if \
            none runs, or it does not permit the attempt, "reachd --probe" does.

            Exit status: 0 all ok, 1 at least one failed, 2 usage, 3 inconclusive, 4 no attempt could be made.

            Example: reach probe https://www.example.org/
            """)

    @Flag(help: "Print a JSON object for each attempt, one per line.")
    var json = false

    @Option(
        help: ArgumentHelp("How long an attempt may take; 5 seconds by default.", valueName: "duration"),
        transform: { try CommandLineValue.duration($0) })
    var timeout: Duration?

    @Option(
        help: ArgumentHelp("Send only by this interface.", valueName: "name"), completion: ValueCompletion.interface)
    var interface: String?

    @OptionGroup var daemon: DaemonOptions

    @Argument(help: "URLs, or names of configured probes.", completion: ValueCompletion.probe)
    var targets: [String]

    func validate() throws {
        if let timeout, timeout < .milliseconds(1) || timeout > .seconds(300) {
            throw ValidationError("--timeout is from 1ms to 300s")
        }
        if let interface, (try? Target("interface:" + interface)) == nil {
            throw ValidationError("'\(DisplayText.sanitized(interface))' cannot be the name of an interface")
        }
    }

    func run() throws {
        var outcomes: [ProbeResult.Outcome] = []
        for target in targets {
            let order = ProbeOrder(target: target, interface: interface, timeout: timeout)
            let answer = try ProbeAttempt.make(order, from: daemon.source())
            show(answer)
            outcomes.append(answer.result.outcome)
        }
        if outcomes.contains(where: { $0.word == "fail" }) { throw CommandError(status: .notReachable) }
        if outcomes.contains(where: { $0.word == "inconclusive" }) { throw CommandError(status: .unknown) }
    }

    private func show(_ answer: ProbeAnswer) {
        if json {
            StandardOutput.writeJSON { $0.probeResult(answer.result, of: answer.target, named: answer.name) }
        } else {
            StandardOutput.write(lines: ProbeText(style: .current).describe(answer))
        }
    }
}
