package import ReachCore
package import ReachLoop

/// Watches targets: queries the kernel for their paths whenever something may have changed, and reports the differences.
///
/// It lives on an event loop's thread, and calls handlers on that thread. It always evaluates the Internet, since the
/// epoch depends on the path to it.
package final class ReachabilityEngine {
    package typealias Handler = (TargetEvent) -> Void
    package typealias NetworkHandler = (NetworkSnapshot?) -> Void

    let loop: EventLoop
    let options: EngineOptions
    private let resolver = SystemResolver()
    private(set) var observer: KernelObserver?
    private var sleepWatch: SleepWatch?
    private(set) var watches: [WatchKey: WatchedTarget] = [:]
    /// The target of each watch, by the watch's number.
    private var watched: [UInt64: WatchedTarget] = [:]
    var lastID: UInt64 = 0
    private var epoch = EpochCounter()
    /// The last verdict on the Internet; `nil` before the first.
    private(set) var internet: Verdict?
    /// The links that carried the Internet before it was lost.
    var internetMemory = PathMemory()
    /// The results of the connectivity checks; `nil` where none run.
    private var survey: ConnectivitySurvey?
    /// Called with every new snapshot of the network.
    private var networkHandlers: [(id: UInt64, handler: NetworkHandler)] = []
    /// What is known of the leases of links; `nil` where no one reads leases.
    private var leases: LeaseFindings?
    /// The gateways of the default routes that identify networks.
    private var gateways: Set<Neighbour.Key> = []
    /// The last snapshot; `nil` before the first, while the kernel cannot be observed, and without handlers.
    private(set) var network: NetworkSnapshot?
    /// The links that carry paths; the inner `nil` if every link counts, the outer one until they are found after an
    /// evaluation.
    private var carryingLinks: Set<InterfaceIndex>??
    /// Called when routes to some addresses may differ.
    var routeWatches: [UInt64: RouteWatch] = [:]
    /// Increases before a change is evaluated: see ``reportsRoutes(to:)``. It begins with the time, so that an engine
    /// that replaces another never repeats one of its versions.
    package private(set) var routesVersion = UInt64(SystemClock.boot.nanoseconds)
    /// The watches of ``askNeighbours()``.
    private var neighbourAskers: Set<UInt64> = []
    private lazy var inquiry = NeighbourInquiry(on: loop)
    private var neighbourTimer: TimerQueue.ID?
    private var neighbourDeadline: BootTime?
    /// The neighbours on which the paths depended at the last evaluation, and those of targets watched since.
    var neighbours: Set<Neighbour.Key> = []
    /// Those of them that pass packets on.
    var routers: Set<Neighbour.Key> = []
    /// The targets that are evaluated in parts, as far as they wait for it.
    var postponed: PostponedTargets?
    /// The targets that ``watchTogether(_:)`` has still to evaluate; `nil` outside of it.
    private var unevaluated: [WatchedTarget]?
    /// Targets whose names were resolved in this turn of the loop.
    private var answered: [WatchedTarget] = []
    private var staleTimer: TimerQueue.ID?
    let loopReference = LoopReference<ReachabilityEngine>()
    /// The reason why the kernel cannot be observed; `nil` while it can.
    package private(set) var observationError: NetlinkError?

    package init(loop: EventLoop, options: EngineOptions = EngineOptions()) {
        self.loop = loop
        self.options = options
        leases = options.leases
        loopReference.owner = self
    }

    deinit {
        loopReference.owner = nil
        for watch in watches.values { cancelTimers(of: watch) }
        [neighbourTimer, staleTimer].compactMap { $0 }.forEach(loop.cancel)
    }

    /// Begins to observe the kernel. While that fails, all states are unknown.
    package func start() {
        let observer = KernelObserver(loop: loop, options: options.observer) { [unowned self] event in handle(event) }
        self.observer = observer
        observer.carryingLinks = { [unowned self] in
            if let carryingLinks { return carryingLinks }
            let links = findCarryingLinks()
            carryingLinks = .some(links)
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
            publishUnknown(cause: .start)
        }
    }

    /// The size of the receive buffer (SO_RCVBUF) of the socket for notices; `nil` while there is none.
    package var receiveBufferBytes: Int? { observer?.receiveBufferBytes }

    /// Why the advertisements of routers, by which networks are named, cannot be read; `nil` if they can, or if none are needed.
    package var listeningError: SystemError? { observer?.listeningError }

    /// Calls `handler` with the target's state once it is determined, and with every later change.
    ///
    /// - Parameters:
    ///   - owner: The user who wants to know, so that one user's names do not keep another's from being resolved; `nil` for
    ///     this program.
    ///   - condition: The paths that count; then the states have a list of the available interfaces, which costs lookups for
    ///     each link that the kernel does not prefer. `nil` for the kernel's own choice, without a list.
    ///   - isPatient: Whether it may hear of a change after the others: see ``postpone(_:after:_:)``.
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
            if !isPatient { watch.isPatient = false }
            watch.add(id, at: now, handler)
            return id
        }
        let watch = WatchedTarget(
            target: target, condition: condition, owner: owner, holdDown: options.holdDown, at: now)
        watch.isPatient = isPatient
        watches[key] = watch
        watched[id] = watch
        if let survey { _ = watch.machine.setConnectivity(survey.report(on: target), cause: .probe, at: now) }
        watch.add(id, at: now, handler)
        if unevaluated == nil { updateTargets() }
        if case .name(let name) = target.subject {
            resolve(name, for: watch)
            watch.nameTimer = loop.schedule(at: now.boot + options.namePatience) { [unowned self, weak watch] in
                guard let watch else { return }
                watch.nameTimer = nil
                publishUnresolved(watch)
            }
        }
        if unevaluated != nil { unevaluated?.append(watch) } else { begin([watch]) }
        return id
    }

    /// Begins and ends the watches that `body` makes and ends as one: the kernel is asked about their targets together, once `body`
    /// returns. Not within a handler's call.
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
        guard observationError == nil else { return publishUnknown(cause: .start) }
        // The other targets were evaluated at the last change.
        if internet == nil { evaluate([]) } else { evaluate(only: fresh) }
    }

    /// Ends a watch. Its handler is not called again.
    package func unwatch(_ id: UInt64) {
        networkHandlers.removeAll { $0.id == id }
        if networkHandlers.isEmpty { network = nil }
        if neighbourAskers.remove(id) != nil { return updateInquiry() }
        if routeWatches.removeValue(forKey: id) != nil { return updateTargets() }
        guard let watch = watched.removeValue(forKey: id), watch.remove(id), !watch.isWatched else { return }
        cancelTimers(of: watch)
        watches[watch.key] = nil
        if unevaluated == nil { updateTargets() }
    }

    // MARK: - Connectivity and the network

    /// Applies the results of connectivity checks, and reports the changes to the handlers of the targets concerned.
    ///
    /// - Parameter fresh: `nil` where none run any more.
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

    /// Calls `handler` with every new snapshot of the network, and at once with the current one if there is one; with `nil`
    /// while the kernel cannot be observed. The handler may call ``setConnectivity(_:)``, and must not release the engine.
    ///
    /// Without handlers no snapshot is made, since each link that the kernel does not prefer costs lookups.
    ///
    /// - Returns: The number of the watch, for ``unwatch(_:)``.
    package func watchNetwork(_ handler: @escaping NetworkHandler) -> UInt64 {
        lastID += 1
        networkHandlers.append((lastID, handler))
        let id = lastID
        // Before the first evaluation the network is not known yet: nothing is reported, not even `nil`.
        if observationError != nil {
            handler(nil)
        } else if let network {
            handler(network)
        } else {
            publishNetwork()
        }
        return id
    }

    /// While the watch lasts, asks the neighbours of paths that failed to answer again: their entries stay failed until
    /// a packet is sent to them. Without such a watch nothing is sent.
    ///
    /// - Returns: The number of the watch, for ``unwatch(_:)``.
    package func askNeighbours() -> UInt64 {
        lastID += 1
        neighbourAskers.insert(lastID)
        updateInquiry()
        return lastID
    }

    private func updateInquiry() {
        let isWanted = !neighbourAskers.isEmpty
        guard isWanted || !inquiry.isIdle else { return }
        var failed: [Neighbour.Key: String] = [:]
        if let table = observer?.view?.table {
            for key in neighbours where table.neighbours[key] == .failed {
                guard let link = table.links[key.interface], link.isUsable else { continue }
                failed[key] = link.name
            }
        }
        inquiry.update(failed, routers: routers, isWanted: isWanted)
    }

    /// Makes a snapshot from the last verdict, and publishes it if it differs from the one before.
    private func publishNetwork() {
        guard !networkHandlers.isEmpty, let view = observer?.view, let internet else { return }
        do throws(NetlinkError) {
            let finder = PathFinder(view: view, mark: options.mark)
            let routes = try finder.defaultRoutes(preferred: internet, anchors: options.anchors)
            let isMore = try view.noteGateways(of: routes)
            let forgotten = view.forgetGateways(besides: routes)
            if isMore || mayCarry(forgotten, routes) { return evaluate([NetworkTable.Effect(cause: .network)]) }
            // Nothing that was evaluated depends on what was forgotten.
            if !forgotten.isEmpty { _ = view.takeIdentityChange() }
            send(
                NetworkSnapshot(
                    internet: internet, epoch: epoch.value, routes: routes, links: finder.connectedLinks,
                    ownAddresses: view.table.globalAddresses))
            track(routes)
        } catch {
            observer?.recover(from: error)
        }
    }

    /// Tracks the gateways of all default routes if they identify networks. The evaluated paths have only the gateways
    /// of routes that the kernel prefers.
    private func track(_ routes: [DefaultRoute]) {
        guard options.observer.policy.networks.identifiesNetworks else { return }
        let fresh = Set(
            routes.compactMap { route in
                route.neighbour == nil
                    ? nil : route.gateway.map { Neighbour.Key(interface: route.key.interface, address: $0) }
            })
        guard fresh != gateways else { return }
        gateways = fresh
        observer?.trackNeighbours(neighbours.union(fresh))
    }

    private func send(_ fresh: NetworkSnapshot?) {
        guard fresh == nil || fresh != network else { return }
        network = fresh
        carryingLinks = nil
        for (id, handler) in networkHandlers where networkHandlers.contains(where: { $0.id == id }) { handler(fresh) }
    }

    // MARK: - The networks behind links

    /// - Parameter fresh: What is known of the leases of links.
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
        carryingLinks = nil
        for watch in watches.values { watch.machine.becomeStale() }
        staleTimer = loop.schedule(at: SystemClock.boot + options.stalePatience) { [unowned self] in
            staleTimer = nil
            publishUnknown(cause: .cannotObserve)
        }
    }

    private func publishUnknown(cause: Cause) {
        for watch in watches.values {
            publish(Verdict(.unknown, reason: .cannotObserve), for: watch, fallback: cause)
        }
        send(nil)
    }

    private func sendToAll(_ event: TargetEvent) {
        for watch in watches.values { watch.send(event) }
    }

    // MARK: - Verdicts

    /// Queries the paths of every watched target again, and reports the changes.
    private func evaluate(_ effects: [NetworkTable.Effect]) {
        routesVersion += 1
        carryingLinks = nil
        defer { carryingLinks = nil }
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
            let isLess = networkHandlers.isEmpty && !view.forgetGateways(besides: preferred).isEmpty
            if isMore || isLess {
                internet = try finder.internet(anchors: options.anchors, known: known)
                // All targets follow, so nothing is left for the next evaluation.
                _ = view.takeIdentityChange()
            }
            if internet.status != .reachable, let known { internetMemory.remember(known.ipv4, known.ipv6) }
            self.internet = internet
            let isNewEpoch = epoch.count(internet)
            let later = patientTargets
            let first = later.isEmpty ? Array(watches.values) : watches.values.filter { !$0.isPatient }
            try publishVerdicts(on: first, internet: internet, effects, &finder)
            scheduleNeighbourCheck(at: finder.nextNeighbourCheck)
            if isNewEpoch { resolveAll() }
            if later.isEmpty {
                (neighbours, routers) = (finder.neighbours, finder.routers)
            } else {
                postpone(later, after: effects, finder)
            }
            observer.trackNeighbours(neighbours.union(gateways))
            updateInquiry()
        } catch {
            return observer.recover(from: error)
        }
        publishNetwork()
        announceRoutes(after: effects)
    }

    /// Evaluates some targets, by the last verdict on the Internet: those that were not watched before, or that can wait.
    ///
    /// - Returns: The finder that was used; `nil` if the kernel could not be asked.
    @discardableResult
    func evaluate(only some: [WatchedTarget], after effects: [NetworkTable.Effect] = []) -> PathFinder? {
        guard let observer, let view = observer.view, let internet else { return nil }
        carryingLinks = nil
        do throws(NetlinkError) {
            var finder = PathFinder(view: view, mark: options.mark)
            try publishVerdicts(on: some, internet: internet, effects, &finder)
            if let check = finder.nextNeighbourCheck {
                scheduleNeighbourCheck(at: neighbourDeadline.map { min($0, check) } ?? check)
            }
            neighbours.formUnion(finder.neighbours)
            routers.formUnion(finder.routers)
            observer.trackNeighbours(neighbours.union(gateways))
            updateInquiry()
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
            let found = address == nil ? try verdict(for: watch, internet: ofInternet, &finder) : shared.next()
            guard var verdict = found else { continue }
            if verdict.verdict.status != .reachable {
                verdict = try addRootCause(to: verdict, for: watch, internet, &causes)
            }
            publish(verdict, for: watch, effects: effects, fallback: .poll, &transitions)
        }
    }

    /// - Returns: `nil` while the target's name is being resolved for the first time.
    private func verdict(
        for watch: WatchedTarget, internet: SharedVerdict, _ finder: inout PathFinder
    ) throws(NetlinkError) -> SharedVerdict? {
        if watch.target == .internet, watch.condition == nil { return internet }
        guard let own = try ownVerdict(for: watch, internet: internet.verdict, &finder) else { return nil }
        guard let condition = watch.condition else { return SharedVerdict(own) }
        return SharedVerdict(
            try finder.choose(
                own, on: watch.target.subject, internet: internet.verdict, names: watch.name.addresses,
                anchors: options.anchors, where: condition))
    }

    private func ownVerdict(
        for watch: WatchedTarget, internet: Verdict, _ finder: inout PathFinder
    ) throws(NetlinkError) -> Verdict? {
        switch watch.target.subject {
        case .internet: return internet
        case .name:
            if !watch.name.addresses.isEmpty { return try finder.anyOf(watch.name.addresses) }
            switch watch.name.answer {
            case .noAddress: return Verdict(.notReachable, reason: .nameNotResolved)
            case .notAsked, .addresses: return Verdict(.unknown, reason: .nameNotResolved)
            case nil: return nil
            }
        case let subject: return try finder.verdict(on: subject, anchors: options.anchors)
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
        carryingLinks = nil
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
            carryingLinks = nil
            if let change = watch.machine.timeReached(at: SystemClock.now) { watch.send(.change(change)) }
            scheduleHold(for: watch)
        }
    }

    private func scheduleNeighbourCheck(at deadline: BootTime?) {
        neighbourTimer.map(loop.cancel)
        neighbourDeadline = deadline
        neighbourTimer = deadline.map { deadline in
            loop.schedule(at: deadline) { [unowned self] in
                neighbourTimer = nil
                neighbourDeadline = nil
                evaluate([NetworkTable.Effect(cause: .neighbour, interface: nil)])
            }
        }
    }

    // MARK: - Names

    private func resolveAll() {
        for watch in watches.values {
            if case .name(let name) = watch.target.subject { resolve(name, for: watch) }
        }
    }

    private func resolve(_ name: String, for watch: WatchedTarget) {
        guard watch.name.shouldAsk() else { return }
        let key = watch.key
        let reference = loopReference
        let mailbox = loop.mailbox
        resolver.resolve(name, for: watch.owner) { answer in
            mailbox.post { _ in reference.owner?.handle(answer, for: key) }
        }
    }

    private func handle(_ answer: NameAnswer, for key: WatchKey) {
        guard let watch = watches[key], case .name(let name) = key.target.subject else { return }
        let wait = watch.name.take(answer)
        watch.nameTimer.map(loop.cancel)
        watch.nameTimer = loop.schedule(at: SystemClock.boot + wait) { [unowned self, weak watch] in
            guard let watch else { return }
            watch.nameTimer = nil
            resolve(name, for: watch)
        }
        answered.append(watch)
        if answered.count == 1 { loop.afterEvents { [loopReference] in loopReference.owner?.evaluateAnswered() } }
    }

    /// Evaluates the targets whose names were resolved, those of several answers together.
    private func evaluateAnswered() {
        let watches = answered
        answered = []
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
        for watch in watches.values {
            switch watch.target.subject {
            case .address(let address, _): addresses.insert(address)
            case .prefix(let prefix): addresses.insert(prefix.representative)
            case .name: addresses.formUnion(watch.name.addresses)
            case .internet, .interface: break
            }
        }
        observer?.watch(targets: addresses)
    }

    private func cancelTimers(of watch: WatchedTarget) {
        [watch.holdTimer, watch.nameTimer].compactMap { $0 }.forEach(loop.cancel)
    }
}
