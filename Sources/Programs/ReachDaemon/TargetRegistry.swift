internal import Logging
internal import ReachCore
internal import ReachKernel
internal import ReachLoop
internal import ReachProbe
internal import ReachQueueRuntime
internal import ReachTransfer

/// The watched targets. A new configuration may replace the engine; watchers then see only the states that differ.
final class TargetRegistry {
    /// One watcher's target and event receiver.
    final class Watch {
        fileprivate let target: Target
        fileprivate let owner: UInt32?
        fileprivate let condition: NetworkCondition?
        fileprivate let isPatient: Bool
        fileprivate let sink: (TargetEvent) -> Void
        fileprivate var engineID: UInt64 = 0
        /// Joins the changes of successive engines into one series, so that watchers never see a restart.
        fileprivate var series: ChangeSeries

        fileprivate init(
            target: Target, owner: UInt32?, condition: NetworkCondition?, isPatient: Bool,
            sink: @escaping (TargetEvent) -> Void
        ) {
            self.target = target
            self.condition = condition
            self.isPatient = isPatient
            self.owner = owner
            self.sink = sink
            series = ChangeSeries(of: target)
        }

        fileprivate func publish(_ event: TargetEvent) {
            guard case .change(let change) = event else { return sink(event) }
            let joined = change.isInitial ? series.begin(change, cause: .configuration) : series.append(change)
            if let joined { sink(.change(joined)) }
        }
    }

    private let loop: EventLoop
    private var configuration: Configuration
    /// The key for the identifiers of networks without a name; `nil` for none.
    private var networkKey: NetworkKey?
    /// What is known of the leases of links. Until a link's lease was read, the link may turn out to be metered.
    private var findings = LeaseFindings()
    private var leases: LeaseWatch<LeaseAnswer>?
    /// The proxies' configuration files that were logged, by the interface.
    private var proxyFiles: [InterfaceIndex: String] = [:]
    private var engine: ReachabilityEngine
    private let connectivity: ConnectivityController
    /// The receivers of the network's snapshots, each with the number of its watch in the current engine.
    private var networkWatches: [UInt64: (handler: ReachabilityEngine.NetworkHandler, engineID: UInt64)] = [:]
    /// The watches of routes to addresses, each with its number in the current engine.
    private var routeWatches: [UInt64: (addresses: Set<IPAddress>, handler: () -> Void, engineID: UInt64)] = [:]
    /// The searches for a path, each with the number of its watch in the current engine.
    private var pathSearches: [UInt64: UInt64] = [:]
    private var lastNetworkWatch: UInt64 = 0
    /// Receives every change of the Internet and of the configured targets, with the target's name.
    var onChange: (ReachabilityChange, _ name: String) -> Void = { _, _ in }
    /// Called when the machine has slept.
    var onWake: (Instant, _ slept: Duration) -> Void = { _, _ in }
    private var watches: [ObjectIdentifier: Watch] = [:]
    /// The watches of the Internet and of the configured targets, which are always active so that their states are known.
    private var named: [Watch] = []

    /// - Parameter leaseRoot: The directory that contains `run` and `var`, where DHCP clients keep leases.
    init(
        loop: EventLoop, configuration: Configuration, transfers: SharedTransfers,
        log: Logger, leaseRoot: String = "/"
    ) {
        self.loop = loop
        self.configuration = configuration
        connectivity = ConnectivityController(loop: loop, transfers: transfers, log: log)
        var options = configuration.engineOptions
        options.leases = findings
        engine = ReachabilityEngine(loop: loop, options: options)
        leases = LeaseWatch(loop: loop, root: leaseRoot, again: .seconds(3)) {
            LeaseAnswer($1, by: $0)
        } onLease: { [unowned self] question, answer, isFinal in
            let isHotspot = answer.isHotspot
            report(answer.proxyFile, of: question, to: log)
            // An address with a lifetime has a lease, which the client may not have stored yet.
            guard isHotspot != nil || isFinal || !question.hasLifetime else { return }
            var fresh = findings
            fresh.note(question.interface, question.addresses, isHotspot: isHotspot == true)
            setFindings(fresh)
        }
    }

    /// The engine's options.
    var engineOptions: EngineOptions {
        var options = configuration.engineOptions
        options.observer.policy.networks.key = networkKey
        options.leases = findings
        return options
    }

    /// Sets the key from which networks without a name get their identifiers. Call it before anything is watched.
    func use(_ key: NetworkKey) {
        networkKey = key
        engine = ReachabilityEngine(loop: loop, options: engineOptions)
    }

    /// Why the kernel cannot be observed; `nil` while it can.
    var observationError: NetlinkError? { engine.observationError }

    /// Why the advertisements of routers, by which networks are named, cannot be read.
    var listeningError: SystemError? { engine.listeningError }

    func start() {
        connectivity.use(engine)
        watchLeases()
        engine.start()
        connectivity.apply(configuration.validatorOptions)
        watchNamedTargets()
    }

    /// - Parameters:
    ///   - owner: The user who wants to know; `nil` for this program.
    ///   - condition: The paths that count; `nil` for the kernel's own choice.
    ///   - isPatient: Whether it may hear of a change after the others, where there are many such watches.
    func watch(
        _ target: Target, for owner: UInt32? = nil, where condition: NetworkCondition? = nil,
        isPatient: Bool = false, _ sink: @escaping (TargetEvent) -> Void
    ) -> Watch {
        let watch = Watch(target: target, owner: owner, condition: condition, isPatient: isPatient, sink: sink)
        watches[ObjectIdentifier(watch)] = watch
        begin(watch)
        return watch
    }

    /// Begins and ends the watches that `body` makes and ends as one: the kernel is asked about their targets together.
    func watchTogether(_ body: () -> Void) { engine.watchTogether(body) }

    func end(_ watch: Watch) {
        guard watches.removeValue(forKey: ObjectIdentifier(watch)) != nil else { return }
        engine.unwatch(watch.engineID)
    }

    /// How often kernel notifications were lost and everything was read again.
    private(set) var resyncs: UInt64 = 0

    /// The known states of the Internet and of the configured targets, with their names.
    var namedStates: [(name: String, state: ReachabilityState)] {
        zip(namedTargets, named).compactMap { target, watch in watch.series.state.map { (target.name, $0) } }
    }

    func state(of watch: Watch) -> ReachabilityState? { watch.series.state }

    /// How long a client waits for the addresses of a name; a little less than the manual says.
    private static let namePatience = Duration.milliseconds(4500)

    /// Replies with a target's state once it is determined, or that the name is not resolved if that takes too long.
    func queryState(of target: Target, for owner: UInt32, _ reply: @escaping (ReachabilityState) -> Void) {
        var pending: Watch?
        var isAnswered = false
        var timer: TimerQueue.ID?
        let answer = { [unowned self] (state: ReachabilityState) in
            guard !isAnswered else { return }
            isAnswered = true
            timer.map(loop.cancel)
            reply(state)
            // The watch has this closure, which has the watch.
            if let ended = pending {
                pending = nil
                end(ended)
            }
        }
        let watch = watch(target, for: owner) { event in
            if case .change(let change) = event { answer(change.state) }
        }
        guard !isAnswered else { return end(watch) }
        pending = watch
        guard case .name = target.subject else { return }
        timer = loop.schedule(at: SystemClock.boot + Self.namePatience) {
            timer = nil
            answer(Self.unresolved(target))
        }
    }

    private static func unresolved(_ target: Target) -> ReachabilityState {
        var machine = StatusMachine(target: target, at: SystemClock.now)
        _ = machine.observe(
            Verdict(.unknown, reason: .nameNotResolved), cause: .start, epoch: 1, at: SystemClock.now)
        return machine.state
    }

    /// Applies a new configuration, with a new engine if the engine's options differ. Watchers receive the states that
    /// change.
    func apply(_ fresh: Configuration) {
        let isSameEngine =
            fresh.internet == configuration.internet && fresh.hold == configuration.hold
            && fresh.interfaces == configuration.interfaces && fresh.networks == configuration.networks
        let before = configuration
        configuration = fresh
        named.forEach(end)
        if isSameEngine {
            // Where a name means another target now, its watches would keep the old one.
            let renamed = watches.values.filter { target(of: $0, in: before) != target(of: $0, in: fresh) }
            engine.watchTogether {
                for watch in renamed {
                    engine.unwatch(watch.engineID)
                    begin(watch)
                }
            }
        } else {
            let others =
                networkWatches.values.map(\.engineID) + routeWatches.values.map(\.engineID) + pathSearches.values
            for id in watches.values.map(\.engineID) + others { engine.unwatch(id) }
            engine = ReachabilityEngine(loop: loop, options: engineOptions)
            connectivity.use(engine)
            beginNetworkWatches()
            engine.start()
            engine.watchTogether { watches.values.forEach(begin) }
        }
        connectivity.apply(fresh.validatorOptions)
        watchNamedTargets()
    }

    /// A transfer failed: checks at once whether the Internet is still reachable.
    func noteFailure() { connectivity.noteFailure() }

    /// A transfer was answered, over this address family if that is known: an Internet that was unreachable may be
    /// back.
    func noteAnswer(in family: IPAddress.Family?) { connectivity.noteAnswer(in: family) }

    /// What connectivity checks have proved about a target; `nil` if none run, and for targets that they do not
    /// concern.
    func connectivityReport(on target: Target) -> ConnectivityReport? { connectivity.report(on: target) }

    /// The last check of the path to a target, in each family that has one.
    func lastChecks(of target: Target) -> [IPAddress.Family: ConnectivityCheck] { connectivity.lastChecks(of: target) }

    /// How often silence was looked for and found; `nil` if it is not looked for.
    var silenceStatistics: SilenceStatistics? { connectivity.silenceStatistics }

    /// Why no default route satisfies a condition; `nil` if one does, or if that is not known.
    func rootCause(where condition: NetworkCondition) -> RootCause? { engine.rootCause(where: condition) }

    /// The interface for queries to a name server, of a question that is bound to an interface.
    func interface(
        for server: ResolverConfiguration.Server, boundTo bound: InterfaceBinding
    ) throws(SystemError) -> InterfaceBinding? {
        let isMetered = engine.isMetered(bound.name)
        return try NameServerRoute(to: server, boundTo: bound, isMetered: isMetered, routes: routes).interface()
    }

    /// What the engine remembers that helps to find why a target is not reachable.
    func memory(of target: Target) -> RootCauseMemory { engine.memory(of: target) }

    /// Calls `handler` with the present result of the connectivity checks and with each new one.
    func followSurvey(_ handler: @escaping (ConnectivitySurvey?) -> Void) { connectivity.followSurvey(handler) }

    /// Calls `handler` when a check of a path has ended, whatever it found.
    func onCheck(_ handler: @escaping () -> Void) { connectivity.onCheck = handler }

    /// What is proved of the Internet over each interface with a default route.
    var linkProofs: [String: LinkReport.Proof] {
        var proofs = connectivity.linkProofs
        // What status knows beyond the checks of one link, which know nothing of another family's past.
        if let internet = named.first?.series.state, let name = internet.interface, let proof = proofs[name],
            proof.connectivity == .unknown
        {
            proofs[name] = LinkReport.Proof(internet.connectivity, checked: proof.checked, roundTrip: proof.roundTrip)
        }
        return proofs
    }

    /// Whether a check decides soon if the Internet still answers over an interface, where something failed at a time.
    func isUnsettled(_ interface: String, _ family: IPAddress.Family?, since time: BootTime) -> Bool {
        connectivity.isUnsettled(interface, family, since: time)
    }

    /// The longest time that such a check takes to decide.
    var longestCheck: Duration { connectivity.longestDecision }

    private func watchNamedTargets() {
        engine.watchTogether { named = namedTargets.map { watch($0.target, named: $0.name) } }
    }

    private var namedTargets: [(name: String, target: Target)] {
        [("internet", .internet)] + configuration.targets.map { ($0.name, $0.target) }
    }

    private func watch(_ target: Target, named name: String) -> Watch {
        watch(target) { [unowned self] event in
            switch event {
            case .change(let change): onChange(change, name)
            case .wake(let moment, let slept) where target == .internet:
                connectivity.restart()
                onWake(moment, slept)
            // Every watch receives a resync; it is counted once, at the Internet's.
            case .resync where target == .internet: resyncs += 1
            default: break
            }
        }
    }

    /// Reads the leases of the links with default routes when these change.
    private func watchLeases() {
        _ = followNetwork { [unowned self] network in
            let routes = (network?.routes ?? []).filter {
                $0.traits.linkClass.map(LeaseFindings.classes.contains) == true
            }
            leases?.update(routes)
            var fresh = findings
            let interfaces = Set(routes.map(\.key.interface))
            fresh.keep(interfaces)
            proxyFiles = proxyFiles.filter { interfaces.contains($0.key) }
            setFindings(fresh)
        }
    }

    /// A program that any machine on the link may name is not executed; who needs the proxy has to know of it.
    private func report(_ proxyFile: String?, of question: LeaseQuestion, to log: Logger) {
        guard let proxyFile, proxyFiles[question.interface] != proxyFile else { return }
        proxyFiles[question.interface] = proxyFile
        log.notice(
            "a network names a proxy's configuration file, which reachd does not execute; see proxy in reach.toml(5)",
            metadata: [
                "interface": "\(question.name)", "file": "\(DisplayText.sanitized(String(proxyFile.prefix(200))))",
            ])
    }

    private func setFindings(_ fresh: LeaseFindings) {
        guard fresh != findings else { return }
        findings = fresh
        // Not while the engine reports: it would evaluate within an evaluation.
        loop.afterEvents { [weak self] in self.map { $0.engine.setLeases($0.findings) } }
    }

    private func beginNetworkWatches() {
        for (number, watch) in networkWatches {
            networkWatches[number]?.engineID = engine.watchNetwork(watch.handler)
        }
        for (number, watch) in routeWatches {
            routeWatches[number]?.engineID = engine.watchRoutes(to: watch.addresses, watch.handler)
        }
        for number in pathSearches.keys { pathSearches[number] = engine.askNeighbours() }
    }

    /// Clients may use the name that the configuration gives to a target.
    private func target(of watch: Watch, in configuration: Configuration) -> Target {
        configuration.target(named: watch.target.description) ?? watch.target
    }

    private func begin(_ watch: Watch) {
        watch.series.name = configuration.name(of: target(of: watch, in: configuration))
        watch.engineID = engine.watch(
            target(of: watch, in: configuration), for: watch.owner, where: watch.condition, isPatient: watch.isPatient
        ) { watch.publish($0) }
    }
}

extension TargetRegistry: QueueNetwork {
    func followNetwork(_ handler: @escaping (NetworkSnapshot?) -> Void) -> () -> Void {
        lastNetworkWatch += 1
        let number = lastNetworkWatch
        networkWatches[number] = (handler, engine.watchNetwork(handler))
        return { [weak self] in
            guard let watch = self?.networkWatches.removeValue(forKey: number) else { return }
            self?.engine.unwatch(watch.engineID)
        }
    }

    func routes(to addresses: [RoutedAddress]) -> [AddressRoute]? { engine.routes(to: addresses) }

    var routesVersion: UInt64 { engine.routesVersion }

    func reportsRoutes(to addresses: [IPAddress]) -> Bool { engine.reportsRoutes(to: addresses) }

    func followRoutes(to addresses: Set<IPAddress>, _ handler: @escaping () -> Void) -> () -> Void {
        lastNetworkWatch += 1
        let number = lastNetworkWatch
        routeWatches[number] = (addresses, handler, engine.watchRoutes(to: addresses, handler))
        return { [weak self] in
            guard let watch = self?.routeWatches.removeValue(forKey: number) else { return }
            self?.engine.unwatch(watch.engineID)
        }
    }

    func seekPath() -> () -> Void {
        lastNetworkWatch += 1
        let number = lastNetworkWatch
        pathSearches[number] = engine.askNeighbours()
        return { [weak self] in
            guard let id = self?.pathSearches.removeValue(forKey: number) else { return }
            self?.engine.unwatch(id)
        }
    }

    func follow(_ target: Target, for owner: UInt32?, _ handler: @escaping (TargetEvent) -> Void) -> () -> Void {
        let watch = watch(target, for: owner, handler)
        return { [weak self] in self?.end(watch) }
    }
}
