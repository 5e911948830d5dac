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
            icmp://HOST; a name is that of a probe in the daemon's configuration. The daemon makes the attempt; if none runs, \
            or it does not permit the attempt, "reachd --probe" does.

            Exit status: 0 all ok, 1 at least one failed, 2 usage, 3 inconclusive, 4 no attempt could be made.
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
            let answer = try attempt(order)
            show(answer)
            outcomes.append(answer.result.outcome)
        }
        if outcomes.contains(where: { $0.word == "fail" }) { throw CommandError(status: .notReachable) }
        if outcomes.contains(where: { $0.word == "inconclusive" }) { throw CommandError(status: .unknown) }
    }

    private func attempt(_ order: ProbeOrder) throws(CommandError) -> ProbeAnswer {
        if case .daemon(let path, let wasNamed) = daemon.source() {
            var answers = false
            do throws(ControlError) {
                // The daemon's own timeouts are at most 300 s.
                let patience = (order.timeout ?? .seconds(300)) + .seconds(5)
                var client = try ControlClient(path: path, patience: patience)
                try client.ping()
                answers = true
                // A daemon in another namespace would use another path; but only the daemon has the configured probes.
                var isAsked = wasNamed || !order.target.unicodeScalars.contains(":")
                if !isAsked { isAsked = try client.isInThisNamespace() }
                if isAsked { return try client.probe(order) }
            } catch {
                // A daemon that has not answered the ping has not made the attempt either.
                let mayContinue =
                    answers ? mayReplaceDaemon(after: error, order) : order.target.unicodeScalars.contains(":")
                guard !wasNamed, mayContinue else { throw Self.failure(error, order.target) }
            }
        }
        guard order.target.unicodeScalars.contains(":") else { throw Self.noProbe(order.target, status: .usage) }
        return try ProbeProgram.run(order)
    }

    /// Whether `reachd --probe` may make the attempt instead. Only the daemon has the configured probes.
    private func mayReplaceDaemon(after error: ControlError, _ order: ProbeOrder) -> Bool {
        guard order.target.unicodeScalars.contains(":") else { return false }
        switch error {
        case .notRunning, .badPath, .failed: return true
        case .refused: if case .permissionDenied = error.monitorError { return true } else { return false }
        case .timedOut, .closed, .notUnderstood: return false
        }
    }

    /// - Parameter target: What was to be probed.
    private static func failure(_ error: ControlError, _ target: String) -> CommandError {
        if !target.unicodeScalars.contains(":"), case .notRunning = error {
            return noProbe(target, status: .cannotObserve)
        }
        if case .invalidTarget(let target, let reason) = error.monitorError {
            return CommandError(status: .usage, message: DisplayText.sanitized("\(target): \(reason)"))
        }
        return CommandError(status: .cannotObserve, message: DisplayText.sanitized(error.description))
    }

    /// The error that this is not a URL, and no daemon says whether a probe has that name.
    private static func noProbe(_ target: String, status: ExitStatus) -> CommandError {
        let name = DisplayText.sanitized(target)
        let what = status == .usage ? "is left out by --no-daemon" : "does not run"
        let hint = IPAddress(target) == nil ? "" : "; try icmp://\(name)"
        return CommandError(
            status: status,
            message: "'\(name)' is not a URL; reachd, which has the configured probes, \(what)\(hint)")
    }

    private func show(_ answer: ProbeAnswer) {
        if json {
            StandardOutput.writeJSON { $0.probeResult(answer.result, of: answer.target, named: answer.name) }
        } else {
            StandardOutput.write(ProbeText(style: .current).describe(answer))
        }
    }
}
