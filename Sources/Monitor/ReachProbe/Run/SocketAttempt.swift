internal import Glibc
internal import ReachCore
internal import ReachLoop
internal import ReachTransfer

/// The common steps of an attempt that makes its own sockets. It begins on the loop's next turn, resolves the host, and
/// ends once, at its deadline at the latest. Confined to the loop's thread.
final class SocketAttempt {
    private(set) var plan: ProbePlan
    let runner: ProbeRunner
    var phases = ProbePhases()
    private let lookup: HostLookup
    private var completion: ProbeRunner.Completion?
    private var timer: TimerQueue.ID?
    /// Releases the attempt's resources, and adds its findings to the observation.
    private var complete: (inout ProbeObservation) -> Void = { _ in }

    init(_ plan: ProbePlan, _ runner: ProbeRunner, _ completion: @escaping ProbeRunner.Completion) {
        self.plan = plan
        self.runner = runner
        self.completion = completion
        lookup = HostLookup(runner.resolver)
    }

    /// - Parameters:
    ///   - complete: Adds the attempt's findings to the observation. Called at the end, but not after ``cancel()``.
    ///   - work: Makes the attempt. Called after this returns, so that the completion is too, even if `work` fails at
    ///     once.
    func begin(complete: @escaping (inout ProbeObservation) -> Void, _ work: @escaping () -> Void) {
        self.complete = complete
        timer = runner.loop.schedule(at: plan.deadline) { [weak self] in
            guard let self else { return }
            timer = nil
            finish(plan.timedOut)
        }
        runner.loop.afterEvents { [weak self] in
            if self?.isOver == false { work() }
        }
    }

    /// Whether the attempt has ended or was cancelled.
    var isOver: Bool { completion == nil }

    /// - Parameter work: Called with the host's first address, unless the attempt ends first.
    func find(_ host: ProbeTarget.Host, _ work: @escaping (IPAddress) -> Void) {
        findAll(host) { [weak self] ways in
            self?.use(ways[0])
            work(ways[0].address)
        }
    }

    /// - Parameter work: Called with the host's addresses that may be used, at least one, unless the attempt ends
    ///   first.
    func findAll(_ host: ProbeTarget.Host, _ work: @escaping ([TransferWay]) -> Void) {
        lookup.find(host, for: plan) { [weak self] answer in
            guard let self else { return }
            switch answer {
            case .success(let addresses):
                phases[.resolve] = SystemClock.boot - plan.started.boot
                // A name may have addresses behind several links.
                let ways = runner.ways(to: addresses, for: plan)
                guard !ways.isEmpty else {
                    return finish(ProbeObservation.Ending(systemError: ENETUNREACH, "route"))
                }
                work(ways)
            case .failure(let failure): finish(ProbeObservation.Ending(failure))
            }
        }
    }

    /// Notes the interface of the address that decides.
    func use(_ way: TransferWay) { plan.binding = way.interface }

    func finish(_ ending: ProbeObservation.Ending) {
        guard let completion else { return }
        cancel()
        var observation = plan.observation(ending, phases)
        complete(&observation)
        completion(observation)
    }

    func cancel() {
        completion = nil
        lookup.cancel()
        timer.map(runner.loop.cancel)
        timer = nil
    }
}

/// Finds the addresses of the target's host, at least one: the first step of an attempt that makes its own socket.
final class HostLookup {
    private let resolver: NameService
    private var id: NameService.ID?

    init(_ resolver: NameService) { self.resolver = resolver }

    /// - Parameter completion: Called before this returns if the host is an address, otherwise later.
    func find(
        _ host: ProbeTarget.Host, for plan: ProbePlan,
        _ completion: @escaping (Result<[IPAddress], NameFailure>) -> Void
    ) {
        switch host {
        case .address(let address, _): completion(.success([address]))
        case .name(let name):
            let question = NameQuestion(name, family: plan.specification.family, interface: plan.binding)
            id = resolver.resolve(question, within: plan.specification.effectiveTimeout) { [weak self] answer in
                self?.id = nil
                switch answer {
                case .success(let addresses):
                    completion(addresses.isEmpty ? .failure(.notFound(name)) : .success(addresses))
                case .failure(let failure): completion(.failure(failure))
                }
            }
        }
    }

    func cancel() {
        id.map(resolver.cancel)
        id = nil
    }
}
