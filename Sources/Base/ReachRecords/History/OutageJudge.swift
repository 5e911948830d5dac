package import ReachCore

/// Why a target could not be used.
package struct OutageCause: Hashable, Sendable {
    package let layer: OutageLayer
    /// The reason or the connectivity from which this follows, as a word of the interface; empty if none was recorded.
    package let evidence: String
    private let reason: StateReason?
    /// What broke, if it lies below what the reason says: without a carrier there is no route.
    package let rootCause: RootCause?

    /// An outage that does not follow from a reason.
    package init(layer: OutageLayer, evidence: String) {
        self.layer = layer
        self.evidence = evidence
        (reason, rootCause) = (nil, nil)
    }

    /// Hosts of the Internet answer, and names are not resolved.
    package static let namesAlone = OutageCause(layer: .name, evidence: Reason.nameNotResolved.rawValue)

    package init(_ reason: StateReason?, rootCause: RootCause?) {
        layer = rootCause?.kind.layer ?? reason?.layer ?? .target
        evidence = reason?.word ?? ""
        self.reason = reason
        self.rootCause = rootCause
    }

    /// The one whose layer is lower; this one where both are the same.
    package func lower(of other: OutageCause?) -> OutageCause {
        guard let other, let mine = Self.layers.firstIndex(of: layer),
            let others = Self.layers.firstIndex(of: other.layer)
        else { return self }
        return others < mine ? other : self
    }

    /// From the link upwards. A name server is mostly beyond the gateway.
    private static let layers = OutageLayer.allCases

    /// What failed, in words.
    package var sentence: String {
        switch layer {
        case .portal: "a login page answers instead of the Internet"
        case .internet: "nothing answers behind this machine's own network"
        case .name where self == .namesAlone: "names are not resolved, though the Internet answers"
        default: rootCause?.sentence ?? reason?.sentence ?? evidence
        }
    }
}

extension Reason {
    /// The outage, where checks have proved this of an Internet that answers only in part; `nil` where they would say
    /// no more than that.
    package var partialOutage: OutageCause? { self == .nameNotResolved ? .namesAlone : nil }
}

/// What is known about the use of a target at one moment.
package enum UseFinding: Hashable, Sendable {
    case usable
    case unusable(OutageCause)
    case unknown
    /// No daemon observes the target.
    case notObserved
    /// The target is no longer configured, so that what it was is over.
    case removed

    /// Whether a daemon observes the target.
    package var isObserved: Bool {
        switch self {
        case .usable, .unusable, .unknown: true
        case .notObserved, .removed: false
        }
    }
}

/// Decides from a target's states, in their order, when it can be used: by what was proved where checks prove
/// something, otherwise by the kernel.
///
/// After an outage a path may be back for some seconds before a check proves or disproves it. Such an unproved return
/// counts once it has lasted ``patience`` or is proved; otherwise a provider's outage would end and begin again each
/// time the gateway restarts.
package struct OutageJudge: Hashable, Sendable {
    /// The longest time that a check takes to decide, with the default timeout of five seconds and one more attempt.
    package static let patience: Duration = .seconds(10)

    /// A finding, and when it began: for an unproved return that is earlier than the moment in which it counts.
    package struct Turn: Hashable, Sendable {
        package let finding: UseFinding
        package let time: Duration
    }

    package private(set) var finding: UseFinding = .notObserved
    /// The last finding that was `usable` or `unusable`.
    private var lastKnown: UseFinding?
    /// When a path returned about which nothing is proved yet.
    private var unprovedSince: Duration?

    package init() {}

    /// When ``timeReached(at:)`` must be called, unless a state comes first.
    package var deadline: Duration? { unprovedSince.map { $0 + Self.patience } }

    /// - Parameter time: The time since any moment that the caller chooses, always the same.
    /// - Returns: The new finding; `nil` if it is the same as before.
    package mutating func observe(_ state: HistoryEntry.State, at time: Duration) -> Turn? {
        guard state.isUndecided, case .unusable? = lastKnown else {
            unprovedSince = nil
            return turn(to: state.use, at: time)
        }
        unprovedSince = unprovedSince ?? time
        if case .unusable = finding { return nil }
        return turn(to: .unknown, at: time)
    }

    /// Handles that the target is not observed, or that the daemon lost records about it.
    package mutating func observe(_ finding: UseFinding, at time: Duration) -> Turn? {
        unprovedSince = nil
        if finding == .removed { lastKnown = nil }
        return turn(to: finding, at: time)
    }

    /// Lets an unproved return count if its time has come.
    package mutating func timeReached(at time: Duration) -> Turn? {
        guard let since = unprovedSince, let deadline, time >= deadline else { return nil }
        unprovedSince = nil
        return turn(to: .usable, at: since)
    }

    private mutating func turn(to finding: UseFinding, at time: Duration) -> Turn? {
        switch finding {
        case .usable, .unusable: lastKnown = finding
        case .unknown, .notObserved, .removed: break
        }
        guard finding != self.finding else { return nil }
        self.finding = finding
        return Turn(finding: finding, time: time)
    }
}

extension HistoryEntry.State {
    /// Whether the target cannot be used in this state.
    package var isUnusable: Bool { if case .unusable = use { true } else { false } }

    /// Whether a check of the path runs that has not decided.
    package var isUndecided: Bool { status == .reachable && connectivity == Connectivity.unknown.rawValue }

    /// Whether the target can be used in this state, without regard to earlier ones.
    fileprivate var use: UseFinding {
        switch (status, connectivity.flatMap { Connectivity(rawValue: $0) }) {
        case (.unknown, _): .unknown
        case (.notReachable, _): .unusable(OutageCause(reason, rootCause: brokenBelow))
        case (.reachable, .portal): .unusable(OutageCause(layer: .portal, evidence: Connectivity.portal.rawValue))
        case (.reachable, .limited), (.reachable, .some(.none)):
            .unusable(
                connectivityReason.flatMap(Reason.init)?.partialOutage
                    ?? OutageCause(layer: .internet, evidence: connectivity ?? ""))
        case (.reachable, _): .usable
        }
    }

    /// The root cause, if it lies below the routes.
    private var brokenBelow: RootCause? {
        guard let kind = rootCause.flatMap(RootCause.Kind.init) else { return nil }
        let cause = RootCause(kind, interface: rootInterface)
        return cause.isBelowRoutes ? cause : nil
    }
}

/// Notices when a target is lost and when it can be used again, for the log: by the rules of ``OutageJudge``.
package struct OutageNotices: Sendable {
    package enum Notice: Hashable, Sendable {
        case lost(OutageCause)
        case regained(after: Duration)
    }

    private var judge = OutageJudge()
    private var lostAt: Duration?

    package init() {}

    /// When ``timeReached(at:)`` must be called, unless a change comes first.
    package var deadline: BootTime? { judge.deadline.map { BootTime(nanoseconds: $0.nanoseconds) } }

    package mutating func observe(_ change: ReachabilityChange) -> Notice? {
        let now = Duration.nanoseconds(change.bootTime.nanoseconds)
        return notice(judge.timeReached(at: now)) ?? notice(judge.observe(HistoryEntry.State(change), at: now))
    }

    package mutating func timeReached(at now: BootTime) -> Notice? {
        notice(judge.timeReached(at: .nanoseconds(now.nanoseconds)))
    }

    private mutating func notice(_ turn: OutageJudge.Turn?) -> Notice? {
        guard let turn else { return nil }
        switch turn.finding {
        case .unusable(let cause):
            // Another cause of the same outage is no second one.
            guard lostAt == nil else { return nil }
            lostAt = turn.time
            return .lost(cause)
        case .usable:
            defer { lostAt = nil }
            return lostAt.map { .regained(after: turn.time - $0) }
        case .unknown, .notObserved, .removed: return nil
        }
    }
}
