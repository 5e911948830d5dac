internal import ReachCore
internal import ReachLoop
internal import ReachTransfer

/// The course of an attempt that makes its own sockets: it begins on the loop's next turn, looks its host up, and ends once, at
/// its deadline at the latest. Confined to the loop.
final class SocketAttempt {
    let plan: ProbePlan
    let runner: ProbeRunner
    var phases = ProbePhases()
    private let lookup: HostLookup
    private var completion: ProbeRunner.Completion?
    private var timer: TimerQueue.ID?
    /// Lets go of what the attempt holds, and adds to the observation what it knows.
    private var settle: (inout ProbeObservation) -> Void = { _ in }

    init(_ plan: ProbePlan, _ runner: ProbeRunner, _ completion: @escaping ProbeRunner.Completion) {
        self.plan = plan
        self.runner = runner
        self.completion = completion
        lookup = HostLookup(runner.resolver)
    }

    /// - Parameters:
    ///   - settle: Called when it ends, unless it is cancelled; adds to the observation what the attempt knows.
    ///   - work: Called later, so that the completion is too, whatever happens at once.
    func begin(settle: @escaping (inout ProbeObservation) -> Void, _ work: @escaping () -> Void) {
        self.settle = settle
        timer = runner.loop.schedule(at: plan.deadline) { [weak self] in
            guard let self else { return }
            timer = nil
            finish(plan.timedOut)
        }
        runner.loop.afterEvents { [weak self] in
            if self?.isOver == false { work() }
        }
    }

    /// It has ended, or was cancelled.
    var isOver: Bool { completion == nil }

    /// - Parameter work: Called with the host's address, unless it ends before.
    func find(_ host: ProbeTarget.Host, _ work: @escaping (IPAddress) -> Void) {
        lookup.find(host, for: plan) { [weak self] answer in
            guard let self, !isOver else { return }
            switch answer {
            case .success(let address):
                phases[.resolve] = SystemClock.boot - plan.started.boot
                work(address)
            case .failure(let failure): finish(ProbeObservation.Ending(failure))
            }
        }
    }

    func finish(_ ending: ProbeObservation.Ending) {
        guard let completion else { return }
        cancel()
        var observation = plan.observation(ending, phases)
        settle(&observation)
        completion(observation)
    }

    func cancel() {
        completion = nil
        lookup.cancel()
        timer.map(runner.loop.cancel)
        timer = nil
    }
}
