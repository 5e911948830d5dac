package import ReachCore
package import ReachLoop

/// Watches targets: queries the kernel for their paths whenever something may have changed, and reports the
/// differences.
///
/// It lives on an event loop's thread, and calls handlers on that thread. It always evaluates the Internet, since the
/// epoch depends on the path to it.
package final class ReachabilityEngine {
    package typealias Handler = (TargetEvent) -> Void

    let loop: EventLoop
    private(set) var options: Options
    private(set) var observer: KernelObserver?
    private var sleepWatch: SleepWatch?
    private let names: NameResolution
    let neighbours: NeighbourWatch
    let networkWatches = NetworkWatches()
    var watches = TargetWatches()
    var routeWatches = RouteWatches()
    var internet = InternetRecord()
    /// The watch of the proxy that stands for the Internet; `nil` without one.
    private var proxyWatch: UInt64?
    /// The results of the connectivity checks; `nil` where none run.
    private var survey: ConnectivitySurvey?
    /// Gives up the states once the kernel could not be observed for a while.
    private(set) lazy var staleTimer = DeadlineTimer(on: loop) { [unowned self] in
        publishUnknown(watches.values, cause: .cannotObserve)
        send(nil)
    }
    /// Looks again, as long as no link carries a tunnel whose far end is not known, whether it receives all the same.
    private(set) lazy var tunnelTimer = DeadlineTimer(on: loop) { [unowned self] in evaluate([]) }
    /// The reason why the kernel cannot be observed; `nil` while it can.
    package internal(set) var observationError: NetlinkError?

    package init(loop: EventLoop, options: Options = Options()) {
        self.loop = loop
        self.options = options
        neighbours = NeighbourWatch(on: loop)
        names = NameResolution(on: loop)
        neighbours.onCheck = { [unowned self] in evaluate([NetworkTable.Effect(cause: .neighbour, interface: nil)]) }
        names.find = { [unowned self] in watches[$0] }
        names.onAnswers = { [unowned self] in evaluateAnswered($0) }
    }

    deinit { for watch in watches.values { cancelTimers(of: watch) } }

    /// Begins to observe the kernel. While that fails, all states are unknown.
    package func start() {
        sleepWatch = try? SleepWatch(on: loop) { [unowned self] slept in
            sendToAll(.wake(SystemClock.now, slept: slept))
            observer?.refresh(because: .wake)
        }
        followProxy()
        observe(because: .start)
    }

    /// Replaces the options, and observes the kernel from the beginning. Watches stay, and receive the states that
    /// differ, at once and without a hold-down.
    ///
    /// - Parameter cause: The cause of the differences.
    package func apply(_ options: Options, because cause: Cause = .configuration) {
        self.options = options
        for watch in watches.values { watch.machine.apply(options.holdDown) }
        guard observer != nil else { return }
        followProxy()
        resumeObserving()
        internet.expectOtherJudgement()
        observe(because: cause)
    }

    /// Follows the addresses of the proxy, and the routes to them.
    private func followProxy() {
        let old = proxyWatch
        proxyWatch = options.proxy.map { proxy in watch(proxy) { _ in } }
        old.map(unwatch)
    }

    /// The addresses of the proxy, as far as they are known.
    var proxies: [IPAddress] {
        guard let watch = proxyWatch.flatMap({ watches[number: $0] }) else { return [] }
        return watch.onlyAddress.map { [$0] } ?? watch.name.addresses
    }

    /// Finds paths in a network.
    func finder(in view: KernelView) -> PathFinder {
        PathFinder(view: view, mark: options.mark, proxies: { [unowned self] in proxies })
    }

    private func observe(because cause: Cause) {
        let observer = KernelObserver(loop: loop, options: options.observer) { [unowned self] event in handle(event) }
        self.observer = observer
        updateTargets()
        do throws(NetlinkError) {
            try observer.start()
            evaluate([NetworkTable.Effect(cause: cause, interface: nil)])
            // Now, so that the first loss does not wait for it.
            for family in IPAddress.Family.allCases { _ = try? observer.view?.throwRoutes(family) }
        } catch {
            observationError = error
            publishUnknown(watches.values, cause: cause)
            send(nil)
        }
    }

    /// The reason why routers' advertisements, which name networks, cannot be read; `nil` if they can, or are not
    /// needed.
    package var listeningError: SystemError? { observer?.listeningError }

    /// Calls `handler` with the target's state once it is determined, and with every later change.
    ///
    /// - Parameters:
    ///   - owner: The user of the watch; `nil` for this program. One user's names do not keep another's from being
    ///     resolved.
    ///   - condition: The paths that count; `nil` for the kernel's own choice. With a condition, states list the
    ///     available interfaces, which costs lookups for each link that the kernel does not prefer.
    /// - Returns: The number of the watch, for ``unwatch(_:)``.
    package func watch(
        _ target: Target, for owner: UInt32? = nil, where condition: NetworkCondition? = nil,
        _ handler: @escaping Handler
    ) -> UInt64 {
        let id = watches.newNumber()
        let now = SystemClock.now
        let key = WatchKey(target: target, condition: condition)
        if let watch = watches[key] {
            watches.add(id, to: watch)
            watch.addOwner(owner)
            watch.add(id, at: now, handler)
            return id
        }
        let watch = WatchedTarget(
            target: target, condition: condition, owner: owner, holdDown: options.holdDown, at: now)
        watches.add(id, to: watch)
        if let survey { _ = watch.machine.setConnectivity(survey.report(on: target), cause: .probe, at: now) }
        watch.add(id, at: now, handler)
        if !watches.isTogether { updateTargets() }
        if case .name = target.subject {
            names.resolve(watch)
            watch.nameTimer = loop.schedule(at: now.boot + options.namePatience) { [unowned self, weak watch] in
                guard let watch else { return }
                watch.nameTimer = nil
                publishUnresolved(watch)
            }
        }
        if !watches.isTogether { begin([watch]) }
        return id
    }

    /// Runs `body`, which begins and ends watches. The kernel is asked about all new targets together, after `body`
    /// returns. Not to be called from a handler.
    package func watchTogether(_ body: () -> Void) {
        watches.beginTogether()
        body()
        let begun = watches.endTogether()
        updateTargets()
        if !begun.isEmpty { begin(begun) }
    }

    private func begin(_ targets: [WatchedTarget]) {
        // The others keep their states, which are only stale for a while.
        guard observationError == nil else { return publishUnknown(targets, cause: .start) }
        observer?.readCollected()
        // The other targets were evaluated at the last change.
        if internet.verdict == nil { evaluate([]) } else { evaluate(only: targets) }
    }

    /// Ends a watch. Its handler is not called again.
    package func unwatch(_ id: UInt64) {
        networkWatches.remove(id)
        if neighbours.removeAsker(id) { return neighbours.ask(in: observer?.view) }
        if routeWatches.remove(id) { return updateTargets() }
        guard let watch = watches.remove(id) else { return }
        cancelTimers(of: watch)
        names.cancel(for: watch)
        if !watches.isTogether { updateTargets() }
    }

    // MARK: - Names

    /// The resolver's last answer to a watched name; `nil` before the first, and for other targets.
    package func nameAnswer(of id: UInt64) -> NameAnswer? { watches[number: id]?.name.answer }

    /// Resolves the names of all targets again, since the path to name servers may be another one.
    func resolveNames() { watches.values.forEach(names.resolve) }

    /// Evaluates together all targets whose names were just resolved.
    private func evaluateAnswered(_ watches: [WatchedTarget]) {
        updateTargets()
        guard observationError == nil else { return }
        let effects = [NetworkTable.Effect(cause: .name, interface: nil)]
        // What the proxy's name means decides about the Internet.
        let proxy = proxyWatch.flatMap { self.watches[number: $0] }
        let concernsAll = watches.contains { $0 === proxy }
        if concernsAll { evaluate(effects) } else { evaluate(only: watches, after: effects) }
    }

    /// Publishes that a name has not been resolved in time.
    private func publishUnresolved(_ watch: WatchedTarget) {
        var verdict = Verdict(.unknown, reason: .nameNotResolved)
        if let view = observer?.view, let internet = internet.verdict {
            let reader = RootCauseReader(view: view, options: options)
            verdict.rootCause = try? rootCause(of: verdict, for: watch, internet, reader)
        }
        publish(verdict, for: watch, fallback: .start, at: SystemClock.now)
    }

    func updateTargets() {
        // From now on the filter drops notices about addresses that are no longer watched.
        routeWatches.noteChange()
        var addresses = Set(options.anchors)
        addresses.formUnion(routeWatches.addresses)
        for watch in watches.values { watch.addAddresses(to: &addresses) }
        // The routes to these decide what carries the tunnels.
        addresses.formUnion(observer?.view?.tunnels.farEnds ?? [])
        observer?.watch(targets: addresses)
        noteSupport()
    }

    private func cancelTimers(of watch: WatchedTarget) {
        [watch.holdTimer, watch.nameTimer].compactMap { $0 }.forEach(loop.cancel)
    }

    // MARK: - Connectivity

    /// Applies the results of connectivity checks, and reports the changes to the handlers of the targets concerned.
    ///
    /// - Parameter results: The new results; `nil` if no checks run any more.
    package func setConnectivity(_ results: ConnectivitySurvey?) {
        guard results != survey else { return }
        survey = results
        let now = SystemClock.now
        for watch in watches.values {
            let report = results?.report(on: watch.target)
            if let change = watch.machine.setConnectivity(report, cause: .probe, at: now) {
                watch.send(.change(change))
            }
        }
    }

    /// While the watch lasts, asks the neighbours of paths that failed to answer again: their entries stay failed until
    /// a packet is sent to them. Without such a watch nothing is sent.
    ///
    /// - Returns: The number of the watch, for ``unwatch(_:)``.
    package func askNeighbours() -> UInt64 {
        let id = watches.newNumber()
        neighbours.addAsker(id)
        neighbours.ask(in: observer?.view)
        return id
    }

    // MARK: - The networks behind links

    /// Applies what is known of links' leases, and evaluates all targets again if it differs.
    package func setLeases(_ findings: LeaseFindings) {
        guard findings != options.leases else { return }
        options.leases = findings
        if observer?.view != nil, observationError == nil { evaluate([NetworkTable.Effect(cause: .network)]) }
    }
}
