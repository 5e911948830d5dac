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
