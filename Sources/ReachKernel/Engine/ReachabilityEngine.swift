package import ReachCore
package import ReachLoop

/// Watches targets: queries the kernel for their paths whenever something may have changed, and reports the differences.
///
/// It lives on an event loop's thread, and calls handlers on that thread. It always evaluates the Internet, since the
/// epoch depends on the path to it.
package final class ReachabilityEngine {
    package typealias Handler = (TargetEvent) -> Void
    package typealias NetworkHandler = (NetworkSnapshot?) -> Void

    private let loop: EventLoop
    let options: EngineOptions
    private let resolver = SystemResolver()
    private(set) var observer: KernelObserver?
    private var sleepWatch: SleepWatch?
    private(set) var watches: [WatchKey: WatchedTarget] = [:]
    var lastID: UInt64 = 0
    private var epoch = EpochCounter()
    /// The last verdict on the Internet; `nil` before the first.
    private(set) var internet: Verdict?
    /// The links that carried the Internet before it was lost.
    var internetMemory = PathMemory()
    /// The results of probes; `nil` where none run.
    private var survey: ConnectivitySurvey?
    /// Called with every new snapshot of the network.
    private var networkHandlers: [(id: UInt64, handler: NetworkHandler)] = []
    /// The last snapshot; `nil` before the first, while the kernel cannot be observed, and without handlers.
    private var network: NetworkSnapshot?
    /// Called when routes to some addresses may differ.
    var routeWatches: [UInt64: RouteWatch] = [:]
    private var neighbourTimer: TimerQueue.ID?
    private var staleTimer: TimerQueue.ID?
    private let loopReference = LoopReference<ReachabilityEngine>()
    /// The reason why the kernel cannot be observed; `nil` while it can.
    package private(set) var observationError: NetlinkError?

    package init(loop: EventLoop, options: EngineOptions = EngineOptions()) {
        self.loop = loop
        self.options = options
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

    /// Calls `handler` with the target's state once it is determined, and with every later change.
    ///
    /// - Parameters:
    ///   - owner: The user who wants to know, so that one user's names do not keep another's from being resolved; `nil` for
    ///     this program.
    ///   - condition: The paths that count; then the states have a list of the available interfaces, which costs lookups for
    ///     each link that the kernel does not prefer. `nil` for the kernel's own choice, without a list.
    /// - Returns: The number of the watch, for ``unwatch(_:)``.
    package func watch(
        _ target: Target, for owner: UInt32? = nil, where condition: NetworkCondition? = nil,
        _ handler: @escaping Handler
    ) -> UInt64 {
        lastID += 1
        let id = lastID
        let now = SystemClock.now
        let key = WatchKey(target: target, condition: condition)
        if let watch = watches[key] {
            watch.addOwner(owner)
            watch.add(id, at: now, handler)
            return id
        }
        let watch = WatchedTarget(
            target: target, condition: condition, owner: owner, holdDown: options.holdDown, at: now)
        watches[key] = watch
        if let survey { _ = watch.machine.setConnectivity(survey.report(on: target), cause: .probe, at: now) }
        watch.add(id, at: now, handler)
        updateTargets()
        if case .name(let name) = target.subject {
            resolve(name, for: watch)
            watch.nameTimer = loop.schedule(at: now.boot + options.namePatience) { [unowned self, weak watch] in
                guard let watch else { return }
                watch.nameTimer = nil
                publishUnresolved(watch)
            }
        }
        if observationError == nil { evaluate([]) } else { publishUnknown(cause: .start) }
        return id
    }

    /// Ends a watch. Its handler is not called again.
    package func unwatch(_ id: UInt64) {
        networkHandlers.removeAll { $0.id == id }
        if networkHandlers.isEmpty { network = nil }
        if routeWatches.removeValue(forKey: id) != nil { return updateTargets() }
        guard let watch = watches.values.first(where: { $0.remove(id) }), !watch.isWatched else { return }
        cancelTimers(of: watch)
        watches[watch.key] = nil
        updateTargets()
    }

    // MARK: - Probes and the network

    /// Applies the results of probes, and reports the changes to the handlers of the targets concerned.
    ///
    /// - Parameter fresh: `nil` where probes no longer run.
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
        // Before the first evaluation there is nothing to report, which differs from an unobservable kernel.
        if observationError != nil {
            handler(nil)
        } else if let network {
            handler(network)
        } else {
            publishNetwork()
        }
        return id
    }

    /// Makes a snapshot from the last verdict, and publishes it if it differs from the one before.
    private func publishNetwork() {
        guard !networkHandlers.isEmpty, let view = observer?.view, let internet else { return }
        do throws(NetlinkError) {
            let finder = PathFinder(view: view, mark: options.mark)
            let routes = try finder.defaultRoutes(preferred: internet, anchors: options.anchors)
            // The gateway of a preferred route is known already, and that of another one when its route is made.
            _ = view.takeIdentityChange()
            send(
                NetworkSnapshot(internet: internet, epoch: epoch.value, routes: routes, links: finder.connectedLinks))
        } catch {
            observer?.recover(from: error)
        }
    }

    private func send(_ fresh: NetworkSnapshot?) {
        guard fresh == nil || fresh != network else { return }
        network = fresh
        for (id, handler) in networkHandlers where networkHandlers.contains(where: { $0.id == id }) { handler(fresh) }
    }

    // MARK: - The networks behind links

    /// - Parameter interfaces: The links whose DHCP server is an Android phone that shares its mobile connection.
    package func setHotspots(_ interfaces: Set<InterfaceIndex>) {
        guard let view = observer?.view, view.setHotspots(interfaces), observationError == nil else { return }
        evaluate([NetworkTable.Effect(cause: .network, interface: interfaces.first)])
    }

    // MARK: - The kernel's events

    private func handle(_ event: KernelObserver.Event) {
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
        for watch in watches.values { watch.machine.becomeStale() }
        staleTimer = loop.schedule(at: SystemClock.boot + options.stalePatience) { [unowned self] in
            staleTimer = nil
            publishUnknown(cause: .cannotObserve)
        }
    }

    private func publishUnknown(cause: Cause) {
        for watch in watches.values {
            publish(Verdict(.unknown, reason: .cannotObserve), for: watch, effects: [], fallback: cause)
        }
        send(nil)
    }

    private func sendToAll(_ event: TargetEvent) {
        for watch in watches.values { watch.send(event) }
    }

    // MARK: - Verdicts

    /// Queries the paths of every watched target again, and reports the changes.
    private func evaluate(_ effects: [NetworkTable.Effect]) {
        guard let observer, let view = observer.view else { return }
        do throws(NetlinkError) {
            var finder = PathFinder(view: view, mark: options.mark)
            // A network concerns both families.
            let family = view.takeIdentityChange() ? nil : NetworkTable.Effect.onlyFamily(of: effects)
            let known = self.internet
            var internet = try finder.internet(anchors: options.anchors, only: family, known: known)
            if try view.noteGateways(of: internet) {
                internet = try finder.internet(anchors: options.anchors, known: known)
            }
            if internet.status != .reachable, let known { internetMemory.remember(known.ipv4, known.ipv6) }
            self.internet = internet
            var causes: RootCauseReader?
            let isNewEpoch = epoch.count(internet)
            for watch in watches.values {
                guard var verdict = try verdict(for: watch, internet: internet, &finder) else { continue }
                if let condition = watch.condition {
                    verdict = try finder.choose(
                        verdict, on: watch.target.subject, internet: internet, names: watch.name.addresses,
                        anchors: options.anchors,
                        where: condition)
                }
                if verdict.status != .reachable {
                    let reader = causes ?? RootCauseReader(view: view, options: options)
                    causes = reader
                    verdict.rootCause = try rootCause(of: verdict, for: watch, internet, reader)
                }
                publish(verdict, for: watch, effects: effects, fallback: .poll)
            }
            scheduleNeighbourCheck(at: finder.nextNeighbourCheck)
            if isNewEpoch { resolveAll() }
            observer.trackNeighbours(finder.neighbours)
        } catch {
            return observer.recover(from: error)
        }
        publishNetwork()
        announceRoutes(after: effects)
    }

    /// - Returns: `nil` while the target's name is being resolved for the first time.
    private func verdict(
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

    private func publish(
        _ verdict: Verdict, for watch: WatchedTarget, effects: [NetworkTable.Effect], fallback: Cause
    ) {
        guard watch.isWatched else { return }
        // Reads the stored parts one by one, since every change comes through here, and `state` as a whole would be copied.
        var touched = [
            watch.machine.state.ipv4.interfaceIndex, watch.machine.state.ipv6.interfaceIndex,
            verdict.ipv4.interfaceIndex, verdict.ipv6.interfaceIndex,
        ].compactMap { $0 }
        if watch.condition != nil {
            touched += (watch.machine.state.availableInterfaces + verdict.available).map(\.index)
        }
        let cause = Cause.weightiest(of: effects, touching: touched) ?? fallback
        let change = watch.machine.observe(verdict, cause: cause, epoch: epoch.value, at: SystemClock.now)
        if let change { watch.send(.change(change)) }
        scheduleHold(for: watch)
    }

    private func scheduleHold(for watch: WatchedTarget) {
        watch.holdTimer.map(loop.cancel)
        watch.holdTimer = nil
        guard watch.machine.state.isHeld, let deadline = watch.machine.deadline else { return }
        watch.holdTimer = loop.schedule(at: deadline) { [unowned self, weak watch] in
            guard let watch else { return }
            watch.holdTimer = nil
            if let change = watch.machine.timeReached(at: SystemClock.now) { watch.send(.change(change)) }
            scheduleHold(for: watch)
        }
    }

    private func scheduleNeighbourCheck(at deadline: BootTime?) {
        neighbourTimer.map(loop.cancel)
        neighbourTimer = deadline.map { deadline in
            loop.schedule(at: deadline) { [unowned self] in
                neighbourTimer = nil
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
        updateTargets()
        if observationError == nil { evaluate([NetworkTable.Effect(cause: .name, interface: nil)]) }
    }

    /// Publishes that a name has not been resolved in time.
    private func publishUnresolved(_ watch: WatchedTarget) {
        var verdict = Verdict(.unknown, reason: .nameNotResolved)
        if let view = observer?.view, let internet {
            let reader = RootCauseReader(view: view, options: options)
            verdict.rootCause = try? rootCause(of: verdict, for: watch, internet, reader)
        }
        publish(verdict, for: watch, effects: [], fallback: .start)
    }

    func updateTargets() {
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
