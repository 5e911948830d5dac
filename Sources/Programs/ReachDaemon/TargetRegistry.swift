internal import Logging
internal import ReachCore
internal import ReachKernel
internal import ReachLoop
internal import ReachProbe
internal import ReachRecords
internal import ReachTransfer

/// The watched targets, by the names that the configuration gives them. A new configuration may give a name to another
/// target; watchers then see only the states that differ.
final class TargetRegistry {
    /// One watcher's target and event receiver.
    final class Watch {
        fileprivate let target: Target
        fileprivate let owner: UInt32?
        fileprivate let condition: NetworkCondition?
        fileprivate let sink: (TargetEvent) -> Void
        fileprivate var engineID: UInt64 = 0
        /// Joins the changes of successive targets of a name into one series.
        fileprivate var series: ChangeSeries

        fileprivate init(
            target: Target, owner: UInt32?, condition: NetworkCondition?, sink: @escaping (TargetEvent) -> Void
        ) {
            self.target = target
            self.condition = condition
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
    let engine: ReachabilityEngine
    private let connectivity: ConnectivityController
    /// Receives every change of the Internet and of the configured targets, with the target's name.
    var onChange: (ReachabilityChange, _ name: String) -> Void = { _, _ in }
    /// Called when the machine has slept.
    var onWake: (Instant, _ slept: Duration) -> Void = { _, _ in }
    private var watches: [ObjectIdentifier: Watch] = [:]
    /// The watches of the Internet and of the configured targets, which are always active so that their states are
    /// known.
    private var named: [Watch] = []

    /// - Parameter leaseRoot: The directory that contains `run` and `var`, where DHCP clients keep leases.
    init(
        loop: EventLoop, configuration: Configuration, transfers: SharedTransfers,
        log: Logger, leaseRoot: String = "/"
    ) {
        self.loop = loop
        self.configuration = configuration
        var options = configuration.engineOptions
        options.leases = findings
        engine = ReachabilityEngine(loop: loop, options: options)
        connectivity = ConnectivityController(loop: loop, transfers: transfers, engine: engine, log: log)
        leases = LeaseWatch(loop: loop, root: leaseRoot, again: .seconds(3)) {
            LeaseAnswer($1, by: $0)
        } onLease: { [unowned self] question, answer, isFinal in
            let isHotspot = answer.isHotspot
            report(answer.proxyFile, of: question, to: log)
            // An address with a lifetime has a lease, which the client may not have stored yet.
            guard isHotspot != nil || isFinal || !question.hasLifetime else { return }
            var findings = findings
            findings.note(question.interface, question.addresses, isHotspot: isHotspot == true)
            setFindings(findings)
        }
    }

    /// The engine's options.
    var engineOptions: ReachabilityEngine.Options {
        var options = configuration.engineOptions
        options.observer.policy.networks.key = networkKey
        options.leases = findings
        return options
    }

    /// Sets the key from which networks without a name get their identifiers. Call it before anything is watched.
    func use(_ key: NetworkKey) {
        networkKey = key
        engine.apply(engineOptions)
    }

    /// The links whose bytes are counted; `nil` while the kernel cannot be observed.
    func countedLinks(besides known: Set<InterfaceIndex>) -> [CountedLink]? { engine.countedLinks(besides: known) }

    func start() {
        watchLeases()
        engine.start()
        connectivity.apply(configuration.validatorOptions)
        watchNamedTargets()
    }

    /// - Parameters:
    ///   - owner: The user who wants to know; `nil` for this program.
    ///   - condition: The paths that count; `nil` for the kernel's own choice.
    func watch(
        _ target: Target, for owner: UInt32? = nil, where condition: NetworkCondition? = nil,
        _ sink: @escaping (TargetEvent) -> Void
    ) -> Watch {
        let watch = Watch(target: target, owner: owner, condition: condition, sink: sink)
        watches[ObjectIdentifier(watch)] = watch
        begin(watch)
        return watch
    }

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

    /// Replies with a target's state once it is determined, or that the name is not resolved if that takes too long;
    /// and with the resolver's answer, if the target is a name.
    func queryState(
        of target: Target, for owner: UInt32, within patience: Duration = TargetRegistry.namePatience,
        _ reply: @escaping (ReachabilityState, NameAnswer?) -> Void
    ) {
        var pending: Watch?
        var timer: TimerQueue.ID?
        var state: ReachabilityState?
        let answer = { [unowned self] in
            guard let watch = pending else { return }
            // The watch has the closure that has this one, which has the watch.
            pending = nil
            timer.map(loop.cancel)
            reply(state ?? Self.unresolved(target), engine.nameAnswer(of: watch.engineID))
            end(watch)
        }
        // A watch begins with "unknown" before its name may be resolved.
        let answerIfKnown = { [unowned self] in
            guard let state, let watch = pending else { return }
            if state.reason != .nameNotResolved || engine.nameAnswer(of: watch.engineID) != nil { answer() }
        }
        pending = watch(target, for: owner) { event in
            guard case .change(let change) = event else { return }
            state = change.state
            answerIfKnown()
        }
        answerIfKnown()
        guard pending != nil, case .name = target.subject else { return }
        timer = loop.schedule(at: SystemClock.boot + patience) {
            timer = nil
            answer()
        }
    }

    /// Replies with the resolver's answer about a target that is a name, at once if it is none. It leaves a second for
    /// what the caller makes of it: clients wait for five.
    func resolveName(of target: Target, for owner: UInt32, _ reply: @escaping (NameAnswer?) -> Void) {
        guard case .name = target.subject else { return reply(nil) }
        queryState(of: target, for: owner, within: .seconds(4)) { reply($1 ?? .notAsked) }
    }

    private static func unresolved(_ target: Target) -> ReachabilityState {
        var machine = StatusMachine(target: target, at: SystemClock.now)
        _ = machine.observe(
            Verdict(.unknown, reason: .nameNotResolved), cause: .start, epoch: 1, at: SystemClock.now)
        return machine.state
    }

    /// Applies a new configuration. Watchers receive the states that change.
    func apply(_ new: Configuration) {
        let before = configuration
        configuration = new
        named.forEach(end)
        let changesPaths =
            new.internet != before.internet || new.hold != before.hold || new.interfaces != before.interfaces
            || new.networks != before.networks || new.engineOptions.proxy != before.engineOptions.proxy
        if changesPaths { engine.apply(engineOptions) }
        engine.watchTogether {
            for watch in watches.values {
                // Where a name means another target now, its watches would keep the old one.
                if target(of: watch, in: before) != target(of: watch, in: new) {
                    engine.unwatch(watch.engineID)
                    begin(watch)
                }
            }
        }
        connectivity.apply(new.validatorOptions)
        watchNamedTargets()
    }

    /// A transfer failed: checks at once whether the Internet is still reachable.
    func noteFailure() { connectivity.noteFailure() }

    /// A transfer was answered, over this address family if that is known: an Internet that was unreachable may be
    /// back.
    func noteAnswer(in family: IPAddress.Family?) { connectivity.noteAnswer(in: family) }

    /// A probe by address was answered by the kernel's path.
    func noteWitness(in family: IPAddress.Family) { connectivity.noteWitness(in: family) }

    /// What connectivity checks have proved about a target; `nil` if none run, and for targets that they do not
    /// concern.
    func connectivityReport(on target: Target) -> ConnectivityReport? { connectivity.report(on: target) }

    /// The last check of the path to a target, in each family that has one.
    func lastChecks(of target: Target) -> [IPAddress.Family: ConnectivityCheck] { connectivity.lastChecks(of: target) }

    /// How often silence was looked for and found; `nil` if it is not looked for.
    var silenceStatistics: SilenceStatistics? { connectivity.silenceStatistics }

    /// Calls `handler` with the present result of the connectivity checks and with each new one.
    func followSurvey(_ handler: @escaping (ConnectivitySurvey?) -> Void) { connectivity.followSurvey(handler) }

    /// Calls `handler` when a check of a path has ended, whatever it found.
    func onCheck(_ handler: @escaping () -> Void) { connectivity.onCheck = handler }

    /// Calls `handler` with what some minutes showed of a line.
    func onQuality(_ handler: @escaping (QualityPeriod) -> Void) { connectivity.onQuality = handler }

    /// What is proved of the Internet over each interface with a default route.
    var linkProofs: [String: LinkReport.Proof] { connectivity.linkProofs(internet: named.first?.series.state) }

    /// Whether a check decides soon if the Internet still answers over an interface, where something failed at a time.
    func isUnsettled(_ interface: String, _ family: IPAddress.Family?, since time: BootTime) -> Bool {
        connectivity.isUnsettled(interface, family, since: time)
    }

    /// How long a check over an interface may take; `nil` without any checks.
    func checkLimit(over interface: String, _ family: IPAddress.Family) -> Duration? {
        connectivity.checkLimit(over: interface, family)
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
            case .wake, .resync, .notice, .probe: break
            }
        }
    }

    /// Reads the leases of the links with default routes when these change.
    private func watchLeases() {
        _ = engine.watchNetwork { [unowned self] network in
            let routes = (network?.routes ?? []).filter {
                $0.traits.linkClass.map(LeaseFindings.classes.contains) == true
            }
            leases?.update(routes)
            var findings = findings
            let interfaces = Set(routes.map(\.key.interface))
            findings.keep(interfaces)
            proxyFiles = proxyFiles.filter { interfaces.contains($0.key) }
            setFindings(findings)
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

    private func setFindings(_ findings: LeaseFindings) {
        guard findings != self.findings else { return }
        self.findings = findings
        // Not while the engine reports: it would evaluate within an evaluation.
        loop.afterEvents { [weak self] in self.map { $0.engine.setLeases($0.findings) } }
    }

    /// Clients may use the name that the configuration gives to a target.
    private func target(of watch: Watch, in configuration: Configuration) -> Target {
        configuration.targets[named: watch.target.description] ?? watch.target
    }

    private func begin(_ watch: Watch) {
        watch.series.name = configuration.targets.name(of: target(of: watch, in: configuration))
        watch.engineID = engine.watch(
            target(of: watch, in: configuration), for: watch.owner, where: watch.condition
        ) { watch.publish($0) }
    }
}
