internal import Logging
internal import ReachControl
internal import ReachCore
internal import ReachKernel
internal import ReachLoop
internal import ReachQueueRuntime

/// Everything that is watched, on an engine that a new configuration may replace without those who watch noticing more
/// than the difference it makes.
final class TargetRegistry {
    /// What somebody watches.
    final class Watch {
        fileprivate let target: Target
        fileprivate let sink: (MonitorEvent) -> Void
        fileprivate var engineID: UInt64 = 0
        /// Engines take each other's place; to those who are told, nothing begins anew.
        fileprivate var series: ChangeSeries

        fileprivate init(target: Target, sink: @escaping (MonitorEvent) -> Void) {
            self.target = target
            self.sink = sink
            series = ChangeSeries(of: target)
        }

        fileprivate func take(_ change: ReachabilityChange) {
            let told = change.isInitial ? series.begin(change, cause: .configuration) : series.append(change)
            if let told { sink(.change(told)) }
        }
    }

    private let loop: EventLoop
    private var configuration: Configuration
    private var engine: ReachabilityEngine
    private let connectivity: ConnectivityController
    /// Told of all interfaces by which the Internet may be reached.
    private var pathHandler: (([DefaultPath]?) -> Void)?
    /// Told of every change of the Internet and of the targets that the configuration names.
    var whenChanged: (ReachabilityChange) -> Void = { _ in }
    private var watches: [ObjectIdentifier: Watch] = [:]
    /// The Internet and the targets that the configuration names: watched always, so that they can be told of at once.
    private var named: [Watch] = []

    init(
        loop: EventLoop, configuration: Configuration, transfers: SharedTransfers,
        log: Logger
    ) {
        self.loop = loop
        self.configuration = configuration
        connectivity = ConnectivityController(loop: loop, transfers: transfers, log: log)
        engine = ReachabilityEngine(loop: loop, options: configuration.engineOptions)
    }

    var blindness: NetlinkError? { engine.observationError }

    func start() {
        connectivity.use(engine)
        engine.followPaths(pathHandler)
        engine.start()
        connectivity.take(configuration.validatorOptions)
        watchNamedTargets()
    }

    func watch(_ target: Target, _ sink: @escaping (MonitorEvent) -> Void) -> Watch {
        let watch = Watch(target: target, sink: sink)
        watches[ObjectIdentifier(watch)] = watch
        begin(watch)
        return watch
    }

    func end(_ watch: Watch) {
        guard watches.removeValue(forKey: ObjectIdentifier(watch)) != nil else { return }
        engine.unwatch(watch.engineID)
    }

    /// How often notices were lost and everything was read anew.
    private(set) var resyncs: UInt64 = 0

    /// The states of the Internet and of the targets that the configuration names, by those names, as far as they are known.
    var namedStates: [(name: String, state: ReachabilityState)] {
        let names = ["internet"] + configuration.targets.map(\.name)
        return zip(names, named).compactMap { name, watch in watch.series.state.map { (name, $0) } }
    }

    func state(of watch: Watch) -> ReachabilityState? { watch.series.state }

    /// Tells the state of a target once it is determined.
    func look(at target: Target, _ reply: @escaping (ReachabilityState) -> Void) {
        var pending: Watch?
        var isAnswered = false
        let watch = watch(target) { [unowned self] event in
            guard case .change(let change) = event, !isAnswered else { return }
            isAnswered = true
            reply(change.state)
            if let pending { end(pending) }
        }
        if isAnswered { end(watch) } else { pending = watch }
    }

    /// Replaces the engine where the new configuration asks for another, and tells what differs.
    func take(_ fresh: Configuration) {
        let isSameEngine =
            fresh.internet == configuration.internet && fresh.hold == configuration.hold
            && fresh.interfaces == configuration.interfaces
        configuration = fresh
        named.forEach(end)
        if !isSameEngine {
            for watch in watches.values { engine.unwatch(watch.engineID) }
            engine.followPaths(nil)
            engine = ReachabilityEngine(loop: loop, options: fresh.engineOptions)
            connectivity.use(engine)
            engine.followPaths(pathHandler)
            engine.start()
            for watch in watches.values { begin(watch) }
        }
        connectivity.take(fresh.validatorOptions)
        watchNamedTargets()
    }

    /// Something that was sent was not answered as it should be: it is asked at once whether the Internet is still there.
    func noteFailure() { connectivity.doubt() }

    /// Something that was sent was answered, in this family where it is known: an Internet that was not there may be back.
    func noteAnswer(in family: IPAddress.Family?) { connectivity.heardAnswer(in: family) }

    /// What probes have proved about a target; `nil` if none run, and for targets that they do not concern.
    func connectivityReport(on target: Target) -> ConnectivityReport? { connectivity.report(on: target) }

    /// Tells what probes have proved, whenever that differs.
    func whenSurveyed(_ handler: @escaping (ConnectivitySurvey?) -> Void) { connectivity.whenSurveyed = handler }

    private func watchNamedTargets() {
        named = ([.internet] + configuration.targets.map(\.target)).map { target in
            watch(target) { [unowned self] event in
                switch event {
                case .change(let change): whenChanged(change)
                case .wake where target == .internet: connectivity.beginAnew()
                // Everybody is told of it; the Internet is always among them.
                case .resync where target == .internet: resyncs += 1
                default: break
                }
            }
        }
    }

    private func begin(_ watch: Watch) {
        // A target may be asked for by the name that the configuration gives it.
        let target = configuration.target(named: watch.target.description) ?? watch.target
        watch.engineID = engine.watch(target) { [unowned watch] event in
            switch event {
            case .change(let change): watch.take(change)
            case .resync(let moment, let reason): watch.sink(.resync(moment, reason: reason))
            case .wake(let moment, let slept): watch.sink(.wake(moment, slept: slept))
            case .notice: break
            }
        }
    }
}

extension TargetRegistry: QueueNetwork {
    func followPaths(_ handler: (([DefaultPath]?) -> Void)?) {
        pathHandler = handler
        engine.followPaths(handler)
    }

    func watch(_ target: Target, _ handler: @escaping (QueueNetworkEvent) -> Void) -> () -> Void {
        let watch = watch(target) { (event: MonitorEvent) in
            switch event {
            case .change(let change): handler(.state(change.state))
            case .wake: handler(.woke)
            default: break
            }
        }
        return { [weak self] in self?.end(watch) }
    }
}
