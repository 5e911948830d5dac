internal import ReachCore
internal import ReachLoop

/// What the kernel's events lead to.
extension ReachabilityEngine {
    func handle(_ event: KernelObserver.Event) {
        routeWatches.noteChange()
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

    func resumeObserving() {
        observationError = nil
        staleTimer.cancel()
    }

    func becomeUnobservable(_ error: NetlinkError) {
        guard observationError == nil else { return }
        observationError = error
        for watch in watches.values { watch.machine.becomeStale() }
        noteSupport()
        staleTimer.set(to: SystemClock.boot + options.stalePatience)
    }

    func publishUnknown(_ watches: some Sequence<WatchedTarget>, cause: Cause) {
        let now = SystemClock.now
        for watch in watches {
            publish(Verdict(.unknown, reason: .cannotObserve), for: watch, fallback: cause, at: now)
        }
    }

    func sendToAll(_ event: TargetEvent) {
        for watch in watches.values { watch.send(event) }
    }

    // MARK: - Verdicts

    /// Queries the paths of every watched target again, and reports the changes.
    func evaluate(_ effects: [NetworkTable.Effect]) {
        routeWatches.noteChange()
        defer { noteSupport() }
        guard let observer, let view = observer.view else { return }
        do throws(NetlinkError) {
            var finder = finder(in: view)
            let internet = try evaluateInternet(after: effects, in: view, &finder)
            let isNewEpoch = self.internet.note(internet)
            // Last, since it starts threads, but also if the kernel cannot be asked about a target: the next evaluation
            // begins no epoch.
            defer { if isNewEpoch { resolveNames() } }
            try publishVerdicts(on: Array(watches.values), internet: internet, effects, &finder)
            neighbours.check(at: finder.nextNeighbourCheck)
            neighbours.current = PathNeighbours(finder)
            watchNeighboursAndTunnels(of: view, by: observer)
        } catch {
            return observer.recover(from: error)
        }
        publishNetwork()
        announceRoutes(after: effects)
        if !view.tunnels.farEnds.isSubset(of: observer.targets) { updateTargets() }
    }

    private func evaluateInternet(
        after effects: [NetworkTable.Effect], in view: KernelView, _ finder: inout PathFinder
    ) throws(NetlinkError) -> Verdict {
        view.leases = options.leases
        let before = internet.verdict
        let verdict = try finder.internet(
            anchors: options.anchors, only: NetworkTable.Effect.onlyFamily(of: effects), known: before)
        let preferred = verdict.preferredRoutes
        let hasNewGateways = try view.noteGateways(of: preferred)
        // For watches of the network, publishNetwork() does this, when all default routes are known.
        let hasFewerGateways = networkWatches.isEmpty && !view.forgetGateways(besides: preferred).isEmpty
        guard hasNewGateways || hasFewerGateways else { return verdict }
        return try finder.internet(anchors: options.anchors, known: before)
    }

    /// Evaluates only these targets, with the last verdict on the Internet: new ones, or those whose names were
    /// resolved.
    func evaluate(only targets: [WatchedTarget], after effects: [NetworkTable.Effect] = []) {
        guard let observer, let view = observer.view, let internet = internet.verdict else { return }
        defer { noteSupport() }
        do throws(NetlinkError) {
            var finder = finder(in: view)
            try publishVerdicts(on: targets, internet: internet, effects, &finder)
            if let check = finder.nextNeighbourCheck { neighbours.check(atLatest: check) }
            neighbours.current.add(finder)
            watchNeighboursAndTunnels(of: view, by: observer)
        } catch {
            observer.recover(from: error)
        }
    }

    /// Follows what the paths that were found depend on and the kernel does not report by itself.
    private func watchNeighboursAndTunnels(of view: KernelView, by observer: KernelObserver) {
        neighbours.track(through: observer)
        neighbours.ask(in: observer.view)
        tunnelTimer.set(to: view.tunnels.nextCheck)
    }

    /// Finds the verdicts on targets, and reports the changes.
    private func publishVerdicts(
        on targets: [WatchedTarget], internet: Verdict, _ effects: [NetworkTable.Effect], _ finder: inout PathFinder
    ) throws(NetlinkError) {
        let addresses = targets.map(\.onlyAddress)
        let singles = zip(targets, addresses).compactMap { watch, address in
            address.map {
                SingleAddress(
                    $0, hadNoRoute: watch.machine.latest?.lacksRoute($0.family) ?? false, flow: watch.target.flow)
            }
        }
        let addedRoute = effects.count == 1 ? effects[0].addedRoute : nil
        var verdicts = try finder.verdicts(on: singles, after: addedRoute).makeIterator()
        let causes = RootCauseReader(view: finder.view, options: options)
        // One for all, so that what differs in nothing but the target is encoded once.
        let now = SystemClock.now
        for (watch, address) in zip(targets, addresses) {
            let found =
                address == nil
                ? try finder.verdict(for: watch, internet: internet, anchors: options.anchors) : verdicts.next()
            guard var verdict = found else { continue }
            if verdict.status != .reachable {
                verdict.rootCause = try rootCause(of: verdict, for: watch, internet, causes)
            }
            publish(verdict, for: watch, effects: effects, fallback: .poll, at: now)
        }
    }

    func publish(
        _ verdict: Verdict, for watch: WatchedTarget, effects: [NetworkTable.Effect] = [], fallback: Cause,
        at now: Instant
    ) {
        guard watch.isWatched else { return }
        let cause = Self.cause(of: effects, before: watch.machine.state, verdict) ?? fallback
        let change = watch.machine.observe(verdict, cause: cause, epoch: internet.epoch, at: now)
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
        return Cause.weightiest(of: effects, touching: touched, from: state.status, to: verdict.status)
    }

    private func scheduleHold(for watch: WatchedTarget) {
        watch.holdTimer.map(loop.cancel)
        watch.holdTimer = nil
        guard watch.machine.state.isHeld, let deadline = watch.machine.deadline else { return }
        watch.holdTimer = loop.schedule(at: deadline) { [unowned self, weak watch] in
            guard let watch else { return }
            watch.holdTimer = nil
            defer { noteSupport() }
            if let change = watch.machine.timeReached(at: SystemClock.now) { watch.send(.change(change)) }
            scheduleHold(for: watch)
        }
    }
}
