package import ReachCore

/// The latest outage of each target, for all that speak of it while it lasts and when it is over: the log, hooks and
/// their messages.
///
/// It begins with what the history has, is fed with the states that the history records, when they are recorded, and
/// judges as ``HistoryTimeline`` does. So begin and length are those of the history, however late somebody speaks and
/// however often the daemon was restarted meanwhile.
package struct OutageBook: Sendable {
    package struct Outage: Hashable, Sendable {
        package let since: Instant
        /// How long the target was down, without the time in which that was not known; `nil` while it lasts.
        package let length: Duration?
    }

    /// Whether a target can be used.
    package struct Use: Hashable, Sendable {
        /// `nil` while that is not known.
        package let works: Bool?
        /// When it is to be looked at again, where no state comes before: a return that nothing proves counts then.
        package let again: BootTime?
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
                    let ago = moment.sinceBoot - turn.time
                    since = Instant(
                        wall: Timestamp(nanosecondsSince1970: moment.wall.nanosecondsSince1970 - ago.nanoseconds),
                        boot: BootTime(nanoseconds: turn.time.nanoseconds))
                    down = .zero
                }
                downSince = downSince ?? (isShred ? left : turn.time)
                isOver = false
            case .usable, .unknown, .notObserved, .removed:
                down += downSince.map { turn.time - $0 } ?? .zero
                // What no one observed is no moment of a way back.
                (downSince, left) = (nil, turn.finding.isObserved ? downSince.map { _ in turn.time } : nil)
                if turn.finding == .usable { isOver = since != nil }
            }
        }
    }

    private var pages: [String: Page] = [:]

    package init() {}

    /// The outages in the records of earlier runs, read when a new run begins.
    ///
    /// - Parameters:
    ///   - now: The present, on both clocks.
    ///   - boot: The current boot of the machine.
    package init(_ log: HistoryLog, now: Instant, boot: String) {
        let clock = HistoryClock(log.entries, now: now, boot: boot)
        var last = Timestamp(nanosecondsSince1970: 0)
        let instant = { (time: Timestamp) in
            let ago = Duration.nanoseconds(now.wall.nanosecondsSince1970 - time.nanosecondsSince1970)
            return Instant(wall: time, boot: now.boot + (.zero - ago))
        }
        for entry in log.entries {
            // If times run backwards, the order of the file counts.
            let time = max(last, min(clock.time(of: entry), now.wall))
            switch entry.content {
            case .state(let state): observe(state, at: instant(time))
            case .unwatched(let target): remove(target)
            case .stopped: observeAll(.notObserved, at: instant(time))
            // The previous run may have ended at any time after its last sign of life.
            case .started(let lastSeen):
                let end = lastSeen ?? last
                observeAll(.notObserved, at: instant(max(last, min(end, time))))
            case .dropped: observeAll(.unknown, at: instant(time))
            case .quality, .evidence: break
            }
            last = time
        }
        observeAll(.notObserved, at: instant(max(last, min(log.lastSeen ?? now.wall, now.wall))))
    }

    /// Notes a state of a target, by the name that the history has for it.
    package mutating func observe(_ state: HistoryEntry.State, at moment: Instant) {
        update(state.target, at: moment) { $0.observe(state, at: moment.sinceBoot) }
    }

    /// Forgets a target that is no longer watched: what it was is over.
    package mutating func remove(_ target: String) { pages[target] = nil }

    /// The targets that were down when they were last observed.
    package var down: Set<String> { Set(pages.filter { $0.value.since != nil && !$0.value.isOver }.keys) }

    /// The latest outage of a target; `nil` if there was none.
    package mutating func latest(of target: String, at now: Instant) -> Outage? {
        guard pages[target] != nil else { return nil }
        update(target, at: now) { _ in nil }
        guard let page = pages[target], let since = page.since else { return nil }
        return Outage(since: since, length: page.isOver ? page.down : nil)
    }

    /// Whether a target can be used, by the name that the history has for it.
    package mutating func use(of target: String, at now: Instant) -> Use {
        guard pages[target] != nil else { return Use(works: nil, again: nil) }
        update(target, at: now) { _ in nil }
        guard let judge = pages[target]?.judge else { return Use(works: nil, again: nil) }
        let again = judge.deadline.map { BootTime(nanoseconds: $0.nanoseconds) }
        switch judge.finding {
        case .usable: return Use(works: true, again: again)
        case .unusable: return Use(works: false, again: again)
        case .unknown, .notObserved, .removed: return Use(works: nil, again: again)
        }
    }

    private mutating func observeAll(_ finding: UseFinding, at moment: Instant) {
        for target in pages.keys.sorted() {
            update(target, at: moment) { $0.finding.isObserved ? $0.observe(finding, at: moment.sinceBoot) : nil }
        }
    }

    private mutating func update(
        _ target: String, at moment: Instant, _ change: (inout OutageJudge) -> OutageJudge.Turn?
    ) {
        var page = pages[target] ?? Page()
        let late = page.judge.timeReached(at: moment.sinceBoot)
        for turn in [late, change(&page.judge)].compactMap(\.self) { page.note(turn, at: moment) }
        pages[target] = page
    }
}

extension Instant {
    fileprivate var sinceBoot: Duration { .nanoseconds(boot.nanoseconds) }
}
