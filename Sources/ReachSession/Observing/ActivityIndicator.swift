public import ReachCore

/// When to show that requests are running: AFNetworkActivityIndicatorManager's four states. It shows no short bursts,
/// and does not flicker between requests that follow each other.
///
/// Time comes in with every call; call `advance` when `deadline` has come. Each call answers what changed: `true` means
/// show, `false` means hide, `nil` that nothing changes.
public struct ActivityIndicator: Hashable, Sendable {
    /// The four states.
    public enum State: String, Hashable, Sendable, CaseIterable {
        /// Hidden, and nothing runs.
        case notActive = "not-active"
        /// Hidden until the start's delay is over, whatever happens until then.
        case delayingStart = "delaying-start"
        /// Shown.
        case active
        /// Shown until the end's delay is over, unless something runs before.
        case delayingEnd = "delaying-end"
    }

    /// What must pass before it is shown: 1 s in AFNetworking.
    public var startDelay: Duration
    /// What must pass before it is hidden: 0.17 s in AFNetworking.
    public var endDelay: Duration
    /// Where it stands.
    public private(set) var state = State.notActive
    /// How many requests run.
    public private(set) var activityCount = 0
    /// When `advance` has something to do; `nil` for never.
    public private(set) var deadline: BootTime?
    /// Whether it follows requests. Off as in AFNetworking until it is turned on; requests are counted all the same.
    public private(set) var isEnabled: Bool

    /// With AFNetworking's delays unless told otherwise.
    public init(
        startDelay: Duration = .seconds(1), endDelay: Duration = .milliseconds(170), isEnabled: Bool = false
    ) {
        self.startDelay = startDelay
        self.endDelay = endDelay
        self.isEnabled = isEnabled
    }

    /// Whether it is shown.
    public var isVisible: Bool { state == .active || state == .delayingEnd }

    /// A request was started or resumed.
    public mutating func requestStarted(at now: BootTime) -> Bool? { count(1, at: now) }

    /// A request was suspended or completed. More ends than starts do not count.
    public mutating func requestEnded(at now: BootTime) -> Bool? { count(-1, at: now) }

    /// Time has passed.
    public mutating func advance(to now: BootTime) -> Bool? {
        guard let deadline, deadline <= now else { return nil }
        switch state {
        case .delayingStart: return enter(activityCount > 0 ? .active : .notActive, at: now)
        case .delayingEnd: return enter(.notActive, at: now)
        case .notActive, .active: return nil
        }
    }

    /// Turns it on, to take effect with the next request that starts or ends, or off, at once.
    public mutating func setEnabled(_ isEnabled: Bool, at now: BootTime) -> Bool? {
        self.isEnabled = isEnabled
        return isEnabled ? nil : enter(.notActive, at: now)
    }

    private mutating func count(_ step: Int, at now: BootTime) -> Bool? {
        // Whoever looks late finds first what should have happened before.
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
