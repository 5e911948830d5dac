internal import ReachCore
internal import ReachLoop

/// The event loop of `reach run --while`: tells the decisions of signals, of time and of the condition, and hands on
/// what follows from them. Used on one thread.
final class SupervisionLoop {
    private let loop: EventLoop
    private let signals: [CInt]
    private(set) var supervision: CommandSupervision
    private var timer: DeadlineTimer?
    private var perform: (CommandSupervision.Action) -> Void = { _ in }
    private var ending: CommandSupervision.Ending?
    private var failure: CommandError?

    /// Call it before a thread starts: it blocks the signals that it reads.
    init(_ supervision: CommandSupervision, reading signals: [CInt]) throws(SystemError) {
        SignalSource.block(signals)
        loop = try EventLoop()
        (self.supervision, self.signals) = (supervision, signals)
    }

    /// Runs until the decisions, or an error, end it.
    ///
    /// - Parameters:
    ///   - received: Called with each signal; what it means for the decisions is for the caller to tell them.
    ///   - perform: Carries out each action but the last.
    /// - Throws: ``CommandError`` when the condition cannot be observed, or after ``stop(with:)``.
    func run(
        while conditions: [NetworkCondition], of source: ConditionWatch.Source,
        received: @escaping (CInt) -> Void, perform: @escaping (CommandSupervision.Action) -> Void
    ) throws -> CommandSupervision.Ending {
        self.perform = perform
        try SignalSource.watch(signals, on: loop, handler: received)
        timer = DeadlineTimer(on: loop) { [unowned self] in decide { $0.timePassed(at: $1) } }
        let watch = ConditionWatch(conditions, of: source, on: loop) { [unowned self] holds in
            decide { $0.conditionChanged(holds: holds, at: $1) }
        }
        loop.afterEvents { [unowned self] in
            timer?.set(to: supervision.deadline)
            watch.start()
        }
        loop.run()
        if let ending { return ending }
        throw failure ?? watch.failure ?? CommandError(status: .cannotObserve)
    }

    /// Tells the decisions of an event, and carries out what follows.
    func decide(_ event: (inout CommandSupervision, BootTime) -> CommandSupervision.Action?) {
        switch event(&supervision, SystemClock.boot) {
        case .finish(let ending)?:
            self.ending = ending
            loop.stop()
        case let action?: perform(action)
        case nil: break
        }
        timer?.set(to: supervision.deadline)
    }

    /// Ends the run with an error; the first one counts.
    func stop(with error: CommandError) {
        failure = failure ?? error
        loop.stop()
    }
}
