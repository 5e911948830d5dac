internal import Glibc
internal import ReachControl
internal import ReachCore
internal import ReachLoop
internal import ReachProbe
internal import ReachTransfer

/// The daemon's probes: those that the configuration names, and those that somebody asks for now.
final class ProbeServiceHandler {
    private let loop: EventLoop
    private let watcher: TargetRegistry
    private let transfers: SharedTransfers
    private var runner: ProbeRunner?
    /// Of the Internet, when it was last seen: with a new one, what name servers said before does not hold any more.
    private var epoch: UInt64?
    private var keeper: ProbeController?
    private let tell: (ProbeEvent) -> Void
    /// Attempts that were asked for.
    private var orders: [UInt64: Order] = [:]
    private var pace = OrderPace()
    private var lastOrder: UInt64 = 0

    private struct Order {
        let user: UInt32
        let cancel: () -> Void
    }

    /// What people ask for must not keep the machine's own probes from their descriptors.
    private static let orderLimit = 64
    private static let orderLimitPerUser = 8

    init(
        loop: EventLoop, watcher: TargetRegistry, transfers: SharedTransfers, tell: @escaping (ProbeEvent) -> Void
    ) {
        self.loop = loop
        self.watcher = watcher
        self.transfers = transfers
        self.tell = tell
    }

    func take(_ configuration: Configuration) {
        guard keeper != nil || !configuration.probes.isEmpty else { return }
        let keeper = keeper ?? makeKeeper()
        self.keeper = keeper
        keeper.concurrency = configuration.probing.concurrency
        keeper.emitsResults = configuration.probing.results
        keeper.configure(configuration.probeSpecifications)
    }

    func stop() {
        orders.values.forEach { $0.cancel() }
        orders = [:]
        keeper?.stop()
    }

    var reports: [ProbeReport] { keeper?.reports(at: SystemClock.now) ?? [] }

    var records: [ProbeController.Entry] { keeper?.entries() ?? [] }

    // MARK: - On demand

    /// Makes one attempt now, or when it is the user's time. It counts for nothing but its answer.
    func probe(
        _ order: ProbeOrder, for user: UInt32, _ reply: @escaping (Result<ProbeAnswer, MonitorError>) -> Void
    ) {
        guard orders.values.count(where: { $0.user == user }) < Self.orderLimitPerUser else {
            return reply(
                .failure(.notAvailable(reason: "\(Self.orderLimitPerUser) of your attempts are under way already")))
        }
        guard orders.count < Self.orderLimit else {
            return reply(.failure(.notAvailable(reason: "\(Self.orderLimit) attempts are under way already")))
        }
        let specification: ProbeSpecification
        do throws(MonitorError) {
            specification = try self.specification(for: order)
        } catch {
            return reply(.failure(error))
        }
        guard let runner = findRunner() else {
            return reply(.failure(.notAvailable(reason: "libcurl cannot be started")))
        }
        lastOrder += 1
        let id = lastOrder
        let name = order.target.contains(":") ? nil : order.target
        let begin = { [weak self] in
            let attempt = runner.start(specification, binding: specification.requiredPath.binding) { observation in
                self?.orders[id] = nil
                let result = ProbeJudge.result(of: observation, specification.conditions, evidence: .same)
                reply(.success(ProbeAnswer(target: specification.target.description, name: name, result: result)))
            }
            self?.orders[id] = Order(user: user) { attempt.cancel() }
        }
        let now = SystemClock.boot
        let start = user == 0 || user == getuid() ? now : pace.claim(for: user, at: now)
        guard start > now else { return begin() }
        let timer = loop.schedule(at: start, begin)
        orders[id] = Order(user: user) { [loop] in loop.cancel(timer) }
    }

    private func specification(for order: ProbeOrder) throws(MonitorError) -> ProbeSpecification {
        var specification: ProbeSpecification
        if order.target.contains(":") {
            do throws(TargetError) {
                specification = ProbeSpecification(name: "", target: try ProbeTarget(order.target))
            } catch {
                throw .invalidTarget(String(order.target.prefix(256)), reason: error.description)
            }
        } else {
            guard let known = keeper?.specification(named: order.target) else {
                throw .invalidTarget(
                    String(order.target.prefix(256)), reason: "no probe has this name, and it is no URL")
            }
            specification = known
        }
        if let timeout = order.timeout { specification.timeout = timeout }
        if let interface = order.interface {
            guard (try? Target("interface:" + interface)) != nil else {
                throw .invalidTarget(String(interface.prefix(256)), reason: "it cannot be the name of an interface")
            }
            specification.requiredPath = .interface(interface)
        }
        return specification
    }

    // MARK: - Making them

    private func findRunner() -> ProbeRunner? {
        if let runner { return runner }
        guard let engine = try? transfers.engine() else { return nil }
        runner = ProbeRunner(loop: loop, transfers: engine)
        _ = watcher.watch(.internet) { [weak self] event in
            guard let self, case .change(let change) = event else { return }
            if let epoch, epoch != change.state.epoch { transfers.newEpoch() }
            epoch = change.state.epoch
        }
        return runner
    }

    private func makeKeeper() -> ProbeController {
        let surroundings = ProbeEnvironment(
            machine: MachineIdentity.current,
            watch: { [watcher] target, handler in
                let watch = watcher.watch(target) { event in
                    switch event {
                    case .change(let change): handler(.state(change.state))
                    case .wake: handler(.woke)
                    case .resync, .probe: break
                    }
                }
                return { watcher.end(watch) }
            },
            start: { [unowned self] specification, binding, completion in
                start(specification, binding, completion)
            })
        let keeper = ProbeController(loop: loop, surroundings, sink: tell)
        keeper.onTurn = { [watcher] target, result in
            if result.suggestsOutage(for: target) { watcher.noteFailure() }
            if result.suggestsInternet(for: target) { watcher.noteAnswer(in: result.address?.family) }
        }
        return keeper
    }

    private func start(
        _ specification: ProbeSpecification, _ binding: ProbeGate.Binding?,
        _ completion: @escaping (ProbeObservation) -> Void
    ) -> any ProbeAttempt {
        guard let runner = findRunner() else { return FailedStart(loop, completion) }
        let interface = binding.map { InterfaceBinding(name: $0.name, index: UInt32(bitPattern: $0.index ?? 0)) }
        return runner.start(specification, binding: interface, completion: completion)
    }
}

extension ProbeSpecification.PathRequirement {
    /// A class needs a look at the path, which an attempt by hand does without.
    fileprivate var binding: InterfaceBinding? {
        guard case .interface(let name) = self else { return nil }
        return InterfaceBinding(name: name)
    }
}

/// An attempt that could not begin, for lack of libcurl.
private final class FailedStart: ProbeAttempt {
    private var completion: ((ProbeObservation) -> Void)?

    init(_ loop: EventLoop, _ completion: @escaping (ProbeObservation) -> Void) {
        self.completion = completion
        loop.afterEvents { [self] in
            self.completion?(
                ProbeObservation(
                    .doubtful(.localError, "libcurl cannot be started"), started: SystemClock.now, duration: .zero))
        }
    }

    func cancel() { completion = nil }
}
