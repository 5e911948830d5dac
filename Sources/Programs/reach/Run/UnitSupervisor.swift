internal import Glibc
internal import ReachControl
internal import ReachCore
internal import ReachLoop
internal import ReachTerminal

/// Starts a unit of systemd when a condition holds, and stops it when the condition is lost. Used on one thread.
final class UnitSupervisor {
    private static let signals = [SIGINT, SIGTERM, SIGHUP, SIGQUIT]

    private let loop: EventLoop
    private let unit: String
    private var supervision: CommandSupervision
    private var timer: DeadlineTimer?
    private var ending: CommandSupervision.Ending?
    private var failure: CommandError?

    /// Call it before a thread starts: it blocks the signals that it reads.
    ///
    /// - Parameter supervision: With the reaction `restart`, as a unit can neither be paused nor is it left.
    init(_ unit: String, supervision: CommandSupervision) throws(SystemError) {
        SignalSource.block(Self.signals)
        loop = try EventLoop()
        (self.unit, self.supervision) = (unit, supervision)
    }

    /// - Returns: 0 after a signal that came while the condition held.
    /// - Throws: ``CommandError`` when the condition did not hold in time, or cannot be observed, or systemd refuses.
    func run(while conditions: [NetworkCondition], of source: ConditionWatch.Source) throws -> CInt {
        try SignalSource.watch(Self.signals, on: loop) { [unowned self] in received($0) }
        timer = DeadlineTimer(on: loop) { [unowned self] in
            perform(supervision.timePassed(at: SystemClock.boot))
        }
        let watch = ConditionWatch(conditions, of: source, on: loop) { [unowned self] holds in
            perform(supervision.conditionChanged(holds: holds, at: SystemClock.boot))
        }
        loop.afterEvents { [unowned self] in
            timer?.set(to: supervision.deadline)
            watch.start()
        }
        loop.run()
        if let ending { return try ending.status(of: unit) }
        // What runs unwatched must not go on.
        if supervision.isRunning { systemctl("stop") }
        throw failure ?? watch.failure ?? CommandError(status: .cannotObserve)
    }

    private func received(_ signal: CInt) {
        let wasRunning = supervision.isRunning
        if wasRunning { systemctl("stop") }
        perform(supervision.interrupted(by: signal, at: SystemClock.boot))
        if wasRunning { perform(supervision.commandEnded(status: 0, at: SystemClock.boot)) }
    }

    private func perform(_ action: CommandSupervision.Action?) {
        switch action {
        case .start?:
            systemctl("start")
        case .terminate?:
            StandardError.write("reach: \(unit) is stopped: its condition no longer holds\n")
            systemctl("stop")
            // The manager ends it, in its own time.
            perform(supervision.commandEnded(status: 0, at: SystemClock.boot))
        case .finish(let ending)?:
            self.ending = ending
            loop.stop()
        case .pause?, .resume?, .kill?, nil: break
        }
        timer?.set(to: supervision.deadline)
    }

    /// Not to wait for the unit is safe: systemd carries out the last of several jobs.
    private func systemctl(_ verb: String) {
        guard !ServiceManager.does(verb, ["--no-block"], to: unit, showsErrors: true) else { return }
        failure = failure ?? CommandError(status: .unavailable, message: "systemd does not \(verb) \(unit)")
        loop.stop()
    }
}
