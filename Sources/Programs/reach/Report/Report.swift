internal import ReachCore
internal import ReachRecords

/// What an outage report says: figures of the history and the journal for one period. All forms of the report are
/// written from it.
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
    var outages: [RecordedOutage] = []
    /// The targets that get a map of hours: those that were named, or the first.
    var mapped: [HourMapOfTarget] = []
    var probes: Record<[ProbeSeries]>
    /// What the archives of probes have of the period.
    var archives: [ArchiveSeries] = []
    var queue: Record<QueueTally>
    /// What the lines were like that were measured.
    var lines: [QualitySeries] = []
    let labels: ReportLabels
    let facts: ReportFacts
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
        now: Instant, boot: String, isRunning: Bool, host: String, zone: LocalZone,
        labels: ReportLabels = ReportLabels(),
        isClockSynchronized: Bool? = nil
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
        self.labels = labels
        self.zone = zone
        queue = .absent("")
        probes = .absent("")
        targets = names.map { [from, to] name in
            let timeline = source.timeline(of: name, since: from, until: to)
            return TargetFigures(timeline: timeline, summary: HistorySummary(timeline))
        }
        facts = ReportFacts(
            Self.leading(of: targets), source,
            clock: ClockFacts(log.entries, source.clock, from: from, to: to, isSynchronized: isClockSynchronized))
        for (name, timeline) in zip(names, targets.map(\.timeline)) {
            outages += RecordedOutage.list(of: name, source, timeline)
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
    var leading: TargetFigures? { Self.leading(of: targets) }

    private static func leading(of targets: [TargetFigures]) -> TargetFigures? {
        targets.first { $0.summary.target == "internet" } ?? targets.first
    }

    /// What the report is called.
    var title: String { labels.title ?? "Outage report" + (host.isEmpty ? "" : " of " + host) }

    /// What a provider asks, with its names.
    var particulars: [(name: String, text: String)] {
        var rows: [(name: String, text: String)] = []
        if labels.title != nil, !host.isEmpty { rows.append(("Machine", host)) }
        if let customer = labels.customer { rows.append(("Customer number", customer)) }
        if let address = labels.publicAddress { rows.append(("Public address", address.description)) }
        if !facts.gateways.isEmpty {
            let gateways = facts.gateways.map { $0.address + ($0.interface.map { " over " + $0 } ?? "") }
            rows.append((gateways.count == 1 ? "Gateway" : "Gateways", gateways.joined(separator: ", ")))
        }
        if !facts.links.isEmpty {
            let links = facts.links.map { link in
                "\(link.interface)\(link.linkClass.map { " (\($0))" } ?? "") \(PercentText.roundedDown(link.share))"
            }
            rows.append(("Connected over", links.joined(separator: ", ")))
        }
        rows.append(("Clock", facts.clock.sentence))
        return rows
    }

    /// A local date and time of day.
    func stamp(_ time: Timestamp) -> String {
        let local = zone.time(time)
        return "\(local.date) \(local.timeOfDay)"
    }

    /// The time zone of all times, such as `CET (UTC+01:00)`.
    var zoneNames: String { zone.names(from: from, to: to) }
}

/// What the user says about a report: its title, and the customer that it is for.
struct ReportLabels: Hashable {
    var title: String?
    /// The number by which the provider knows the customer.
    var customer: String?
    /// The line's address, where the user says it.
    var publicAddress: IPAddress?
}
