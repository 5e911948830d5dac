/// A change of a target's state.
public struct ReachabilityChange: Hashable, Sendable {
    /// An aspect in which two states can differ.
    public enum Aspect: String, Hashable, Sendable, CaseIterable {
        /// The status. Path, class and metering usually change with it and are not listed separately.
        case status
        /// The interface, gateway, source or table of a family's path, or the reason why there is none; the root cause;
        /// or the list of available interfaces.
        case path
        /// The class of the link.
        case linkClass = "class"
        /// What probes have proved.
        case connectivity
        /// Whether the path is metered.
        case metered
        /// What the API of the network's portal says, or that its session is about to end.
        case portal
        /// What is said of the line, where the daemon measures it.
        case quality

        /// Whether checks found it, and not the kernel.
        package var isOfProof: Bool {
            switch self {
            case .connectivity, .portal, .quality: true
            case .status, .path, .linkClass, .metered: false
            }
        }
    }

    /// The number of the change in its monitor's series; the same for all observers.
    public internal(set) var sequenceNumber: UInt64 = 0
    /// When the change was determined.
    public let time: Timestamp
    /// When the change was determined, on the boot clock, which cannot be set.
    package let bootTime: BootTime
    /// Whether this is the initial state of a watch and not a difference.
    public let isInitial: Bool
    /// The cause of the change.
    public let cause: Cause
    /// The aspects that differ; empty for the initial state.
    public let aspects: [Aspect]
    /// The state before; `nil` for the initial state.
    public let previous: ReachabilityState?
    /// The state now.
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

    /// Whether both are the same but for the target and its name.
    package func differsOnlyInTarget(from other: ReachabilityChange) -> Bool {
        guard let previous, let others = other.previous, bootTime == other.bootTime, time == other.time else {
            return false
        }
        return cause == other.cause && aspects == other.aspects && state.hasSameValues(as: other.state)
            && previous.hasSameValues(as: others)
    }

    /// A copy of the change with its number in a monitor's series.
    package func numbered(_ number: UInt64) -> ReachabilityChange {
        var copy = self
        copy.sequenceNumber = number
        return copy
    }
}

/// An event of a watched target: what the engine publishes, and what the daemon passes on to its parts and subscribers.
package enum TargetEvent: Hashable, Sendable {
    /// The first determined state, or a difference from the state before.
    case change(ReachabilityChange)
    /// Notices were lost, and everything was read again; differences follow as changes.
    case resync(Instant, reason: String)
    /// The machine slept; differences follow as changes.
    case wake(Instant, slept: Duration)
    /// A notice as the kernel sent it. Only an engine sends it, and only if its options ask for every notice.
    indirect case notice(Instant, Notice)
    /// An event of a probe. Only the daemon sends it, with the events of the Internet.
    indirect case probe(ProbeEvent)
}
