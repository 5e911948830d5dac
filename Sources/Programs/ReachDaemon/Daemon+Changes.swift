internal import Logging
internal import ReachControl
internal import ReachCore
internal import ReachLoop

/// What a change of a target leads to: its entries in the history and the journal, its lines in the log, its hooks.
extension Daemon {
    func handle(_ change: ReachabilityChange, of name: String) {
        let moment = Instant(wall: change.time, boot: change.bootTime)
        let before = internet
        if change.state.target == .internet { internet = change.state }
        let proved = change.state.proved(by: internet)
        record(HistoryEntry.State(proved, of: name, cause: change.cause, isChange: !change.isInitial), at: moment)
        if change.state.target == .internet { recordProofs(since: before, at: moment) }
        journal?.record(change)
        log.debug(
            "change",
            metadata: [
                "target": "\(change.state.target)", "status": "\(change.state.status.rawValue)",
                "interface": "\(change.state.interface ?? "")", "cause": "\(change.cause.rawValue)",
            ])
        if change.state.target == .internet {
            if change.previous?.interface != change.state.interface { sampleTraffic() }
            if change.aspects.contains(.portal) {
                report(change.state.portalSession, after: change.previous?.portalSession)
            }
            if change.aspects.contains(.quality) { report(change.state, after: change.previous?.quality) }
        }
        joined.add(change)
        page?.note(.state)
    }

    func handle(_ joined: JoinedChange) {
        if joined.change.state.target == .internet {
            if let gap = joined.gap { report(gap) }
            report(outages.observe(joined.change))
            // A path that returned ends the outage after a while, even if no check proves or refutes it.
            proofTimer.set(to: outages.deadline)
        }
        let state = joined.change.state
        hooks?.handle(joined, outage: latestOutage(of: state.name ?? state.target.description))
    }

    /// The latest outage of a target, by the name that the history has for it.
    func latestOutage(of target: String) -> OutageBook.Outage? { outageBook.latest(of: target, at: SystemClock.now) }

    /// Records that named targets cannot be used although the kernel has a path, since the Internet is proved not to
    /// answer over that path, and that they can again.
    ///
    /// - Parameter before: The state of the Internet before its change.
    private func recordProofs(since before: ReachabilityState?, at moment: Instant) {
        guard let internet, !configuration.targets.isEmpty else { return }
        for (name, state) in registry.namedStates where state.isReachable && state.target != .internet {
            let proved = state.proved(by: internet)
            guard proved.connectivity != state.proved(by: before).connectivity else { continue }
            record(HistoryEntry.State(proved, of: name, cause: .probe), at: moment)
        }
    }

    /// Records a state, for the history and for all that speak of outages. A thousand targets that change together wake
    /// the history's thread once.
    private func record(_ state: HistoryEntry.State, at moment: Instant) {
        outageBook.observe(state, at: moment)
        guard let history else { return }
        history.add(state, at: moment)
        guard !wakesHistory else { return }
        wakesHistory = true
        loop.afterEvents { [weak self] in
            self?.wakesHistory = false
            self?.history?.write()
        }
    }

    /// Records an event of a probe.
    func record(_ event: ProbeEvent) {
        if let state = HistoryEntry.State(event) { record(state, at: event.since) }
    }

    /// Records that targets of the history are no longer configured, so that what they were is over.
    func recordUnwatched(_ targets: [String]) {
        for target in targets.sorted() {
            outageBook.remove(target)
            history?.recordUnwatched(target, at: SystemClock.now)
        }
    }

    private func report(_ session: PortalSession?, after previous: PortalSession?) {
        guard let session, session.isEnding, previous?.isEnding != true else { return }
        let seconds = session.secondsRemaining(at: SystemClock.boot) ?? 0
        log.notice(
            "the session with the portal of \(session.interface) ends in \(DurationText.describe(.seconds(seconds)))",
            metadata: ["page": "\(session.userPortalURL ?? "")"])
    }

    private func report(_ state: ReachabilityState, after previous: LineQuality?) {
        guard let quality = state.quality, quality.word != .good || previous.map({ $0.word != .good }) == true else {
            return
        }
        log.notice("the line of \(state.interface ?? "") is \(quality.text)")
    }

    private func report(_ gap: JoinedChange.Gap) {
        log.notice(
            "the Internet flapped: \(gap.sentence)",
            metadata: ["root-cause": "\(gap.cause.kind.rawValue)"])
    }

    func report(_ notice: OutageNotices.Notice?) {
        switch notice {
        case .lost(let cause)?:
            outageTester?.begin()
            log.notice(
                "the Internet is lost: \(cause.sentence)",
                metadata: ["layer": "\(cause.layer.rawValue)", "evidence": "\(cause.evidence)"])
        case .regained(let duration)?:
            outageTester?.end()
            let length = latestOutage(of: Target.internet.description)?.length ?? duration
            log.notice(
                "the Internet is back after \(DurationText.describe(length))",
                metadata: [
                    "interface": "\(internet?.interface ?? "")",
                    "connectivity": "\(internet?.connectivity.rawValue ?? "")",
                ])
        case nil: break
        }
    }
}
