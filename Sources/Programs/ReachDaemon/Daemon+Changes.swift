internal import Logging
internal import ReachControl
internal import ReachCore
internal import ReachLoop
internal import ReachRecords

/// What a change of a target leads to: its entries in the history and the journal, its lines in the log, its hooks.
extension Daemon {
    func handle(_ change: ReachabilityChange, of name: String) {
        let moment = Instant(wall: change.time, boot: change.bootTime)
        let before = internet.state
        let isInternet = change.state.target == .internet
        if isInternet { internet.handle(change) }
        let proved = change.state.proved(by: internet.state)
        records.record(
            HistoryEntry.State(proved, of: name, cause: change.cause, isChange: !change.isInitial), at: moment)
        if isInternet { recordProofs(since: before, at: moment) }
        records.journal?.record(change)
        log.debug(
            "change",
            metadata: [
                "target": "\(change.state.target)", "status": "\(change.state.status.rawValue)",
                "interface": "\(change.state.interface ?? "")", "cause": "\(change.cause.rawValue)",
            ])
        joined.add(change)
        page?.note(.state)
    }

    func handle(_ joined: JoinedChange) {
        let state = joined.change.state
        if state.target == .internet { internet.handle(joined) }
        let name = state.name ?? state.target.description
        hooks?.handle(joined, outage: records.latestOutage(of: name), works: records.use(of: name).works)
        targetHooks.handle(joined, of: name)
    }

    /// Records that named targets cannot be used although the kernel has a path, since the Internet is proved not to
    /// answer over that path, and that they can again.
    ///
    /// - Parameter before: The state of the Internet before its change.
    private func recordProofs(since before: ReachabilityState?, at moment: Instant) {
        guard let now = internet.state, !configuration.targets.isEmpty else { return }
        for (name, state) in registry.namedStates where state.isReachable && state.target != .internet {
            let proved = state.proved(by: now)
            guard proved.connectivity != state.proved(by: before).connectivity else { continue }
            records.record(HistoryEntry.State(proved, of: name, cause: .probe), at: moment)
            targetHooks.handleProof(of: name)
        }
    }
}
