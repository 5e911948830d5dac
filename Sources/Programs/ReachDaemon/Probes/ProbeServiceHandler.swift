internal import Glibc
internal import ReachControl
package import ReachCore
internal import ReachKernel
internal import ReachLoop
internal import ReachProbe
internal import ReachQueueRuntime
internal import ReachTransfer

/// Runs the configured probes, and single attempts on a client's request.
final class ProbeServiceHandler {
    let loop: EventLoop
    let registry: TargetRegistry
    private let transfers: SharedTransfers
    private var runner: ProbeRunner?
    /// The last known epoch of the Internet target. A new one invalidates earlier DNS answers.
    private var epoch: UInt64?
    /// The networks behind its paths.
    private var networks: [String?] = []
    private var controller: ProbeController?
    /// Ends the search for a path; `nil` without probes.
    private var endSeeking: (() -> Void)?
    private let onEvent: (ProbeEvent) -> Void
    /// The attempts on demand that wait or run.
    private var orders = NumberedTable<Order>()
    private var rateLimit = ProbeRateLimit()
    /// The templates that scrapes may name.
    private(set) var modules: [ProbeEntry] = []
    /// The attempts that run for scrapes.
    var scrapes: [ObjectIdentifier: (ticket: ScrapeTicket, attempt: any ProbeAttempt)] = [:]
    /// Keeps the probes' totals over a restart; `nil` without a state directory.
    private let totals: ProbeTotalsWriter?

    private struct Order {
        let user: UInt32
        let cancel: () -> Void
    }

    /// Attempts on demand must not use up the file descriptors of the configured probes.
    private static let orderLimit = 64
    private static let orderLimitPerUser = 8

    init(
        loop: EventLoop, registry: TargetRegistry, transfers: SharedTransfers, file: ProbeTotalsFile? = nil,
        onEvent: @escaping (ProbeEvent) -> Void
    ) {
        self.loop = loop
        self.registry = registry
        self.transfers = transfers
        totals = file.map { ProbeTotalsWriter($0, on: loop) }
        self.onEvent = onEvent
    }

    func apply(_ configuration: Configuration) {
        modules = configuration.probeTemplates.filter { !$0.scrapeTargets.isEmpty }
        guard controller != nil || !configuration.probes.isEmpty else { return }
        let controller = controller ?? makeController()
        if self.controller == nil {
            self.controller = controller
            controller.earlier = totals?.begin(with: controller) ?? [:]
        }
        controller.concurrency = configuration.probing.concurrency
        controller.emitsResults = configuration.probing.results
        controller.isArchived = configuration.probing.isArchived && totals != nil
        controller.configure(configuration.probeSpecifications)
        seekPath(for: configuration.probes)
    }

    /// Probes without a path pause. The path is back with an answer of the gateway, which somebody has to ask.
    private func seekPath(for probes: [ProbeEntry]) {
        guard probes.isEmpty != (endSeeking == nil) else { return }
        endSeeking?()
        endSeeking = probes.isEmpty ? nil : registry.engine.seekPath()
    }

    func stop() {
        orders.values.forEach { $0.cancel() }
        orders.removeAll()
        scrapes.values.forEach { $0.attempt.cancel() }
        scrapes = [:]
        totals?.end()
        controller?.stop()
    }

    /// Writes the totals after ``stop()``. Blocks on the disk, so it comes after everything that others wait for.
    func save() { totals?.save() }

    var reports: [ProbeReport] { controller?.reports(at: SystemClock.now) ?? [] }

    func page(after count: Int, limit: Int) -> ProbePage? {
        guard let controller else { return nil }
        let reports = controller.reports(at: SystemClock.now, after: count, limit: limit)
        return ProbePage(reports: reports, isLast: count >= controller.count - reports.count)
    }

    var records: [ProbeController.Entry] { controller?.entries() ?? [] }

    // MARK: - On demand

    /// Makes one attempt as soon as the rate limit allows. Its result affects no probe's state.
    func probe(
        _ order: ProbeOrder, for user: UInt32, _ reply: @escaping (Result<ProbeAnswer, MonitorError>) -> Void
    ) {
        guard orders.values.count(where: { $0.user == user }) < Self.orderLimitPerUser else {
            return reply(
                .failure(.notAvailable(reason: "\(Self.orderLimitPerUser) of your attempts are already running")))
        }
        guard orders.count < Self.orderLimit else {
            return reply(.failure(.notAvailable(reason: "\(Self.orderLimit) attempts are already running")))
        }
        let specification: ProbeSpecification
        do throws(MonitorError) {
            specification = try self.specification(for: order)
        } catch {
            return reply(.failure(error))
        }
        guard findRunner() != nil else {
            return reply(.failure(.notAvailable(reason: "libcurl cannot be started")))
        }
        let id = orders.reserve()
        let name = order.target.unicodeScalars.contains(":") ? nil : order.target
        let begin = { [weak self] in
            guard let self else { return }
            let gate = order.interface == nil ? name.flatMap { self.controller?.gate(of: $0) } : nil
            if let refusal = gate?.refusal {
                orders[id] = nil
                return reply(.failure(.notAvailable(reason: refusal)))
            }
            let completion = { [weak self] (observation: ProbeObservation) in
                self?.orders[id] = nil
                let result = ProbeJudge.result(of: observation, specification.expected, evidence: .same)
                reply(.success(ProbeAnswer(target: specification.target.description, name: name, result: result)))
            }
            // Without a path the attempt says so itself.
            let named = specification.condition.interface.map { ProbeGate.Binding(name: $0, index: nil) }
            let binding = if case .open(let chosen?)? = gate { chosen } else { named }
            let attempt = self.start(ProbeTerms(specification), binding, completion)
            orders[id] = Order(user: user) { attempt.cancel() }
        }
        let now = SystemClock.boot
        let start = user == 0 || user == getuid() ? now : rateLimit.claim(for: user, at: now)
        guard start > now else { return begin() }
        let timer = loop.schedule(at: start, begin)
        orders[id] = Order(user: user) { [loop] in loop.cancel(timer) }
    }

    private func specification(for order: ProbeOrder) throws(MonitorError) -> ProbeSpecification {
        var specification: ProbeSpecification
        if order.target.unicodeScalars.contains(":") {
            do throws(TargetError) {
                specification = ProbeSpecification(name: "", target: try ProbeTarget(order.target))
                try specification.target.check(with: order.interface)
            } catch {
                throw .invalidTarget(DisplayText.excerpt(order.target, upTo: 256), reason: error.description)
            }
        } else {
            guard let configured = controller?.specification(named: order.target) else {
                let hint =
                    IPAddress(order.target) == nil
                    ? NearestWord.hint(for: order.target, among: reports.map(\.name)) : "; try icmp://\(order.target)"
                throw .invalidTarget(
                    DisplayText.excerpt(order.target, upTo: 256),
                    reason: "it is neither the name of a probe nor a URL\(hint)")
            }
            specification = configured
        }
        if specification.burst != nil, order.interface != nil || controller?.mayBeMetered(order.target) != false,
            !specification.burstsOnMetered
        {
            specification = specification.withoutBurst
        }
        if let timeout = order.timeout { specification.timeout = timeout }
        if let interface = order.interface {
            guard (try? Target("interface:" + interface)) != nil else {
                throw .invalidTarget(
                    DisplayText.excerpt(interface, upTo: 256), reason: "it cannot be the name of an interface")
            }
            specification.condition = .any
            specification.condition.interface = interface
        }
        return specification
    }

    // MARK: - Runner and controller

    private func findRunner() -> ProbeRunner? {
        if let runner { return runner }
        guard let engine = try? transfers.engine() else { return nil }
        let runner = ProbeRunner(loop: loop, transfers: engine)
        runner.routes = { [engine = registry.engine] addresses in engine.routes(to: addresses.map { RoutedAddress($0) })
        }
        self.runner = runner
        _ = registry.watch(.internet) { [weak self] event in
            guard let self, case .change(let change) = event else { return }
            let network = [change.state.ipv4, change.state.ipv6].map(\.network)
            // Another router may have the address of the one before.
            if let epoch, epoch != change.state.epoch || network != networks { transfers.newEpoch() }
            (epoch, networks) = (change.state.epoch, network)
        }
        return runner
    }

    private func makeController() -> ProbeController {
        var environment = ProbeEnvironment(
            machine: MachineIdentity.current,
            watch: { [registry] target, condition, handler in
                let watch = registry.watch(target, where: condition, handler)
                return { registry.end(watch) }
            },
            watchTogether: { [engine = registry.engine] in engine.watchTogether($0) },
            start: { [unowned self] terms, binding, completion in
                start(terms, binding, completion)
            })
        environment.isUnsettled = { [registry] in registry.isUnsettled($0, $1, since: $2) }
        environment.longestCheck = { [registry] in registry.longestCheck }
        let controller = ProbeController(loop: loop, environment, sink: onEvent)
        registry.followSurvey { [weak controller] in controller?.update(survey: $0) }
        registry.onCheck { [weak controller] in controller?.reconsider() }
        controller.onTurn = { [registry] target, result in
            if result.suggestsOutage(for: target) { registry.noteFailure() }
            if result.suggestsInternet(for: target) { registry.noteAnswer(in: result.address?.family) }
        }
        controller.onWitness = { [registry] in registry.noteWitness(in: $0) }
        return controller
    }

    func start(
        _ terms: ProbeTerms, _ binding: ProbeGate.Binding?,
        _ completion: @escaping (ProbeObservation) -> Void
    ) -> any ProbeAttempt {
        guard let runner = findRunner() else { return FailedStart(loop, completion) }
        let interface = binding.map { binding in
            binding.index.map { InterfaceBinding(name: binding.name, index: UInt32(bitPattern: $0)) }
                ?? registry.engine.binding(binding.name)
        }
        // Who names an interface means it, whatever the routes are.
        return runner.start(
            terms, binding: interface, followsRoutes: terms.specification.condition.interface == nil,
            completion: completion)
    }
}

extension ProbeGate {
    /// Why the configured conditions forbid an attempt on the present path; `nil` if they do not.
    fileprivate var refusal: String? {
        switch self {
        case .closed(.linkClass): "the probe is paused: the path's link is not of the class that it requires"
        case .closed(.network): "the probe is paused: the path leads to another network than it requires"
        case .closed(.metered): "the probe is paused: the path is metered, or may be"
        case .closed(.quality): "the probe is paused: the line is not as it requires, or not measured"
        case .closed(.tunnel):
            "the probe is paused: its target is reached by a tunnel, past which its interface would send"
        case .open, .closed(.noPath), .closed(.interface), .closed(.notValidated): nil
        }
    }
}

/// An attempt that fails at once because libcurl is not available.
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

/// Limits the attempts on demand of each user to one a second; further ones wait. The daemon may send what the user
/// could not, so a user must not make it send without limit.
package struct ProbeRateLimit: Sendable {
    /// When the next attempt of each user may start.
    private var free: [UInt32: BootTime] = [:]

    package static let interval: Duration = .seconds(1)

    package init() {}

    /// - Returns: The start time of the attempt that the user requests now.
    package mutating func claim(for user: UInt32, at now: BootTime) -> BootTime {
        free = free.filter { $0.value > now }
        let start = free[user] ?? now
        free[user] = start + Self.interval
        return start
    }
}
