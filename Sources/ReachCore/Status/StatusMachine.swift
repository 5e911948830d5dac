/// Turns verdicts into the few changes that are worth telling. Feed it verdicts in the order they were reached.
package struct StatusMachine: Sendable {
    /// What has been told.
    package private(set) var state: ReachabilityState
    private let holdDown: HoldDown
    private var hasBegun = false
    private var latest: Verdict?
    /// What probes have proved of the latest verdict's paths; `nil` where none run.
    private var report: ConnectivityReport?
    /// When the verdict first left what was told, and has not been back for as long as a hold-down lasts.
    private var unsettledSince: BootTime?
    private var pendingSince: BootTime?
    /// When the verdict came back to what was told, for as long as it stays there.
    private var returnedAt: BootTime?
    /// The verdict last went from reachable to something else.
    private var isAway = false

    package init(target: Target, holdDown: HoldDown = HoldDown(), at moment: Instant) {
        state = ReachabilityState(target: target, since: moment.wall)
        self.holdDown = holdDown
    }

    /// When ``timeReached(at:)`` must be called, unless a verdict comes before.
    package var deadline: BootTime? {
        guard let latest, let pendingSince else { return nil }
        return earliest(for: latest.status, pendingSince: pendingSince)
    }

    /// - Parameter epoch: The Internet's epoch at that moment.
    /// - Returns: The change to tell; `nil` when nothing differs, or when it is being held back.
    package mutating func observe(
        _ verdict: Verdict, cause: Cause, epoch: UInt64, at moment: Instant
    ) -> ReachabilityChange? {
        let previous = state
        let latestStatus = latest?.status
        countFlaps(verdict.status)
        if let report, let latest { self.report = report.following(from: latest, to: verdict) }
        latest = verdict
        state.epoch = epoch
        state.isStale = false
        guard hasBegun else { return begin(verdict, at: moment) }
        guard verdict.status != state.status else {
            if pendingSince != nil { returnedAt = moment.boot }
            pendingSince = nil
            state.isHeld = false
            settle(at: moment.boot)
            return publish(verdict, after: previous, cause: cause, at: moment)
        }
        settle(at: moment.boot)
        returnedAt = nil
        unsettledSince = unsettledSince ?? moment.boot
        // What must last is this status: not one that is held for another length of time.
        let isTurnedRound = (latestStatus == .reachable) != (verdict.status == .reachable)
        pendingSince = isTurnedRound ? moment.boot : pendingSince ?? moment.boot
        return tellOrHold(verdict, after: previous, cause: cause, at: moment)
    }

    /// The deadline has come.
    package mutating func timeReached(at moment: Instant) -> ReachabilityChange? {
        guard let latest, pendingSince != nil else { return nil }
        return tellOrHold(latest, after: state, cause: .holdElapsed, at: moment)
    }

    /// The kernel cannot be observed: what was told may no longer hold.
    package mutating func becomeStale() { state.isStale = true }

    /// Probes have proved something of the paths last observed; `nil` when they no longer run.
    ///
    /// - Returns: The change to tell; `nil` when nothing differs, and before the first verdict, which it belongs to.
    package mutating func learn(
        _ report: ConnectivityReport?, cause: Cause, at moment: Instant
    ) -> ReachabilityChange? {
        guard report != self.report else { return nil }
        self.report = report
        guard hasBegun else { return nil }
        let previous = state
        state.adopt(proved: report)
        let aspects = Self.differences(from: previous, to: state)
        guard !aspects.isEmpty else { return nil }
        return ReachabilityChange(at: moment, cause: cause, aspects: aspects, previous: previous, state: state)
    }

    private mutating func begin(_ verdict: Verdict, at moment: Instant) -> ReachabilityChange? {
        hasBegun = true
        adopt(verdict)
        state.since = moment.wall
        return ReachabilityChange(at: moment, cause: .start, aspects: [], previous: nil, state: state)
    }

    private mutating func tellOrHold(
        _ verdict: Verdict, after previous: ReachabilityState, cause: Cause, at moment: Instant
    ) -> ReachabilityChange? {
        guard let pendingSince, moment.boot < earliest(for: verdict.status, pendingSince: pendingSince) else {
            pendingSince = nil
            unsettledSince = nil
            returnedAt = nil
            state.isHeld = false
            return publish(verdict, after: previous, cause: cause, at: moment)
        }
        state.isHeld = true
        return nil
    }

    private func earliest(for status: ReachabilityStatus, pendingSince: BootTime) -> BootTime {
        let wait = pendingSince + holdDown.duration(before: status)
        guard let unsettledSince else { return wait }
        return min(wait, unsettledSince + holdDown.maximum)
    }

    /// Flapping is over once the verdict has agreed with what was told for as long as it would have been held.
    private mutating func settle(at now: BootTime) {
        guard let since = returnedAt, now >= since + max(holdDown.up, holdDown.down) else { return }
        returnedAt = nil
        unsettledSince = nil
    }

    private mutating func countFlaps(_ status: ReachabilityStatus) {
        guard hasBegun else { return }
        if status == .reachable {
            if isAway { state.flaps += 1 }
            isAway = false
        } else if latest?.status == .reachable {
            isAway = true
        }
    }

    private mutating func publish(
        _ verdict: Verdict, after previous: ReachabilityState, cause: Cause, at moment: Instant
    ) -> ReachabilityChange? {
        adopt(verdict)
        let aspects = Self.differences(from: previous, to: state)
        guard !aspects.isEmpty else { return nil }
        if aspects.contains(.status) { state.since = moment.wall }
        return ReachabilityChange(at: moment, cause: cause, aspects: aspects, previous: previous, state: state)
    }

    private mutating func adopt(_ verdict: Verdict) {
        state.adopt(verdict)
        if let report { state.adopt(proved: report) }
    }

    static func differences(
        from old: ReachabilityState, to new: ReachabilityState
    ) -> [ReachabilityChange.Aspect] {
        let isProvedAlike =
            old.ipv4.connectivity == new.ipv4.connectivity && old.ipv6.connectivity == new.ipv6.connectivity
            && old.connectivity == new.connectivity && old.portal == new.portal
        guard old.status == new.status else { return isProvedAlike ? [.status] : [.status, .connectivity] }
        var aspects: [ReachabilityChange.Aspect] = []
        let sameWay = old.ipv4.leadsTheSameWay(as: new.ipv4) && old.ipv6.leadsTheSameWay(as: new.ipv6)
        if !sameWay { aspects.append(.path) }
        if old.linkClass != new.linkClass { aspects.append(.linkClass) }
        if !isProvedAlike { aspects.append(.connectivity) }
        if old.isMetered != new.isMetered { aspects.append(.metered) }
        return aspects
    }
}
