/// Something about a target changed.
public struct ReachabilityChange: Hashable, Sendable {
    /// What can differ between two states and is worth telling.
    public enum Aspect: String, Hashable, Sendable, CaseIterable {
        /// The status. Path, class and meter differ with it and are not listed then.
        case status
        /// The interface, gateway, source or table of a family's path, or why there is none.
        case path
        /// The class of the link.
        case linkClass = "class"
        /// What probes prove.
        case connectivity
        /// Whether the path is metered.
        case metered
    }

    /// Goes up by one with every change of one monitor; the same for everybody who is told.
    public internal(set) var sequenceNumber: UInt64 = 0
    /// When it was decided.
    public let time: Timestamp
    /// When it was decided, on the clock that never jumps.
    public let bootTime: BootTime
    /// It is the state that was in force when the watch began, and no difference.
    public let isInitial: Bool
    /// What brought it about.
    public let cause: Cause
    /// What differs. Empty for the initial state.
    public let aspects: [Aspect]
    /// What held before; `nil` for the initial state.
    public let previous: ReachabilityState?
    /// What holds now.
    public let state: ReachabilityState

    package init(
        at moment: Instant, cause: Cause, aspects: [Aspect], previous: ReachabilityState?, state: ReachabilityState
    ) {
        time = moment.wall
        bootTime = moment.boot
        isInitial = previous == nil
        self.cause = cause
        self.aspects = aspects
        self.previous = previous
        self.state = state
    }

    /// The same change with its place in a monitor's series.
    package func numbered(_ number: UInt64) -> ReachabilityChange {
        var copy = self
        copy.sequenceNumber = number
        return copy
    }
}
