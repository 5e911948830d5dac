/// Where a request is in its life. All but the last four follow from its blockers.
package enum RequestState: String, Hashable, Sendable, CaseIterable {
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

/// What can happen to a request.
package enum RequestEvent: String, Hashable, Sendable, CaseIterable {
    case stored
    case notStored = "not-stored"
    case admitted
    /// Its lease could not be written: nothing was sent.
    case leaseRefused = "lease-refused"
    case accepted
    case failedByNetwork = "failed-network"
    case failedByDestination = "failed-destination"
    /// An end that counts as nobody's failure.
    case failedUncounted = "failed-uncounted"
    case failedForGood = "failed-permanent"
    case pathLost = "path-lost"
    case pathReturned = "path-returned"
    case lingerEnded = "linger-ended"
    case held
    case released
    case waitOver = "wait-over"
    /// A duplicate with the mode `keep` came.
    case woken
    case epochMoved = "epoch-moved"
    case constraintMet = "constraint-met"
    case constraintLost = "constraint-lost"
    case expired
    case predecessorDied = "predecessor-died"
    case cancelled
    case retried
    /// The queue was started anew and finds it leased by the run before.
    case restarted
}
