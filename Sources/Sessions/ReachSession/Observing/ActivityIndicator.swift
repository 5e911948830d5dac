package import ReachCore

/// The rules by which a ``RequestActivity`` shows that requests are running, with the four states of
/// AFNetworkActivityIndicatorManager. It hides short bursts, and does not flicker between consecutive requests.
///
/// Each call of the counter takes the current time; `advance` is to be called at `deadline`. Each returns what changed:
/// `true` for show, `false` for hide, `nil` for no change.
public struct ActivityIndicator: Hashable, Sendable {
    /// The four states.
    public enum State: String, Hashable, Sendable, CaseIterable {
        /// Hidden, with no running requests.
        case notActive = "not-active"
        /// Hidden until the start delay is over, whatever happens until then.
        case delayingStart = "delaying-start"
        /// Shown.
        case active
        /// Shown until the end delay is over, unless a request starts before.
        case delayingEnd = "delaying-end"
    }

    /// The delay before the indicator is shown: 1 s in AFNetworking.
    public var startDelay: Duration
    /// The delay before the indicator is hidden: 0.17 s in AFNetworking.
    public var endDelay: Duration
    /// The state of the indicator.
    package private(set) var state = State.notActive
    /// The number of running requests.
    package private(set) var activityCount = 0
    /// The time at which to call `advance`; `nil` for never.
    package private(set) var deadline: BootTime?
    /// Whether the indicator follows requests. As in AFNetworking it is off by default; requests are counted in any
    /// case.
    public private(set) var isEnabled: Bool

    /// Creates an indicator, by default with AFNetworking's delays.
    public init(
        startDelay: Duration = .seconds(1), endDelay: Duration = .milliseconds(170), isEnabled: Bool = false
    ) {
        self.startDelay = startDelay
        self.endDelay = endDelay
        self.isEnabled = isEnabled
    }

    /// Whether the indicator is shown.
    package var isVisible: Bool { state == .active || state == .delayingEnd }

    /// Counts a request that was started or resumed.
    package mutating func requestStarted(at now: BootTime) -> Bool? { count(1, at: now) }

    /// Counts a request that was suspended or completed. Ends in excess of starts do not count.
    package mutating func requestEnded(at now: BootTime) -> Bool? { count(-1, at: now) }

    /// Applies the passing of time.
    package mutating func advance(to now: BootTime) -> Bool? {
        guard let deadline, deadline <= now else { return nil }
        switch state {
        case .delayingStart: return enter(activityCount > 0 ? .active : .notActive, at: now)
        case .delayingEnd: return enter(.notActive, at: now)
        case .notActive, .active: return nil
        }
    }

    /// Turns the indicator on, which takes effect with the next request that starts or ends, or off, which takes effect
    /// at once.
    package mutating func setEnabled(_ isEnabled: Bool, at now: BootTime) -> Bool? {
        self.isEnabled = isEnabled
        return isEnabled ? nil : enter(.notActive, at: now)
    }

    /// Whether it counts, and no more: then no call needs the time.
    var onlyCounts: Bool { !isEnabled && deadline == nil }

    private mutating func count(_ step: Int, at now: BootTime) -> Bool? {
        // A late call first applies the deadline that has passed.
        let before = advance(to: now)
        activityCount = max(activityCount + step, 0)
        guard isEnabled else { return before }
        let change: Bool? =
            switch (state, activityCount > 0) {
            case (.notActive, true): enter(.delayingStart, at: now)
            case (.active, false): enter(.delayingEnd, at: now)
            case (.delayingEnd, true): enter(.active, at: now)
            default: nil
            }
        return change ?? before
    }

    private mutating func enter(_ next: State, at now: BootTime) -> Bool? {
        let wasVisible = isVisible
        state = next
        switch next {
        case .notActive, .active: deadline = nil
        case .delayingStart: deadline = now + startDelay
        case .delayingEnd: deadline = now + endDelay
        }
        return wasVisible == isVisible ? nil : isVisible
    }
}
