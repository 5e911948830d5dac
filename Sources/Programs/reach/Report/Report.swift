internal import ReachCore

/// What an outage report says: figures of the history and the journal for one period. All forms of the report are written
/// from it.
struct Report {
    /// A figure that may not be recorded.
    enum Record<Value> {
        case recorded(Value)
        /// Why there is none, in words that follow "not recorded: ".
        case absent(String)

        var value: Value? {
            guard case .recorded(let value) = self else { return nil }
            return value
        }
    }

    /// One target in the period.
    struct TargetFigures {
        let timeline: HistoryTimeline
        let summary: HistorySummary
    }

    let host: String
    let from: Timestamp
    let to: Timestamp
    let zone: LocalZone
    var targets: [TargetFigures] = []
    /// The outages of all targets, oldest first.
    var outages: [ReportOutage] = []
    /// The targets that get a map of hours: those that were named, or the first.
    var mapped: [HourMapOfTarget] = []
    var probes: Record<[ProbeSeries]>
    /// What the archives of probes have of the period.
    var archives: [ArchiveSeries] = []
    var queue: Record<QueueTally>
    /// What the lines were like that were measured.
    var lines: [QualitySeries] = []
    /// What metered links carried in the hours of the period, most first.
    let meteredBytes: Record<[MeteredTraffic.Hour]>
    /// What limits the figures, as sentences.
    var notes: [String] = []

    struct HourMapOfTarget {
        let target: String
        let map: HourMap
    }

    /// - Parameters:
    ///   - wanted: The targets; all of the history if there are none.
    ///   - since: The beginning; `nil` for the first record of the wanted targets.
    ///   - until: The end; `nil` for the present.
    init(
        of log: HistoryLog, _ journal: Record<JournalFigures>, _ traffic: MeteredTraffic? = nil, wanted: [String],
        since: Timestamp?, until: Timestamp?,
        now: Instant, boot: String, isRunning: Bool, host: String, zone: LocalZone
    ) {
        let source = HistorySource(log, now: now, boot: boot, isRunning: isRunning)
        let wanted = wanted.reduce(into: [String]()) { if !$0.contains($1) { $0.append($1) } }
        let names = wanted.isEmpty ? source.targets : wanted
        to = min(until ?? now.wall, now.wall)
        from = min(since ?? names.compactMap(source.firstTime).min() ?? to, to)
        meteredBytes =
            traffic.map { [from, to] in .recorded($0.sums(from: from, to: to)) }
            ?? .absent("reachd has not counted the bytes of metered links here")
        self.host = host
        self.zone = zone
        queue = .absent("")
        probes = .absent("")
        for name in names {
            let timeline = source.timeline(of: name, since: from, until: to)
            targets.append(TargetFigures(timeline: timeline, summary: HistorySummary(timeline)))
            outages += ReportOutage.list(of: name, source, timeline)
        }
        lines = QualitySeries.list(log, source.clock, from: from, to: to)
        outages.sort { ($0.from, $0.target) < ($1.from, $1.target) }
        let shown = wanted.isEmpty ? Array(names.prefix(1)) : wanted
        mapped = targets.filter { shown.contains($0.summary.target) }.map {
            HourMapOfTarget(target: $0.summary.target, map: HourMap($0.timeline, zone: zone))
        }
        if log.damaged > 0 { notes.append("\(log.damaged) records of the history are damaged and left out.") }
        add(journal)
    }

    private mutating func add(_ journal: Record<JournalFigures>) {
        switch journal {
        case .absent(let why):
            queue = .absent(why)
            probes = .absent(why)
        case .recorded(let figures):
            let series = figures.series(from: from, to: to)
            probes =
                series.isEmpty
                ? .absent("no attempt of a probe is in the journal; it needs \"probe-result\" in [journal] events")
                : .recorded(series)
            let tally = figures.tally(from: from, to: to)
            queue =
                tally.isEmpty
                ? .absent("no event of the queue is in the journal; it needs \"queue\" in [journal] events")
                : .recorded(tally)
            if !tally.isEmpty {
                for index in outages.indices { outages[index].waiting = tally.waiting(at: outages[index].to) }
            }
            if let first = figures.first, first > from {
                notes.append("The journal begins at \(stamp(first)): nothing of probes and requests is known before.")
            }
            if figures.missing > 0 {
                let count = figures.missing == 1 ? "1 event" : "\(figures.missing) events"
                notes.append("\(count) of the journal could not be read or kept.")
            }
        }
    }

    /// The Internet if it is among the targets, otherwise the first.
    var leading: TargetFigures? { targets.first { $0.summary.target == "internet" } ?? targets.first }

    /// A local date and time of day.
    func stamp(_ time: Timestamp) -> String {
        let local = zone.time(time)
        return "\(local.date) \(local.timeOfDay)"
    }

    /// The time zone of all times, such as `CET (UTC+01:00)`.
    var zoneNames: String { zone.names(from: from, to: to) }
}

/// The history's records, sorted by target once.
struct HistorySource {
    let clock: HistoryClock
    let targets: [String]
    private var logs: [String: HistoryLog] = [:]
    private let now: Instant
    private let boot: String
    private let isRunning: Bool

    init(_ log: HistoryLog, now: Instant, boot: String, isRunning: Bool) {
        clock = HistoryClock(log.entries, now: now, boot: boot)
        // The Internet is what a report is about, if it is recorded.
        let names = log.targets
        targets = names.filter { $0 == "internet" } + names.filter { $0 != "internet" }
        (self.now, self.boot, self.isRunning) = (now, boot, isRunning)
        for name in names { logs[name] = HistoryLog(lastSeen: log.lastSeen) }
        for entry in log.entries {
            if case .quality = entry.content { continue }
            if let target = entry.target {
                logs[target]?.entries.append(entry)
            } else {
                for name in names { logs[name]?.entries.append(entry) }
            }
        }
    }

    func firstTime(of target: String) -> Timestamp? {
        logs[target]?.entries.first { $0.target == target }.map(clock.time)
    }

    /// - Parameter since: The beginning; `nil` for the first record.
    func timeline(of target: String, since: Timestamp?, until: Timestamp) -> HistoryTimeline {
        HistoryTimeline(
            of: target, in: logs[target] ?? HistoryLog(),
            since: since.map { .nanoseconds(now.wall.nanosecondsSince1970 - $0.nanosecondsSince1970) }, until: until,
            now: now, boot: boot, isRunning: isRunning, clock: clock)
    }

    /// The states of a target in their order.
    func states(of target: String) -> [(time: Timestamp, state: HistoryEntry.State)] {
        (logs[target]?.entries ?? []).compactMap { entry in
            guard case .state(let state) = entry.content, state.target == target else { return nil }
            return (clock.time(of: entry), state)
        }
    }
}
