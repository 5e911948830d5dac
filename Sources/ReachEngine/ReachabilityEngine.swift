package import ReachCore
package import ReachLoop
package import ReachNetlink

/// Watches targets: asks the kernel for their paths whenever something may have changed, and tells the differences.
///
/// It lives on an event loop's thread, and handlers are called on that thread. The Internet is always looked at, since
/// its path counts the epoch.
package final class ReachabilityEngine {
    package typealias Handler = (EngineEvent) -> Void

    private let loop: EventLoop
    private let options: EngineOptions
    private let resolver = SystemResolver()
    private var observer: KernelObserver?
    private var sleepWatch: SleepWatch?
    private var watches: [Target: TargetWatch] = [:]
    private var lastID: UInt64 = 0
    private var epoch = EpochCounter()
    /// The last verdict on the Internet; `nil` before the first.
    private var internet: Verdict?
    /// What probes have proved; `nil` where none run.
    private var survey: ConnectivitySurvey?
    /// Told after every look, with the ways by which the Internet may be reached now; `nil` where nobody wants to know.
    private var uplinkHandler: (([Uplink]?) -> Void)?
    /// Told after every look, with all interfaces by which the Internet may be reached.
    private var pathHandler: (([DefaultPath]?) -> Void)?
    private var neighbourTimer: TimerQueue.ID?
    private var staleTimer: TimerQueue.ID?
    /// Why the kernel cannot be observed; `nil` while it can.
    package private(set) var blindness: NetlinkError?

    package init(loop: EventLoop, options: EngineOptions = EngineOptions()) {
        self.loop = loop
        self.options = options
    }

    deinit {
        for watch in watches.values { cancelTimers(of: watch) }
        [neighbourTimer, staleTimer].compactMap { $0 }.forEach(loop.cancel)
    }

    /// Begins to observe. If the kernel cannot be observed, states are unknown until it can.
    package func start() {
        let observer = KernelObserver(loop: loop, options: options.observer) { [unowned self] event in take(event) }
        self.observer = observer
        sleepWatch = try? SleepWatch(on: loop) { [unowned self] slept in
            tellAll(.wake(SystemClock.now, slept: slept))
            self.observer?.refresh(because: .wake)
        }
        updateTargets()
        do throws(NetlinkError) {
            try observer.start()
            evaluate([NetworkTable.Effect(cause: .start, interface: nil)])
        } catch {
            blindness = error
            evaluateBlind(cause: .start)
        }
    }

    /// What SO_RCVBUF of the notices' socket came to; `nil` while there is none.
    package var receiveBufferBytes: Int? { observer?.receiveBufferBytes }

    /// Calls `handler` with the target's state, once it is determined, and with every change after that.
    ///
    /// - Returns: A number for ``unwatch(_:)``.
    package func watch(_ target: Target, _ handler: @escaping Handler) -> UInt64 {
        lastID += 1
        let id = lastID
        let now = SystemClock.now
        if let watch = watches[target] {
            watch.add(id, at: now, handler)
            return id
        }
        let watch = TargetWatch(target: target, holdDown: options.holdDown, at: now)
        watches[target] = watch
        if let survey { _ = watch.machine.learn(survey.report(on: target), cause: .probe, at: now) }
        watch.add(id, at: now, handler)
        updateTargets()
        if case .name(let name) = target.subject {
            resolve(name, for: watch)
            watch.nameTimer = loop.schedule(at: now.boot + options.namePatience) { [unowned self, weak watch] in
                guard let watch else { return }
                watch.nameTimer = nil
                publish(Verdict(.unknown, reason: .nameNotResolved), for: watch, effects: [], fallback: .start)
            }
        }
        if blindness == nil { evaluate([]) } else { evaluateBlind(cause: .start) }
        return id
    }

    /// The handler is not called again.
    package func unwatch(_ id: UInt64) {
        guard let watch = watches.values.first(where: { $0.remove(id) }), !watch.isWatched else { return }
        cancelTimers(of: watch)
        watches[watch.target] = nil
        updateTargets()
    }

    // MARK: - What probes say

    /// Takes over what probes have proved, and tells those whom it concerns.
    ///
    /// - Parameter fresh: `nil` where they no longer run.
    package func learn(_ fresh: ConnectivitySurvey?) {
        guard fresh != survey else { return }
        survey = fresh
        let now = SystemClock.now
        for watch in watches.values {
            let report = fresh?.report(on: watch.target)
            if let change = watch.machine.learn(report, cause: .probe, at: now) { watch.tell(.change(change)) }
        }
    }

    /// Calls `handler` after every look, and now if there was one: with the ways by which the Internet may be reached, or with `nil` while
    /// the kernel cannot be observed. It may call ``learn(_:)``.
    ///
    /// To find the ways of links that the kernel does not prefer takes a lookup for each.
    package func followUplinks(_ handler: (([Uplink]?) -> Void)?) {
        uplinkHandler = handler
        tellUplinks()
    }

    private func tellUplinks() {
        // Before the first look nothing is known, which is another thing than to be blind.
        guard let uplinkHandler, internet != nil || blindness != nil else { return }
        guard blindness == nil, let view = observer?.view, let internet else { return uplinkHandler(nil) }
        do throws(NetlinkError) {
            let finder = PathFinder(view: view, mark: options.mark)
            uplinkHandler(try finder.uplinks(preferred: internet, anchors: options.anchors))
        } catch {
            observer?.recover(from: error)
        }
    }

    /// Calls `handler` after every look, and now if there was one: with every interface by which the Internet may be
    /// reached, also those that the kernel does not prefer; or with `nil` while the kernel cannot be observed.
    ///
    /// - Parameter handler: `nil` ends it. It must not end the engine.
    package func followPaths(_ handler: (([DefaultPath]?) -> Void)?) {
        pathHandler = handler
        tellPaths()
    }

    private func tellPaths() {
        guard let pathHandler, internet != nil || blindness != nil else { return }
        guard blindness == nil, let view = observer?.view, let internet else { return pathHandler(nil) }
        do throws(NetlinkError) {
            let survey = DefaultPathSurvey(view: view, mark: options.mark, anchors: options.anchors)
            pathHandler(try survey.paths(preferred: internet))
        } catch {
            observer?.recover(from: error)
        }
    }

    // MARK: - What the kernel says

    private func take(_ event: KernelObserver.Event) {
        switch event {
        case .changed(let effects):
            sight()
            evaluate(effects)
        case .resynced(let error):
            sight()
            tellAll(.resync(SystemClock.now, reason: error.description))
            evaluate([NetworkTable.Effect(cause: .resync, interface: nil)])
        case .blind(let error): goBlind(error)
        case .notice(let notice): tellAll(.notice(SystemClock.now, notice))
        }
    }

    private func sight() {
        blindness = nil
        staleTimer.map(loop.cancel)
        staleTimer = nil
    }

    private func goBlind(_ error: NetlinkError) {
        guard blindness == nil else { return }
        blindness = error
        for watch in watches.values { watch.machine.becomeStale() }
        staleTimer = loop.schedule(at: SystemClock.boot + options.stalePatience) { [unowned self] in
            staleTimer = nil
            evaluateBlind(cause: .cannotObserve)
        }
    }

    private func evaluateBlind(cause: Cause) {
        for watch in watches.values {
            publish(Verdict(.unknown, reason: .cannotObserve), for: watch, effects: [], fallback: cause)
        }
        if uplinkHandler != nil { tellUplinks() }
        if pathHandler != nil { tellPaths() }
    }

    private func tellAll(_ event: EngineEvent) {
        for watch in watches.values { watch.tell(event) }
    }

    // MARK: - Verdicts

    /// Asks for every watched target's paths again.
    private func evaluate(_ effects: [NetworkTable.Effect]) {
        guard let observer, let view = observer.view else { return }
        do throws(NetlinkError) {
            var finder = PathFinder(view: view, mark: options.mark)
            let family = NetworkTable.Effect.onlyFamily(of: effects)
            let internet = try finder.internet(anchors: options.anchors, only: family, known: internet)
            self.internet = internet
            let isNewEpoch = epoch.count(internet)
            for watch in watches.values {
                guard let verdict = try verdict(for: watch, internet: internet, &finder) else { continue }
                publish(verdict, for: watch, effects: effects, fallback: .poll)
            }
            lookAgain(at: finder.lookAgain)
            if isNewEpoch { resolveAll() }
            observer.depend(on: finder.neighbours)
        } catch {
            return observer.recover(from: error)
        }
        if uplinkHandler != nil { tellUplinks() }
        if pathHandler != nil { tellPaths() }
    }

    /// - Returns: `nil` while there is nothing to say, since a name is being resolved for the first time.
    private func verdict(
        for watch: TargetWatch, internet: Verdict, _ finder: inout PathFinder
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
        _ verdict: Verdict, for watch: TargetWatch, effects: [NetworkTable.Effect], fallback: Cause
    ) {
        guard watch.isWatched else { return }
        // By its stored parts: to name the state would copy it, and this is the way of every change.
        let touched = [
            watch.machine.state.ipv4.interfaceIndex, watch.machine.state.ipv6.interfaceIndex,
            verdict.ipv4.interfaceIndex, verdict.ipv6.interfaceIndex,
        ].compactMap { $0 }
        let cause = Cause.telling(effects, touching: touched) ?? fallback
        let change = watch.machine.observe(verdict, cause: cause, epoch: epoch.value, at: SystemClock.now)
        if let change { watch.tell(.change(change)) }
        scheduleHold(for: watch)
    }

    private func scheduleHold(for watch: TargetWatch) {
        watch.holdTimer.map(loop.cancel)
        watch.holdTimer = nil
        guard watch.machine.state.isHeld, let deadline = watch.machine.deadline else { return }
        watch.holdTimer = loop.schedule(at: deadline) { [unowned self, weak watch] in
            guard let watch else { return }
            watch.holdTimer = nil
            if let change = watch.machine.timeReached(at: SystemClock.now) { watch.tell(.change(change)) }
            scheduleHold(for: watch)
        }
    }

    private func lookAgain(at deadline: BootTime?) {
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

    private func resolve(_ name: String, for watch: TargetWatch) {
        guard watch.name.shouldAsk() else { return }
        let target = watch.target
        let door = EngineDoor(self)
        let mailbox = loop.mailbox
        resolver.resolve(name) { answer in mailbox.post { _ in door.engine?.take(answer, for: target) } }
    }

    private func take(_ answer: NameAnswer, for target: Target) {
        guard let watch = watches[target], case .name(let name) = target.subject else { return }
        let wait = watch.name.take(answer)
        watch.nameTimer.map(loop.cancel)
        watch.nameTimer = loop.schedule(at: SystemClock.boot + wait) { [unowned self, weak watch] in
            guard let watch else { return }
            watch.nameTimer = nil
            resolve(name, for: watch)
        }
        updateTargets()
        if blindness == nil { evaluate([NetworkTable.Effect(cause: .name, interface: nil)]) }
    }

    private func updateTargets() {
        var addresses = Set(options.anchors)
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

    private func cancelTimers(of watch: TargetWatch) {
        [watch.holdTimer, watch.nameTimer].compactMap { $0 }.forEach(loop.cancel)
    }
}

/// Carries an engine's reference through other threads, which never open it: only its own loop does.
private struct EngineDoor: @unchecked Sendable {
    weak var engine: ReachabilityEngine?

    init(_ engine: ReachabilityEngine) { self.engine = engine }
}
