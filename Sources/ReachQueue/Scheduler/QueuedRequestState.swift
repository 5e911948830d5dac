/// Where a request is in its life. All but the last four follow from its blockers.
package enum QueuedRequestState: String, Hashable, Sendable, CaseIterable {
    /// Not yet safe on disk.
    case new
    /// A user holds it.
    case held
    /// For the network, its destination, its turn.
    case waiting
    /// After a failure of its own.
    case backoff
    /// Nothing keeps it from starting.
    case ready
    case running
    /// Running, but its path is lost: it may come back in a moment.
    case lingering
    case done
    case dead
    case cancelled

    /// Nothing more happens to it, unless it is dead and a user has it sent again.
    package var isTerminal: Bool { self == .done || self == .dead || self == .cancelled }

    package var isRunning: Bool { self == .running || self == .lingering }
}
