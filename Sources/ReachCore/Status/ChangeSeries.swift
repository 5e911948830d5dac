/// One series of changes out of what several observers tell, one after the other: a daemon, and the one that is started
/// after it. Each begins anew and counts for itself; to those who are told the series only differences are told, and nothing
/// counts down.
package struct ChangeSeries: Hashable, Sendable {
    private let target: Target
    /// What was told last.
    package private(set) var told: ReachabilityState?
    /// The last state that an observer told; unlike `told` it is never made up here.
    private var observed: ReachabilityState?
    /// What earlier observers had counted.
    private var earlierFlaps = 0
    private var earlierEpochs: UInt64 = 0
    /// Since when the status has been what it is, where that is longer than the present observer knows.
    private var lastingSince: Timestamp?

    package init(of target: Target) { self.target = target }

    /// Takes the first state of an observer that took the place of another, or of the first one.
    ///
    /// - Returns: The difference that it makes; `nil` if there is none.
    package mutating func begin(_ first: ReachabilityChange, cause: Cause) -> ReachabilityChange? {
        guard let told else { return take(first) }
        earlierFlaps = told.flaps
        // What happened to the Internet's path meanwhile, nobody has seen: a difference counts as an epoch, as it means at
        // worst that something is tried once more.
        let isSame = observed.map { StatusMachine.differences(from: $0, to: first.state).isEmpty } ?? true
        let epoch = isSame ? told.epoch : told.epoch.addingUpToLimit(1)
        earlierEpochs = epoch > first.state.epoch ? epoch - first.state.epoch : 0
        lastingSince = told.since
        return difference(to: first.state, cause: cause, at: Instant(wall: first.time, boot: first.bootTime))
    }

    /// Takes a change that the present observer told.
    package mutating func take(_ change: ReachabilityChange) -> ReachabilityChange {
        let previous = told
        let state = adopt(change.state)
        return ReachabilityChange(
            at: Instant(wall: change.time, boot: change.bootTime), cause: change.cause,
            aspects: previous == nil ? [] : change.aspects, previous: previous, state: state)
    }

    /// Takes the state of the present observer, some of whose changes were not heard.
    ///
    /// - Returns: The difference that they made together; `nil` if there is none.
    package mutating func catchUp(to state: ReachabilityState, at moment: Instant) -> ReachabilityChange? {
        difference(to: state, cause: .resync, at: moment)
    }

    /// There is no observer at the moment: what was told may no longer hold.
    package mutating func becomeStale() { told?.isStale = true }

    /// There has been no observer for so long that the status is not known.
    ///
    /// - Returns: The change to that; `nil` if it was not known before.
    package mutating func becomeUnknown(at moment: Instant) -> ReachabilityChange? {
        let previous = told
        var state = told ?? ReachabilityState(target: target, since: moment.wall)
        if state.status != .unknown { state.since = moment.wall }
        state.adopt(Verdict(.unknown, reason: .cannotObserve))
        if state.isValidated { state.adopt(proved: ConnectivityReport()) }
        state.isStale = false
        state.isHeld = false
        let aspects = previous.map { StatusMachine.differences(from: $0, to: state) } ?? []
        told = state
        guard previous == nil || !aspects.isEmpty else { return nil }
        let cause: Cause = previous == nil ? .start : .cannotObserve
        return ReachabilityChange(at: moment, cause: cause, aspects: aspects, previous: previous, state: state)
    }

    private mutating func difference(
        to new: ReachabilityState, cause: Cause, at moment: Instant
    ) -> ReachabilityChange? {
        let previous = told
        let state = adopt(new)
        let aspects = previous.map { StatusMachine.differences(from: $0, to: state) } ?? []
        guard previous == nil || !aspects.isEmpty else { return nil }
        return ReachabilityChange(at: moment, cause: cause, aspects: aspects, previous: previous, state: state)
    }

    /// - Returns: The state as the series counts; it is the one told from now on.
    private mutating func adopt(_ new: ReachabilityState) -> ReachabilityState {
        var state = new
        // The numbers come from another process: however wrong they are, they must not end this one.
        state.flaps = new.flaps.addingUpToLimit(earlierFlaps)
        state.epoch = new.epoch.addingUpToLimit(earlierEpochs)
        if state.status != told?.status { lastingSince = nil }
        if let lastingSince { state.since = min(lastingSince, state.since) }
        told = state
        observed = new
        return state
    }
}

extension FixedWidthInteger {
    /// For numbers that are not negative.
    fileprivate func addingUpToLimit(_ other: Self) -> Self {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? .max : sum
    }
}
