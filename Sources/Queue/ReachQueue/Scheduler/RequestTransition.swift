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

/// The table of a request's life. A trigger without a row is refused.
package struct RequestTransition: Hashable, Sendable {
    /// What a row depends on in addition to state and trigger.
    package struct Facts: Hashable, Sendable {
        /// Its last failure was the network's.
        package var isNetworkFailure: Bool
        /// It may be sent again: nothing of it was sent, or the method or a key allows it.
        package var isRepeatable: Bool
        /// Its time to live ended while it was running.
        package var isExpired: Bool

        package init(isNetworkFailure: Bool = false, isRepeatable: Bool = true, isExpired: Bool = false) {
            self.isNetworkFailure = isNetworkFailure
            self.isRepeatable = isRepeatable
            self.isExpired = isExpired
        }
    }

    /// What can happen to a request.
    package enum Trigger: String, Hashable, Sendable, CaseIterable {
        case stored
        case notStored = "not-stored"
        case admitted
        /// Its lease could not be written: nothing was sent.
        case leaseRefused = "lease-refused"
        case accepted
        case failedByNetwork = "failed-network"
        case failedByDestination = "failed-destination"
        /// An end that counts as no one's failure.
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
        case conditionMet = "condition-met"
        case conditionLost = "condition-lost"
        case expired
        case predecessorDied = "predecessor-died"
        case cancelled
        case retried
        /// The queue was restarted and finds it leased by the run before.
        case restarted
    }

    /// What a row requires of the facts.
    package enum Requirement: Hashable, Sendable {
        case always
        case networkFailure
        case repeatable
        /// Repeatable, and its time is not over.
        case retriable
        case expired
    }

    package enum Outcome: Hashable, Sendable {
        case becomes(QueuedRequestState)
        /// Held, waiting, backoff or ready, as its blockers say.
        case derived
        case dies(DeathReason)
        /// Nothing is changed, and that is right.
        case stays
        /// It was never there.
        case forgotten
        /// This cannot happen in that state.
        case refused
    }

    package let from: Set<QueuedRequestState>
    package let trigger: Trigger
    package let requirement: Requirement
    package let outcome: Outcome

    /// The first row that fits decides.
    package static func outcome(of trigger: Trigger, in state: QueuedRequestState, _ facts: Facts = Facts()) -> Outcome
    {
        for row in table where row.trigger == trigger && row.from.contains(state) && row.requirement.holds(facts) {
            return row.outcome
        }
        return .refused
    }

    private static let idle: Set<QueuedRequestState> = [.held, .waiting, .backoff, .ready]
    private static let active: Set<QueuedRequestState> = [.running, .lingering]
    private static let alive: Set<QueuedRequestState> = idle.union(active).union([.new])
    private static let over: Set<QueuedRequestState> = [.done, .cancelled]

    package static let table: [RequestTransition] = [
        row([.new], .stored, .derived),
        row([.new], .notStored, .forgotten),
        row([.ready], .admitted, .becomes(.running)),
        row([.running], .leaseRefused, .derived),

        row(active, .accepted, .becomes(.done)),
        row(active, .failedForGood, .dies(.refused)),
        row(active, .failedByNetwork, if: .expired, .dies(.expired)),
        row(active, .failedByNetwork, if: .repeatable, .derived),
        row(active, .failedByNetwork, .dies(.indeterminate)),
        row(active, .failedByDestination, if: .expired, .dies(.expired)),
        row(active, .failedByDestination, if: .repeatable, .derived),
        row(active, .failedByDestination, .dies(.indeterminate)),
        row(active, .failedUncounted, if: .expired, .dies(.expired)),
        row(active, .failedUncounted, if: .repeatable, .derived),
        row(active, .failedUncounted, .dies(.indeterminate)),

        row([.running], .pathLost, .becomes(.lingering)),
        row([.lingering], .pathLost, .stays),
        row([.lingering], .pathReturned, .becomes(.running)),
        row([.lingering], .lingerEnded, if: .expired, .dies(.expired)),
        row([.lingering], .lingerEnded, if: .repeatable, .derived),
        row([.lingering], .lingerEnded, .dies(.indeterminate)),

        row(idle, .held, .becomes(.held)),
        // What may not be repeated is let finish; the hold counts if it fails.
        row(active, .held, if: .retriable, .becomes(.held)),
        row(active, .held, .stays),
        row([.new], .held, .stays),
        row([.held], .released, .derived),
        row(alive, .released, .stays),

        row([.backoff], .waitOver, .derived),
        row(idle, .waitOver, .stays),
        row([.backoff], .woken, .derived),
        row(alive, .woken, .stays),
        row([.backoff], .epochMoved, if: .networkFailure, .derived),
        row(alive, .epochMoved, .stays),
        row([.waiting], .conditionMet, .derived),
        row(alive, .conditionMet, .stays),
        row([.ready, .backoff], .conditionLost, .becomes(.waiting)),
        row(alive, .conditionLost, .stays),

        row(idle, .expired, .dies(.expired)),
        // What may not be repeated and may have arrived says so.
        row(active, .expired, if: .repeatable, .dies(.expired)),
        row(active, .expired, .dies(.indeterminate)),
        row([.new], .expired, .stays),
        row(idle.union([.new]), .predecessorDied, .dies(.dependency)),
        row(alive, .cancelled, .becomes(.cancelled)),
        row(over.union([.dead]), .cancelled, .stays),
        row([.dead], .retried, .derived),
        row([.running], .restarted, if: .repeatable, .derived),
        row([.running], .restarted, .dies(.indeterminate)),
    ]

    private static func row(
        _ from: Set<QueuedRequestState>, _ trigger: Trigger, if requirement: Requirement = .always, _ outcome: Outcome
    ) -> RequestTransition {
        RequestTransition(from: from, trigger: trigger, requirement: requirement, outcome: outcome)
    }
}

extension RequestTransition.Requirement {
    fileprivate func holds(_ facts: RequestTransition.Facts) -> Bool {
        switch self {
        case .always: true
        case .networkFailure: facts.isNetworkFailure
        case .repeatable: facts.isRepeatable
        case .retriable: facts.isRepeatable && !facts.isExpired
        case .expired: facts.isExpired
        }
    }
}
