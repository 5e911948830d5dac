/// Turns a target's verdicts into changes worth reporting: only differences, and with hold-downs only what lasts.
///
/// It expects verdicts in the order in which they were made.
package struct StatusMachine: Sendable {
    /// The reported state.
    package private(set) var state: ReachabilityState
    /// `nil` before the first.
    package private(set) var latest: Verdict?
    /// What probes have proved about the paths of the latest verdict; `nil` if no probes run.
    private(set) var report: ConnectivityReport?
    private var hold: ChangeHold
    /// The links on which checks have decided something, by family.
    private var decidedLinks = DecidedLinks()
    /// Whether the verdict has gone from reachable to something else and not come back.
    private var isAway = false

    package init(target: Target, holdDown: HoldDown = HoldDown(), at moment: Instant) {
        state = ReachabilityState(target: target, since: moment.wall)
        hold = ChangeHold(holdDown)
    }

    /// When ``timeReached(at:)`` must be called, unless a verdict comes first.
    package var deadline: BootTime? { hold.deadline }

    /// Replaces the hold-down. The next verdict is reported at once, whatever is being held back.
    package mutating func apply(_ holdDown: HoldDown) {
        hold = ChangeHold(holdDown, isReplacement: latest != nil)
    }

    /// Processes a verdict.
    ///
    /// - Parameter epoch: The Internet's epoch at that moment.
    /// - Returns: The change to report; `nil` if nothing differs, or if the change is held back.
    package mutating func observe(
        _ verdict: Verdict, cause: Cause, epoch: UInt64, at moment: Instant
    ) -> ReachabilityChange? {
        let previous = state
        let earlier = latest
        countFlaps(verdict.status)
        if let report, let latest { self.report = report.following(from: latest, to: verdict) }
        latest = verdict
        state.epoch = epoch
        state.isStale = false
        guard let earlier else { return begin(verdict, at: moment) }
        if verdict.status == state.status {
            hold.agree(on: verdict.status, at: moment.boot)
        } else {
            let isReversed = (earlier.status == .reachable) != (verdict.status == .reachable)
            guard hold.differ(with: verdict.status, isReversed: isReversed, at: moment.boot) else {
                noteHeld(verdict)
                return nil
            }
        }
        return publish(verdict, after: previous, cause: cause, at: moment)
    }

    /// Reports what was held back, once the deadline has come.
    package mutating func timeReached(at moment: Instant) -> ReachabilityChange? {
        guard let latest, let deadline = hold.deadline, moment.boot >= deadline else { return nil }
        guard hold.isWaiting else { return publishProof(cause: .holdElapsed, at: moment) }
        _ = hold.isDue(at: moment.boot)
        return publish(latest, after: state, cause: .holdElapsed, at: moment)
    }

    /// Marks the state as stale while the kernel cannot be observed.
    package mutating func becomeStale() {
        if !state.isStale { state.isStale = true }
    }

    /// Sets what probes have proved about the latest verdict's paths; `nil` if no probes run any more. While a status
    /// is held back, so is what was proved about its paths: it says nothing about those that are reported.
    ///
    /// - Returns: The change to report; `nil` if nothing differs, if it is held back, and before the first verdict,
    ///   which then includes it.
    package mutating func setConnectivity(
        _ report: ConnectivityReport?, cause: Cause, at moment: Instant
    ) -> ReachabilityChange? {
        guard report != self.report else { return nil }
        self.report = report
        guard latest != nil, !hold.isWaiting else { return nil }
        return publishProof(cause: cause, at: moment)
    }

    private mutating func publishProof(cause: Cause, at moment: Instant) -> ReachabilityChange? {
        guard !holdsProof(at: moment.boot) else { return nil }
        let previous = state
        adoptProof()
        noteConnectivity(after: previous, at: moment)
        let aspects = Self.differences(from: previous, to: state)
        guard !aspects.isEmpty else { return nil }
        return ReachabilityChange(at: moment, cause: cause, aspects: aspects, previous: previous, state: state)
    }

    private mutating func begin(_ verdict: Verdict, at moment: Instant) -> ReachabilityChange? {
        adopt(verdict)
        state.since = moment.wall
        state.connectivitySince = moment.wall
        return ReachabilityChange(at: moment, cause: .start, aspects: [], previous: nil, state: state)
    }

    private mutating func noteHeld(_ verdict: Verdict) {
        state.isHeld = true
        if state.heldCause != verdict.rootCause { state.heldCause = verdict.rootCause }
    }

    private mutating func countFlaps(_ status: ReachabilityStatus) {
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
        if state.heldCause != nil { state.heldCause = nil }
        if holdsProof(at: moment.boot), state.leadsTheSameWay(as: verdict) {
            state.adopt(verdict, keepingProof: true)
            state.isHeld = true
        } else {
            adopt(verdict)
        }
        noteConnectivity(after: previous, at: moment)
        let aspects = Self.differences(from: previous, to: state)
        guard !aspects.isEmpty else { return nil }
        if aspects.contains(.status) { state.since = moment.wall }
        return ReachabilityChange(at: moment, cause: cause, aspects: aspects, previous: previous, state: state)
    }

    private mutating func noteConnectivity(after previous: ReachabilityState, at moment: Instant) {
        if state.connectivity != previous.connectivity { state.connectivitySince = moment.wall }
    }

    private mutating func adopt(_ verdict: Verdict) {
        state.adopt(verdict)
        adoptProof()
    }

    private mutating func adoptProof() {
        hold.endProof()
        if state.isHeld { state.isHeld = false }
        guard report != nil || state.isValidated else { return }
        state.adopt(proved: report)
        decidedLinks.note(report, of: state)
        if report?.isUndecided == false, decidedLinks.leaveUnproved(state) { state.connectivity = .limited }
    }

    /// Whether the connectivity that was reported stays: what checks will find of a path that is back is not known yet.
    private func holdsProof(at now: BootTime) -> Bool {
        report?.isUndecided == true && hold.keepsProof(at: now)
    }

    package static func differences(
        from old: ReachabilityState, to new: ReachabilityState
    ) -> [ReachabilityChange.Aspect] {
        let isSameConnectivity =
            old.ipv4.connectivity == new.ipv4.connectivity && old.ipv6.connectivity == new.ipv6.connectivity
            && old.connectivity == new.connectivity && old.connectivityReason == new.connectivityReason
            && old.portal == new.portal
        let isSamePortal = old.hasSamePortalSession(as: new)
        guard old.status == new.status else {
            return [.status] + (isSameConnectivity ? [] : [.connectivity]) + (isSamePortal ? [] : [.portal])
                + (old.hasSameQuality(as: new) ? [] : [.quality])
        }
        var aspects: [ReachabilityChange.Aspect] = []
        let isSamePath = old.ipv4.isSamePath(as: new.ipv4) && old.ipv6.isSamePath(as: new.ipv6)
        if !isSamePath || old.rootCause != new.rootCause || old.availableInterfaces != new.availableInterfaces {
            aspects.append(.path)
        }
        if old.linkClass != new.linkClass { aspects.append(.linkClass) }
        if !isSameConnectivity { aspects.append(.connectivity) }
        if old.isMetered != new.isMetered { aspects.append(.metered) }
        if !isSamePortal { aspects.append(.portal) }
        if !old.hasSameQuality(as: new) { aspects.append(.quality) }
        return aspects
    }
}

extension ReachabilityState {
    /// Whether the same is said of the lines of both. Their figures, which differ each minute, are no change.
    fileprivate func hasSameQuality(as other: ReachabilityState) -> Bool {
        ipv4.quality?.word == other.ipv4.quality?.word && ipv6.quality?.word == other.ipv6.quality?.word
    }
}
