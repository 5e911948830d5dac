internal import Glibc
internal import ReachControl
internal import ReachCore
internal import ReachLoop
internal import ReachTerminal

/// Starts a unit of systemd when a condition holds, and stops it when the condition is lost. Used on one thread.
final class UnitSupervisor {
    private static let signals = [SIGINT, SIGTERM, SIGHUP, SIGQUIT]

    private let loop: SupervisionLoop
    private let unit: String

    /// Call it before a thread starts: it blocks the signals that it reads.
    ///
    /// - Parameter supervision: With the reaction `restart`, as a unit can neither be paused nor is it left.
    init(_ unit: String, supervision: CommandSupervision) throws(SystemError) {
        loop = try SupervisionLoop(supervision, reading: Self.signals)
        self.unit = unit
    }

    /// - Returns: 0 after a signal that came while the condition held.
    /// - Throws: ``CommandError`` when the condition did not hold in time, or cannot be observed, or systemd refuses.
    func run(while conditions: [NetworkCondition], of source: ConditionWatch.Source) throws -> CInt {
        let ending: CommandSupervision.Ending
        do {
            ending = try loop.run(
                while: conditions, of: source,
                received: { [unowned self] in received($0) }, perform: { [unowned self] in perform($0) })
        } catch {
            // What runs unwatched must not go on.
            if loop.supervision.isRunning { systemctl("stop") }
            throw error
        }
        return try ending.status(of: unit)
    }

    private func received(_ signal: CInt) {
        let wasRunning = loop.supervision.isRunning
        if wasRunning { systemctl("stop") }
        loop.decide { $0.interrupted(by: signal, at: $1) }
        if wasRunning { loop.decide { $0.commandEnded(status: 0, at: $1) } }
    }

    private func perform(_ action: CommandSupervision.Action) {
        switch action {
        case .start:
            systemctl("start")
        case .terminate:
            StandardError.write("reach: \(unit) is stopped: its condition no longer holds\n")
            systemctl("stop")
            // The manager ends it, in its own time.
            loop.decide { $0.commandEnded(status: 0, at: $1) }
        case .pause, .resume, .kill, .finish: break
        }
    }

    /// Not to wait for the unit is safe: systemd carries out the last of several jobs.
    private func systemctl(_ verb: String) {
        guard !ServiceManager.does(verb, ["--no-block"], to: unit, showsErrors: true) else { return }
        loop.stop(with: CommandError(status: .unavailable, message: "systemd does not \(verb) \(unit)"))
    }
}
