package import ReachCore

/// What is known about one target from one point in time to another, without a gap.
package struct HistoryTimeline: Hashable, Sendable {
    package enum Observation: Hashable, Sendable {
        /// By what was proved, where connectivity checks prove something; otherwise by the kernel. See ``OutageJudge``.
        case up, down
        /// The daemon was running and could not determine the status.
        case unknown
        /// No daemon observed the target.
        case notObserved
    }

    /// A period with one observation.
    package struct Span: Hashable, Sendable {
        package let from: Timestamp
        package let to: Timestamp
        package let observation: Observation
        /// The lowest layer that was found broken while the target was down; of equal ones, what failed first.
        package let cause: OutageCause?
        /// Whether the target was no longer configured, of one that was not observed.
        package var isRemoved = false

        package var duration: Duration { .nanoseconds(to.nanosecondsSince1970 - from.nanosecondsSince1970) }
    }

    /// A period in which the target was reachable over one interface.
    package struct Passage: Hashable, Sendable {
        package let from: Timestamp
        package let to: Timestamp
        package let interface: String?
        package let linkClass: String?
    }

    package let target: String
    package let from: Timestamp
    package let to: Timestamp
    /// The spans in order. Each begins where the previous one ends, and has another observation.
    package let spans: [Span]
    /// The passages in order, with gaps where the target was not reachable.
    package let passages: [Passage]

    /// Creates a timeline from a log.
    ///
    /// - Parameters:
    ///   - since: How far back it begins; `nil` for the first record.
    ///   - end: Its end; `nil` for the present. What the records after it say of the time before it counts.
    ///   - now: The present, on both clocks.
    ///   - boot: The current boot of the machine.
    ///   - isRunning: Whether the daemon is running, so that its last record still holds.
    ///   - clock: The clock of the whole log, if `log` has only the records that concern the target.
    package init(
        of target: String, in log: HistoryLog, since: Duration?, until end: Timestamp? = nil, now: Instant,
        boot: String, isRunning: Bool, clock: HistoryClock? = nil
    ) {
        var builder = TimelineBuilder(target: target)
        let clock = clock ?? HistoryClock(log.entries, now: now, boot: boot)
        for entry in log.entries { builder.add(entry, at: min(clock.time(of: entry), now.wall)) }
        if !isRunning { builder.end(at: min(log.lastSeen ?? now.wall, now.wall)) }
        builder.finish(at: now.wall)
        let first = builder.firstTime ?? now.wall
        let earliest = since.map { Timestamp(nanosecondsSince1970: now.wall.nanosecondsSince1970 - $0.nanoseconds) }
        self.target = target
        to = min(end ?? now.wall, now.wall)
        from = min(earliest ?? first, to)
        spans = builder.spans(from: from, to: to)
        passages = builder.passages(from: from, to: to)
    }
}

/// Collects from the records the turns at which the knowledge about one target changes.
private struct TimelineBuilder {
    private struct Path: Hashable {
        var interface: String?
        var linkClass: String?
    }

    let target: String
    private var judge = OutageJudge()
    private var turns: [(time: Timestamp, finding: UseFinding)] = []
    private var paths: [(time: Timestamp, path: Path?)] = []
    private var time = Timestamp(nanosecondsSince1970: .min)

    init(target: String) { self.target = target }

    mutating func add(_ entry: HistoryEntry, at time: Timestamp) {
        switch entry.content {
        case .state(let state) where state.target == target:
            advance(to: time)
            append(judge.observe(state, at: self.time.sinceEpoch))
            pass(state.status == .reachable ? Path(interface: state.interface, linkClass: state.linkClass) : nil)
        case .unwatched(let target) where target == self.target: turn(to: .removed, at: time)
        case .stopped: turn(to: .notObserved, at: time)
        case .started(let lastSeen):
            // The previous run may have ended at any time after its last sign of life.
            if judge.finding.isObserved { turn(to: .notObserved, at: min(lastSeen ?? self.time, time)) }
        case .dropped:
            if judge.finding.isObserved { turn(to: .unknown, at: time) }
        case .state, .unwatched, .quality, .evidence: break
        }
        self.time = max(self.time, time)
    }

    mutating func end(at time: Timestamp) { turn(to: .notObserved, at: time) }

    /// Lets an unproved return count whose time comes before the end of the timeline.
    mutating func finish(at time: Timestamp) { advance(to: time) }

    private mutating func turn(to finding: UseFinding, at time: Timestamp) {
        advance(to: time)
        append(judge.observe(finding, at: self.time.sinceEpoch))
        pass(nil)
    }

    /// If times run backwards, the order of the file counts.
    private mutating func advance(to time: Timestamp) {
        self.time = max(self.time, time)
        append(judge.timeReached(at: self.time.sinceEpoch))
    }

    private mutating func append(_ turn: OutageJudge.Turn?) {
        guard let turn else { return }
        turns.append((Timestamp(sinceEpoch: turn.time), turn.finding))
    }

    private mutating func pass(_ path: Path?) {
        if paths.last.map({ $0.path != path }) ?? (path != nil) { paths.append((time, path)) }
    }

    var firstTime: Timestamp? { turns.first?.time }

    func spans(from: Timestamp, to: Timestamp) -> [HistoryTimeline.Span] {
        var spans: [HistoryTimeline.Span] = []
        var (start, finding) = (from, UseFinding.notObserved)
        func close(at end: Timestamp) {
            guard end > start else { return }
            let (observation, cause) = finding.observation
            if let last = spans.last, last.observation == observation {
                spans[spans.count - 1] = HistoryTimeline.Span(
                    from: last.from, to: end, observation: observation, cause: last.cause?.lower(of: cause),
                    isRemoved: last.isRemoved || finding == .removed)
            } else {
                spans.append(
                    HistoryTimeline.Span(
                        from: start, to: end, observation: observation, cause: cause, isRemoved: finding == .removed))
            }
        }
        for turn in turns {
            let time = min(max(turn.time, from), to)
            close(at: time)
            (start, finding) = (time, turn.finding)
        }
        close(at: to)
        return Self.withoutShreds(spans)
    }

    /// Of a cable that is plugged in again, the address, the routes and the gateway come one after another, and for
    /// moments the target can be used or not. What lasted no longer within an outage is a part of it.
    private static func withoutShreds(_ spans: [HistoryTimeline.Span]) -> [HistoryTimeline.Span] {
        var kept: [HistoryTimeline.Span] = []
        for span in spans {
            if span.observation == .down, kept.count > 1, kept[kept.count - 1].isShred,
                kept[kept.count - 2].observation == .down
            {
                kept.removeLast()
            }
            if let last = kept.last, last.observation == span.observation {
                kept[kept.count - 1] = HistoryTimeline.Span(
                    from: last.from, to: span.to, observation: span.observation,
                    cause: last.cause?.lower(of: span.cause), isRemoved: last.isRemoved || span.isRemoved)
            } else {
                kept.append(span)
            }
        }
        return kept
    }

    func passages(from: Timestamp, to: Timestamp) -> [HistoryTimeline.Passage] {
        let ends = paths.dropFirst().map(\.time) + [to]
        return zip(paths, ends).compactMap { turn, end in
            let (from, to) = (max(turn.time, from), min(end, to))
            guard let path = turn.path, path.interface != nil || path.linkClass != nil, from < to else { return nil }
            return HistoryTimeline.Passage(from: from, to: to, interface: path.interface, linkClass: path.linkClass)
        }
    }
}

extension HistoryTimeline.Span {
    /// The longest time that a state on the way back takes.
    package static let shredLimit: Duration = .seconds(1)

    fileprivate var isShred: Bool {
        (observation == .up || observation == .unknown) && duration < Self.shredLimit
    }
}

extension UseFinding {
    fileprivate var observation: (HistoryTimeline.Observation, OutageCause?) {
        switch self {
        case .usable: (.up, nil)
        case .unusable(let cause): (.down, cause)
        case .unknown: (.unknown, nil)
        case .notObserved, .removed: (.notObserved, nil)
        }
    }
}

extension Timestamp {
    fileprivate var sinceEpoch: Duration { .nanoseconds(nanosecondsSince1970) }

    fileprivate init(sinceEpoch: Duration) { self.init(nanosecondsSince1970: sinceEpoch.nanoseconds) }
}

/// Corrects the times of records if the wall clock was set in between.
///
/// Within one boot the boot clock is right, and the wall clock was most likely right at the end: a machine without a
/// battery-backed clock starts in 1970 until it has queried a time server. The last record of each boot therefore gives
/// the offset for all of its records.
package struct HistoryClock: Sendable {
    private var offsets: [String: Int64] = [:]

    /// - Parameters:
    ///   - now: The current time on both clocks.
    ///   - boot: The current boot of the machine.
    package init(_ entries: [HistoryEntry], now: Instant, boot: String) {
        for entry in entries { offsets[entry.boot] = Self.offset(entry.moment) }
        offsets[boot] = Self.offset(now)
    }

    /// The corrected time of a record.
    package func time(of entry: HistoryEntry) -> Timestamp { time(of: entry.moment, boot: entry.boot) }

    /// The corrected time of a moment in a boot, such as one of the journal; from 1970 to 2200, so that differences fit
    /// whatever a damaged file contains.
    package func time(of moment: Instant, boot: String) -> Timestamp {
        let offset = offsets[boot] ?? Self.offset(moment)
        let time = Timestamp(nanosecondsSince1970: moment.boot.nanoseconds &+ offset)
        return min(max(time, Timestamp(nanosecondsSince1970: 0)), Timestamp.latest)
    }

    private static func offset(_ moment: Instant) -> Int64 {
        // A damaged record must not trap. Its times are meaningless anyway.
        moment.wall.nanosecondsSince1970 &- moment.boot.nanoseconds
    }
}

extension Array {
    /// The index of the first element for which `isAfter` is true, in an array that is partitioned by it.
    package func partitioningIndex(_ isAfter: (Element) -> Bool) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if isAfter(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
