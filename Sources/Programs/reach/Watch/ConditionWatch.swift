internal import ReachControl
internal import ReachCore
internal import ReachKernel
internal import ReachLoop

/// Watches whether conditions of a target hold, on an event loop.
final class ConditionWatch {
    /// Where the answer comes from.
    struct Source {
        let target: Target
        let source: DaemonOptions.Source
        let kernelOptions: ReachabilityEngine.Options
    }

    private let conditions: [NetworkCondition]
    private let loop: EventLoop
    private let handler: (Bool) -> Void
    private let watch: TargetWatch
    private var unproved: CommandError?

    /// - Parameter handler: Called with each state: whether all conditions hold in it. While a daemon that was
    ///   connected is away, they do not.
    init(
        _ conditions: [NetworkCondition], of source: Source, on loop: EventLoop, handler: @escaping (Bool) -> Void
    ) {
        (self.conditions, self.loop, self.handler) = (conditions, loop, handler)
        var receive: (StreamEvent, StatusSource) -> Void = { _, _ in }
        watch = TargetWatch(
            of: source.target, from: source.source, kernelOptions: source.kernelOptions,
            configuration: conditions.contains(where: \.dependsOnConfiguration) ? .required : .usual,
            mustObserve: true, seeksPath: true, on: loop
        ) { receive($0, $1) }
        receive = { [unowned self] in self.receive($0, from: $1, of: source.target) }
    }

    /// Begins to watch. Call it on the running loop, which a failure stops.
    func start() { watch.start() }

    /// The error that stopped the loop.
    var failure: CommandError? { watch.failure ?? unproved }

    /// Whether the daemon may still turn out not to answer.
    var awaitsDaemon: Bool { watch.awaitsDaemon }

    private func receive(_ event: StreamEvent, from source: StatusSource, of target: Target) {
        let state: ReachabilityState
        switch event {
        case .disconnected: return handler(false)
        // Where nothing differs, no change says that the conditions hold as before.
        case .reconnected(_, _, let current): state = current
        default:
            guard let current = event.state else { return }
            state = current
        }
        // Without validation the condition would never hold.
        if conditions.contains(where: \.isValidated), !state.isValidated {
            unproved = .notValidated(target, by: source)
            return loop.stop()
        }
        if conditions.contains(where: { $0.quality != nil }), !state.measuresQuality {
            unproved = .notMeasured
            return loop.stop()
        }
        // Only the daemon knows networks, and "not network=NAME" must not hold because no one knows.
        if source == .kernel, conditions.contains(where: \.namesNetworks) {
            unproved = .noNetworks
            return loop.stop()
        }
        handler(conditions.allSatisfy { $0.holds(in: state) })
    }
}

/// The names of networks in conditions.
enum NetworkNames {
    /// A mistyped name would be waited for without an end. Where no one knows the names, ``ConditionWatch`` says so.
    static func check(_ conditions: [NetworkCondition], of source: DaemonOptions.Source) throws(CommandError) {
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
}

extension CommandError {
    /// The error that networks are not known.
    static var noNetworks: CommandError {
        CommandError(
            status: .cannotObserve,
            message:
                "\"network=\" needs reachd, which knows the names; reachd does not run, or --no-daemon leaves it out")
    }

    /// The error that nobody measures what lines are like.
    static var notMeasured: CommandError {
        CommandError(
            status: .cannotObserve,
            message: "\"quality=\" needs reachd with \"quality = true\" below [connectivity]: see reach.toml(5)")
    }

    /// The error that no probe runs which could prove the Internet, with advice.
    static func notValidated(_ target: Target, by source: StatusSource) -> CommandError {
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
