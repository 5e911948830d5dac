internal import ArgumentParser
internal import Glibc
internal import ReachControl
internal import ReachCore
internal import ReachKernel
internal import ReachLoop

struct WaitCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "wait",
        abstract: "Wait for conditions.",
        discussion: """
            Conditions are \(NetworkCondition.grammar). Asks the daemon if one runs, otherwise the kernel.

            Exit status: 0 as soon as all hold, 124 on timeout, 2 usage, 4 cannot observe.
            """)

    @Option(
        name: .customLong("until"),
        help: ArgumentHelp(
            "What to wait for; \"reachable\" by default. May be given several times: all must hold.",
            valueName: "condition"),
        completion: ValueCompletion.condition, transform: { try CommandLineValue.condition($0) })
    var conditions: [NetworkCondition] = []

    @Option(
        help: ArgumentHelp("Give up after this long.", valueName: "duration"),
        transform: { try CommandLineValue.duration($0) })
    var timeout: Duration?

    @OptionGroup var daemon: DaemonOptions

    @OptionGroup var observation: ObservationOptions

    @Argument(
        help: "The target; the Internet by default.", completion: ValueCompletion.target,
        transform: { try CommandLineValue.target($0) })
    var target: Target = .internet

    func validate() throws { try daemon.exclude(observation.given) }

    func run() throws {
        let waiter = Waiter(
            target: target, conditions: conditions.isEmpty ? [.reachable] : conditions, timeout: timeout,
            source: daemon.source(observation.given), kernelOptions: observation.engineOptions)
        try waiter.wait()
    }
}

/// Waits for conditions on the calling thread.
struct Waiter {
    let target: Target
    let conditions: [NetworkCondition]
    let timeout: Duration?
    let source: DaemonOptions.Source
    let kernelOptions: EngineOptions

    /// - Throws: ``CommandError`` if the conditions do not hold in time, or cannot be observed.
    func wait() throws(CommandError) {
        try checkNetworks()
        let loop: EventLoop
        do throws(SystemError) {
            loop = try EventLoop()
        } catch {
            throw CommandError(status: .cannotObserve, message: "cannot watch: \(error)")
        }
        guard try holds(on: loop) else { throw CommandError(status: .timedOut) }
    }

    /// A mistyped name would be waited for without an end. Where no one knows the names, ``holds(on:)`` says so.
    private func checkNetworks() throws(CommandError) {
        guard conditions.contains(where: \.namesNetworks), case .daemon(let path, _) = source.checked else { return }
        var names: [String]?
        do throws(ControlError) {
            var client = try ControlClient(path: path, patience: .seconds(1))
            names = try client.networkNames()
        } catch {
            // Who waits for the daemon, too, is told what it answers then.
            return
        }
        guard let names else { return }
        for condition in conditions {
            guard let problem = condition.networkProblem(among: names) else { continue }
            throw CommandError(status: .usage, message: DisplayText.sanitized(problem))
        }
    }

    private func holds(on loop: EventLoop) throws(CommandError) -> Bool {
        var isFulfilled = false
        // The timeout counts only after the source has answered once, so that a timeout of 0 still tests the conditions.
        var (isAnswered, isTimeUp) = (false, false)
        var unproved: CommandError?
        let watch = TargetWatch(
            of: target, from: source, kernelOptions: kernelOptions, mustObserve: true, seeksPath: true, on: loop
        ) { event, source in
            guard let state = event.state else { return }
            isAnswered = true
            // Without validation the condition would never hold.
            if conditions.contains(where: \.isValidated), !state.isValidated {
                unproved = .notValidated(target, by: source)
                return loop.stop()
            }
            // Only the daemon knows networks, and "not network=NAME" must not hold because no one knows.
            if source == .kernel, conditions.contains(where: \.namesNetworks) {
                unproved = .noNetworks
                return loop.stop()
            }
            isFulfilled = isFulfilled || conditions.allSatisfy { $0.holds(in: state) }
            if isFulfilled || isTimeUp { loop.stop() }
        }
        loop.afterEvents {
            watch.start()
            guard let timeout else { return }
            loop.schedule(at: SystemClock.boot + timeout) {
                isTimeUp = true
                if isAnswered || !watch.awaitsDaemon { loop.stop() }
            }
        }
        loop.run()
        if let failure = watch.failure ?? unproved { throw failure }
        return isFulfilled
    }
}

extension CommandError {
    /// The error that networks are not known.
    fileprivate static var noNetworks: CommandError {
        CommandError(
            status: .cannotObserve,
            message:
                "\"network=\" needs reachd, which knows the names; reachd does not run, or --no-daemon leaves it out")
    }

    /// The error that no probe runs which could prove the Internet, with advice.
    fileprivate static func notValidated(_ target: Target, by source: StatusSource) -> CommandError {
        let message: String
        switch (target.subject, source) {
        case (.name, _), (.address, _), (.prefix, _):
            message = "\"internet\" is proved by checks, which prove nothing of this target"
        case (_, .kernel):
            message =
                "\"internet\" needs reachd with [connectivity] endpoints; "
                + "reachd does not run, or --no-daemon leaves it out"
        case (_, .daemon):
            message = "\"internet\" needs [connectivity] endpoints, and reachd has none: see reach.toml(5)"
        }
        return CommandError(status: .cannotObserve, message: message)
    }
}
