/// Joins the changes from successive observers, such as a daemon and its restarted successor, into one series.
///
/// Each observer starts with an initial state and counters of its own. Subscribers of the series see only differences,
/// and counters that never decrease.
package struct ChangeSeries: Hashable, Sendable {
    private let target: Target
    /// The name of the target, which its states get.
    package var name: String?
    /// The current state of the series; `nil` before the first one.
    package private(set) var state: ReachabilityState?
    /// The last state that an observer reported. Unlike `state`, it is never made here.
    private var observed: ReachabilityState?
    /// The counters of earlier observers.
    private var earlierFlaps = 0
    private var earlierEpochs: UInt64 = 0
    /// When the current status began, if that was before the present observer did.
    private var lastingSince: Timestamp?

    package init(of target: Target) { self.target = target }

    /// Begins with the initial state of an observer: the first one, or one that replaces another.
    ///
    /// - Parameter cause: The cause of a difference from the state before.
    /// - Returns: The change to publish; `nil` if there is no difference.
    package mutating func begin(_ first: ReachabilityChange, cause: Cause) -> ReachabilityChange? {
        guard let state = self.state else { return append(first) }
        earlierFlaps = state.flaps
        // The path to the Internet was not observed in between. A difference counts as an epoch: at worst something is
        // tried once more.
        let isSame = observed.map { StatusMachine.differences(from: $0, to: first.state).isEmpty } ?? true
        let epoch = isSame ? state.epoch : state.epoch.addingUpToLimit(1)
        earlierEpochs = epoch > first.state.epoch ? epoch - first.state.epoch : 0
        lastingSince = state.since
        return difference(to: first.state, cause: cause, at: Instant(wall: first.time, boot: first.bootTime))
    }

    /// Appends a change from the present observer.
    ///
    /// - Returns: The change to publish.
    package mutating func append(_ change: ReachabilityChange) -> ReachabilityChange {
        let previous = self.state
        let state = adopt(change.state)
        return ReachabilityChange(
            at: Instant(wall: change.time, boot: change.bootTime), cause: change.cause,
            aspects: previous == nil ? [] : change.aspects, previous: previous, state: state)
    }

    /// Continues with the state of the present observer after some of its changes were lost.
    ///
    /// - Returns: One change for all of them; `nil` if there is no difference.
    package mutating func catchUp(to state: ReachabilityState, at moment: Instant) -> ReachabilityChange? {
        difference(to: state, cause: .resync, at: moment)
    }

    /// Marks the state as stale while there is no observer.
    package mutating func becomeStale() { state?.isStale = true }

    /// Gives up the status, after a long time without an observer.
    ///
    /// - Returns: The change to publish; `nil` if the status was unknown before.
    package mutating func becomeUnknown(at moment: Instant) -> ReachabilityChange? {
        let previous = self.state
        var state = self.state ?? ReachabilityState(target: target, since: moment.wall)
        if state.status != .unknown { state.since = moment.wall }
        state.adopt(Verdict(.unknown, reason: .cannotObserve))
        if state.isValidated { state.adopt(proved: ConnectivityReport()) }
        if state.connectivity != previous?.connectivity { state.connectivitySince = moment.wall }
        state.isStale = false
        state.isHeld = false
        state.heldCause = nil
        let aspects = previous.map { StatusMachine.differences(from: $0, to: state) } ?? []
        self.state = state
        guard previous == nil || !aspects.isEmpty else { return nil }
        let cause: Cause = previous == nil ? .start : .cannotObserve
        return ReachabilityChange(at: moment, cause: cause, aspects: aspects, previous: previous, state: state)
    }

    private mutating func difference(
        to new: ReachabilityState, cause: Cause, at moment: Instant
    ) -> ReachabilityChange? {
        let previous = self.state
        let state = adopt(new)
        let aspects = previous.map { StatusMachine.differences(from: $0, to: state) } ?? []
        guard previous == nil || !aspects.isEmpty else { return nil }
        return ReachabilityChange(at: moment, cause: cause, aspects: aspects, previous: previous, state: state)
    }

    /// Makes an observer's state the current one.
    ///
    /// - Returns: The state with the counters of the series.
    private mutating func adopt(_ new: ReachabilityState) -> ReachabilityState {
        var state = new
        // The numbers come from another process. Even wrong ones must not crash this one.
        // Only what differs is set: a state that stays as it is keeps its storage.
        if earlierFlaps != 0 { state.flaps = new.flaps.addingUpToLimit(earlierFlaps) }
        if earlierEpochs != 0 { state.epoch = new.epoch.addingUpToLimit(earlierEpochs) }
        if state.status != self.state?.status { lastingSince = nil }
        if let lastingSince, lastingSince < state.since { state.since = lastingSince }
        if let before = self.state, before.connectivity == state.connectivity,
            before.connectivitySince < state.connectivitySince
        {
            state.connectivitySince = before.connectivitySince
        }
        if let name { state.name = name }
        self.state = state
        observed = new
        return state
    }
}

extension FixedWidthInteger {
    /// The sum of two numbers that are not negative, at most the type's maximum.
    fileprivate func addingUpToLimit(_ other: Self) -> Self {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? .max : sum
    }
}
