package import ReachCore
package import ReachLoop

/// Watches targets: queries the kernel for their paths whenever something may have changed, and reports the differences.
///
/// It lives on an event loop's thread, and calls handlers on that thread. It always evaluates the Internet, since the
/// epoch depends on the path to it.
package final class ReachabilityEngine {
    package typealias Handler = (TargetEvent) -> Void

    let loop: EventLoop
    let options: EngineOptions
    private(set) var observer: KernelObserver?
    private var sleepWatch: SleepWatch?
    private let names: NameResolution
    let neighbours: NeighbourWatch
    let networkWatches = NetworkWatches()
    private(set) var watches: [WatchKey: WatchedTarget] = [:]
    /// The target of each watch, by the watch's number.
    private var watched: [UInt64: WatchedTarget] = [:]
    var lastID: UInt64 = 0
    private(set) var epoch = EpochCounter()
    /// The last verdict on the Internet; `nil` before the first.
    private(set) var internet: Verdict?
    /// The links that carried the Internet before it was lost.
    var internetMemory = PathMemory()
    /// The results of the connectivity checks; `nil` where none run.
    private var survey: ConnectivitySurvey?
    /// What is known of the leases of links; `nil` where no one reads leases.
    private var leases: LeaseFindings?
    /// The links that carry paths, as long as nothing has changed since they were found.
    var carryingLinks = CarryingLinks()
    /// The far ends of tunnels, whose routes decide what carries the tunnels.
    private var tunnelEnds: Set<IPAddress> = []
    /// The watches of routes to some addresses.
    var routeWatches: [UInt64: RouteWatch] = [:]
    /// Increases before a change is evaluated: see ``reportsRoutes(to:)``. It begins with the time, so that an engine
    /// that replaces another never repeats one of its versions.
    package private(set) var routesVersion = UInt64(SystemClock.boot.nanoseconds)
    /// The targets that still wait for their part of an evaluation; `nil` if none do.
    var postponed: PostponedTargets?
    /// The targets that ``watchTogether(_:)`` still has to evaluate; `nil` outside of it.
    private var unevaluated: [WatchedTarget]?
    private var staleTimer: TimerQueue.ID?
    let loopReference = LoopReference<ReachabilityEngine>()
    /// The reason why the kernel cannot be observed; `nil` while it can.
    package private(set) var observationError: NetlinkError?

    package init(loop: EventLoop, options: EngineOptions = EngineOptions()) {
        self.loop = loop
        self.options = options
        leases = options.leases
        neighbours = NeighbourWatch(on: loop)
        names = NameResolution(on: loop)
        loopReference.owner = self
        neighbours.onCheck = { [unowned self] in evaluate([NetworkTable.Effect(cause: .neighbour, interface: nil)]) }
        names.find = { [unowned self] in watches[$0] }
        names.onAnswers = { [unowned self] in evaluateAnswered($0) }
    }

    deinit {
        loopReference.owner = nil
        for watch in watches.values { cancelTimers(of: watch) }
        staleTimer.map(loop.cancel)
    }

    /// Begins to observe the kernel. While that fails, all states are unknown.
    package func start() {
        let observer = KernelObserver(loop: loop, options: options.observer) { [unowned self] event in handle(event) }
        self.observer = observer
        observer.carryingLinks = { [unowned self] in
            if let known = carryingLinks.known { return known }
            let links = findCarryingLinks()
            carryingLinks.note(links)
            return links
        }
        sleepWatch = try? SleepWatch(on: loop) { [unowned self] slept in
            sendToAll(.wake(SystemClock.now, slept: slept))
            self.observer?.refresh(because: .wake)
        }
        updateTargets()
        do throws(NetlinkError) {
            try observer.start()
            evaluate([NetworkTable.Effect(cause: .start, interface: nil)])
        } catch {
            observationError = error
            publishUnknown(watches.values, cause: .start)
            send(nil)
        }
    }

    /// The size of the receive buffer (SO_RCVBUF) of the socket for notices; `nil` while there is none.
    package var receiveBufferBytes: Int? { observer?.receiveBufferBytes }

    /// The reason why routers' advertisements, which name networks, cannot be read; `nil` if they can, or are not needed.
    package var listeningError: SystemError? { observer?.listeningError }

    /// Calls `handler` with the target's state once it is determined, and with every later change.
    ///
    /// - Parameters:
    ///   - owner: The user of the watch; `nil` for this program. One user's names do not keep another's from being resolved.
    ///   - condition: The paths that count; `nil` for the kernel's own choice. With a condition, states list the available interfaces,
    ///     which costs lookups for each link that the kernel does not prefer.
    ///   - isPatient: Whether the watch may receive changes after the others: see ``postpone(_:after:_:)``.
    /// - Returns: The number of the watch, for ``unwatch(_:)``.
    package func watch(
        _ target: Target, for owner: UInt32? = nil, where condition: NetworkCondition? = nil,
        isPatient: Bool = false, _ handler: @escaping Handler
    ) -> UInt64 {
        lastID += 1
        let id = lastID
        let now = SystemClock.now
        let key = WatchKey(target: target, condition: condition)
        if let watch = watches[key] {
            watched[id] = watch
            watch.addOwner(owner)
            watch.add(id, isPatient: isPatient, at: now, handler)
            return id
        }
        let watch = WatchedTarget(
            target: target, condition: condition, owner: owner, holdDown: options.holdDown, at: now)
        watches[key] = watch
        watched[id] = watch
        if let survey { _ = watch.machine.setConnectivity(survey.report(on: target), cause: .probe, at: now) }
        watch.add(id, isPatient: isPatient, at: now, handler)
        if unevaluated == nil { updateTargets() }
        if case .name = target.subject {
            names.resolve(watch)
            watch.nameTimer = loop.schedule(at: now.boot + options.namePatience) { [unowned self, weak watch] in
                guard let watch else { return }
                watch.nameTimer = nil
                publishUnresolved(watch)
            }
        }
        if unevaluated != nil { unevaluated?.append(watch) } else { begin([watch]) }
        return id
    }

    /// Runs `body`, which begins and ends watches. The kernel is asked about all new targets together, after `body` returns. Not to
    /// be called from a handler.
    package func watchTogether(_ body: () -> Void) {
        unevaluated = []
        body()
        let fresh = unevaluated ?? []
        unevaluated = nil
        updateTargets()
        let begun = fresh.filter(\.isWatched)
        if !begun.isEmpty { begin(begun) }
    }

    private func begin(_ fresh: [WatchedTarget]) {
        // The others keep their states, which are only stale for a while.
        guard observationError == nil else { return publishUnknown(fresh, cause: .start) }
        // The other targets were evaluated at the last change.
        if internet == nil { evaluate([]) } else { evaluate(only: fresh) }
    }

    /// Ends a watch. Its handler is not called again.
    package func unwatch(_ id: UInt64) {
        networkWatches.remove(id)
        if neighbours.removeAsker(id) { return neighbours.ask(in: observer?.view) }
        if routeWatches.removeValue(forKey: id) != nil { return updateTargets() }
        guard let watch = watched.removeValue(forKey: id), watch.remove(id), !watch.isWatched else { return }
        cancelTimers(of: watch)
        names.cancel(for: watch)
        watches[watch.key] = nil
        if unevaluated == nil { updateTargets() }
    }

    // MARK: - Connectivity

    /// Applies the results of connectivity checks, and reports the changes to the handlers of the targets concerned.
    ///
    /// - Parameter fresh: The new results; `nil` if no checks run any more.
    package func setConnectivity(_ fresh: ConnectivitySurvey?) {
        guard fresh != survey else { return }
        survey = fresh
        let now = SystemClock.now
        for watch in watches.values {
            let report = fresh?.report(on: watch.target)
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
        lastID += 1
        neighbours.addAsker(lastID)
        neighbours.ask(in: observer?.view)
        return lastID
    }

    // MARK: - The networks behind links

    /// Applies what is known of links' leases, and evaluates all targets again if it differs.
    package func setLeases(_ fresh: LeaseFindings) {
        guard fresh != leases else { return }
        leases = fresh
        if observer?.view != nil, observationError == nil { evaluate([NetworkTable.Effect(cause: .network)]) }
    }

    // MARK: - The kernel's events

    private func handle(_ event: KernelObserver.Event) {
        routesVersion += 1
        switch event {
        case .changed(let effects):
            resumeObserving()
            evaluate(effects)
        case .resynced(let error):
            resumeObserving()
            sendToAll(.resync(SystemClock.now, reason: error.description))
            evaluate([NetworkTable.Effect(cause: .resync, interface: nil)])
        case .unobservable(let error): becomeUnobservable(error)
        case .notice(let notice): sendToAll(.notice(SystemClock.now, notice))
        }
    }

    private func resumeObserving() {
        observationError = nil
        staleTimer.map(loop.cancel)
        staleTimer = nil
    }

    private func becomeUnobservable(_ error: NetlinkError) {
        guard observationError == nil else { return }
        observationError = error
        carryingLinks.forget()
        for watch in watches.values { watch.machine.becomeStale() }
        staleTimer = loop.schedule(at: SystemClock.boot + options.stalePatience) { [unowned self] in
            staleTimer = nil
            publishUnknown(watches.values, cause: .cannotObserve)
            send(nil)
        }
    }

    private func publishUnknown(_ watches: some Sequence<WatchedTarget>, cause: Cause) {
        for watch in watches {
            publish(Verdict(.unknown, reason: .cannotObserve), for: watch, fallback: cause)
        }
    }

    private func sendToAll(_ event: TargetEvent) {
        for watch in watches.values { watch.send(event) }
    }

    // MARK: - Verdicts

    /// Queries the paths of every watched target again, and reports the changes.
    func evaluate(_ effects: [NetworkTable.Effect]) {
        routesVersion += 1
        carryingLinks.forget()
        defer { carryingLinks.forget() }
        guard let observer, let view = observer.view else { return }
        do throws(NetlinkError) {
            var finder = PathFinder(view: view, mark: options.mark)
            _ = view.setLeases(leases)
            // A link's network concerns both families.
            let family = view.takeIdentityChange() ? nil : NetworkTable.Effect.onlyFamily(of: effects)
            let known = self.internet
            var internet = try finder.internet(anchors: options.anchors, only: family, known: known)
            let preferred = internet.preferredRoutes
            let isMore = try view.noteGateways(of: preferred)
            // For watches of the network, publishNetwork() does this, when all default routes are known.
            let isLess = networkWatches.isEmpty && !view.forgetGateways(besides: preferred).isEmpty
            if isMore || isLess {
                internet = try finder.internet(anchors: options.anchors, known: known)
                // All targets are evaluated now, so the next evaluation need not do it for this change.
                _ = view.takeIdentityChange()
            }
            if internet.status != .reachable, let known { internetMemory.remember(known.ipv4, known.ipv6) }
            self.internet = internet
            let isNewEpoch = epoch.count(internet)
            // Last, since it starts threads, but also if the kernel cannot be asked about a target: the next evaluation begins no epoch.
            defer { if isNewEpoch { watches.values.forEach(names.resolve) } }
            let later = patientTargets
            let first = later.isEmpty ? Array(watches.values) : watches.values.filter { !$0.isPatient }
            try publishVerdicts(on: first, internet: internet, effects, &finder)
            neighbours.check(at: finder.nextNeighbourCheck)
            if later.isEmpty {
                neighbours.current = PathNeighbours(finder)
            } else {
                postpone(later, after: effects, finder)
            }
            neighbours.track(through: observer)
            neighbours.ask(in: observer.view)
        } catch {
            return observer.recover(from: error)
        }
        publishNetwork()
        announceRoutes(after: effects)
        if tunnelEnds != view.tunnels.farEnds { updateTargets() }
    }

    /// Evaluates only some targets, with the last verdict on the Internet: new ones, patient ones, or those whose names were resolved.
    ///
    /// - Returns: The finder that was used; `nil` if the kernel could not be asked.
    @discardableResult
    func evaluate(only some: [WatchedTarget], after effects: [NetworkTable.Effect] = []) -> PathFinder? {
        guard let observer, let view = observer.view, let internet else { return nil }
        carryingLinks.forget()
        do throws(NetlinkError) {
            var finder = PathFinder(view: view, mark: options.mark)
            try publishVerdicts(on: some, internet: internet, effects, &finder)
            if let check = finder.nextNeighbourCheck { neighbours.check(atLatest: check) }
            neighbours.current.add(finder)
            neighbours.track(through: observer)
            neighbours.ask(in: observer.view)
            return finder
        } catch {
            observer.recover(from: error)
            return nil
        }
    }

    /// Finds the verdicts on targets, and reports the changes. What several targets share is found once.
    private func publishVerdicts(
        on targets: [WatchedTarget], internet: Verdict, _ effects: [NetworkTable.Effect], _ finder: inout PathFinder
    ) throws(NetlinkError) {
        let alone = targets.map(\.onlyAddress)
        var singles: [SingleAddress] = []
        singles.reserveCapacity(alone.count)
        for (watch, address) in zip(targets, alone) {
            guard let address else { continue }
            let hadNoRoute = watch.machine.latest?.lacksRoute(address.family) ?? false
            singles.append(SingleAddress(address, hadNoRoute: hadNoRoute))
        }
        let addedRoute = effects.count == 1 ? effects[0].addedRoute : nil
        var shared = try finder.verdicts(on: singles, after: addedRoute).makeIterator()
        let ofInternet = SharedVerdict(internet)
        var causes = SharedRootCauses(view: finder.view, options: options)
        var transitions = SharedTransitions(epoch: epoch.value, at: SystemClock.now)
        for (watch, address) in zip(targets, alone) {
            let found =
                address == nil
                ? try finder.verdict(for: watch, internet: ofInternet, anchors: options.anchors) : shared.next()
            guard var verdict = found else { continue }
            if verdict.verdict.status != .reachable {
                verdict = try addRootCause(to: verdict, for: watch, internet, &causes)
            }
            publish(verdict, for: watch, effects: effects, fallback: .poll, &transitions)
        }
    }

    private func publish(_ verdict: Verdict, for watch: WatchedTarget, fallback: Cause) {
        var transitions = SharedTransitions(epoch: epoch.value, at: SystemClock.now)
        publish(SharedVerdict(verdict), for: watch, effects: [], fallback: fallback, &transitions)
    }

    private func publish(
        _ verdict: SharedVerdict, for watch: WatchedTarget, effects: [NetworkTable.Effect], fallback: Cause,
        _ transitions: inout SharedTransitions
    ) {
        guard watch.isWatched else { return }
        carryingLinks.forget()
        let state = watch.machine.state
        let change = transitions.observe(verdict, by: &watch.machine) {
            Self.cause(of: effects, before: state, verdict.verdict) ?? fallback
        }
        if let change { watch.send(.change(change)) }
        scheduleHold(for: watch)
    }

    /// The weightiest of the effects that concern the paths of a target.
    private static func cause(
        of effects: [NetworkTable.Effect], before state: ReachabilityState, _ verdict: Verdict
    ) -> Cause? {
        var touched = [
            state.ipv4.interfaceIndex, state.ipv6.interfaceIndex,
            verdict.ipv4.interfaceIndex, verdict.ipv6.interfaceIndex,
        ].compactMap { $0 }
        // These are empty unless the watch has a condition.
        touched += (state.availableInterfaces + verdict.available).map(\.index)
        return Cause.weightiest(of: effects, touching: touched)
    }

    private func scheduleHold(for watch: WatchedTarget) {
        watch.holdTimer.map(loop.cancel)
        watch.holdTimer = nil
        guard watch.machine.state.isHeld, let deadline = watch.machine.deadline else { return }
        watch.holdTimer = loop.schedule(at: deadline) { [unowned self, weak watch] in
            guard let watch else { return }
            watch.holdTimer = nil
            carryingLinks.forget()
            if let change = watch.machine.timeReached(at: SystemClock.now) { watch.send(.change(change)) }
            scheduleHold(for: watch)
        }
    }

    // MARK: - Names

    /// Evaluates together all targets whose names were just resolved.
    private func evaluateAnswered(_ watches: [WatchedTarget]) {
        updateTargets()
        guard observationError == nil else { return }
        evaluate(only: watches, after: [NetworkTable.Effect(cause: .name, interface: nil)])
    }

    /// Publishes that a name has not been resolved in time.
    private func publishUnresolved(_ watch: WatchedTarget) {
        var verdict = Verdict(.unknown, reason: .nameNotResolved)
        if let view = observer?.view, let internet {
            let reader = RootCauseReader(view: view, options: options)
            verdict.rootCause = try? rootCause(of: verdict, for: watch, internet, reader)
        }
        publish(verdict, for: watch, fallback: .start)
    }

    func updateTargets() {
        // From now on the filter drops notices about addresses that are no longer watched.
        routesVersion += 1
        var addresses = Set(options.anchors)
        for watch in routeWatches.values { addresses.formUnion(watch.addresses) }
        for watch in watches.values { watch.addAddresses(to: &addresses) }
        tunnelEnds = observer?.view?.tunnels.farEnds ?? []
        addresses.formUnion(tunnelEnds)
        observer?.watch(targets: addresses)
    }

    private func cancelTimers(of watch: WatchedTarget) {
        [watch.holdTimer, watch.nameTimer].compactMap { $0 }.forEach(loop.cancel)
    }
}
