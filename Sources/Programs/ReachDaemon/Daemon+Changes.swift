internal import Logging
internal import ReachControl
internal import ReachCore
internal import ReachLoop

/// What a change of a target leads to: its entries in the history and the journal, its lines in the log, its hooks.
extension Daemon {
    func handle(_ change: ReachabilityChange, of name: String) {
        record(change, of: name)
        recordProvedOutages(after: change, of: name)
        journal?.record(change)
        log.debug(
            "change",
            metadata: [
                "target": "\(change.state.target)", "status": "\(change.state.status.rawValue)",
                "interface": "\(change.state.interface ?? "")", "cause": "\(change.cause.rawValue)",
            ])
        if change.state.target == .internet {
            internet = change.state
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
        hooks?.handle(joined)
    }

    /// Records that named targets cannot be used although the kernel has a path, since the Internet is proved not to answer over
    /// that path, and that they can again.
    private func recordProvedOutages(after change: ReachabilityChange, of name: String) {
        guard history != nil, !configuration.targets.isEmpty else { return }
        let isInternet = change.state.target == .internet
        guard isInternet ? change.aspects.contains(.connectivity) : internet != nil else { return }
        let internet = isInternet ? change.state : internet
        let moment = Instant(wall: change.time, boot: change.bootTime)
        let concerned = isInternet ? registry.namedStates : [(name, change.state)]
        for (name, state) in concerned where state.target != .internet {
            let proved = internet.flatMap { state.provedOutage(by: $0) }
            // A change of the target's own was recorded without what is proved.
            guard proved != provedOutages[name] || (proved != nil && !isInternet) else { continue }
            provedOutages[name] = proved
            guard proved != nil || state.isReachable && isInternet else { continue }
            history?.record(state, provedBy: proved, of: name, at: moment)
        }
    }

    /// Records a change. A thousand targets that change together wake the history's thread once.
    private func record(_ change: ReachabilityChange, of name: String) {
        guard let history else { return }
        history.add(change, of: name)
        guard !wakesHistory else { return }
        wakesHistory = true
        loop.afterEvents { [weak self] in
            self?.wakesHistory = false
            self?.history?.write()
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
            log.notice(
                "the Internet is back after \(DurationText.describe(duration))",
                metadata: [
                    "interface": "\(internet?.interface ?? "")",
                    "connectivity": "\(internet?.connectivity.rawValue ?? "")",
                ])
        case nil: break
        }
    }
}
