/// The latest outage of each target, for all that speak of it while it lasts and when it is over: the log, hooks and
/// their messages.
///
/// It is fed with the states that the history records, when they are recorded, and judges as ``HistoryTimeline`` does.
/// So begin and length are those of the history, however late somebody speaks.
package struct OutageBook: Sendable {
    package struct Outage: Hashable, Sendable {
        package let since: Instant
        /// How long the target was down, without the time in which that was not known; `nil` while it lasts.
        package let length: Duration?
    }

    private struct Page {
        var judge = OutageJudge()
        var since: Instant?
        /// The time that was down, up to ``downSince``.
        var down: Duration = .zero
        /// `nil` while the target is not down.
        var downSince: Duration?
        /// When it was down last, if the same has been so since.
        var left: Duration?
        var isOver = false

        mutating func note(_ turn: OutageJudge.Turn, at moment: Instant) {
            switch turn.finding {
            case .unusable:
                // A moment on the way back is a part of the outage.
                let isShred = left.map { turn.time - $0 < HistoryTimeline.Span.shredLimit } ?? false
                if since == nil || isOver && !isShred {
                    let ago = Duration.nanoseconds(moment.boot.nanoseconds) - turn.time
                    since = Instant(
                        wall: Timestamp(nanosecondsSince1970: moment.wall.nanosecondsSince1970 - ago.nanoseconds),
                        boot: BootTime(nanoseconds: turn.time.nanoseconds))
                    down = .zero
                }
                downSince = downSince ?? (isShred ? left : turn.time)
                isOver = false
            case .usable, .unknown, .notObserved, .removed:
                down += downSince.map { turn.time - $0 } ?? .zero
                (downSince, left) = (nil, downSince.map { _ in turn.time })
                if turn.finding == .usable { isOver = since != nil }
            }
        }
    }

    private var pages: [String: Page] = [:]

    package init() {}

    /// Notes a state of a target, by the name that the history has for it.
    package mutating func observe(_ state: HistoryEntry.State, at moment: Instant) {
        update(state.target, at: moment) { $0.observe(state, at: .nanoseconds(moment.boot.nanoseconds)) }
    }

    /// Forgets a target that is no longer watched: what it was is over.
    package mutating func remove(_ target: String) { pages[target] = nil }

    /// The latest outage of a target; `nil` if there was none.
    package mutating func latest(of target: String, at now: Instant) -> Outage? {
        guard pages[target] != nil else { return nil }
        update(target, at: now) { _ in nil }
        guard let page = pages[target], let since = page.since else { return nil }
        return Outage(since: since, length: page.isOver ? page.down : nil)
    }

    private mutating func update(
        _ target: String, at moment: Instant, _ change: (inout OutageJudge) -> OutageJudge.Turn?
    ) {
        var page = pages[target] ?? Page()
        let late = page.judge.timeReached(at: .nanoseconds(moment.boot.nanoseconds))
        for turn in [late, change(&page.judge)].compactMap(\.self) { page.note(turn, at: moment) }
        pages[target] = page
    }
}
