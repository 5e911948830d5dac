package import ReachCore

/// The history's records, sorted by target once.
package struct HistorySource {
    package let clock: HistoryClock
    package let targets: [String]
    private var logs: [String: HistoryLog] = [:]
    /// What tests found of each target, in order.
    private var findings: [String: [(time: Timestamp, evidence: OutageEvidence)]] = [:]
    private let now: Instant
    private let boot: String
    private let isRunning: Bool

    package init(_ log: HistoryLog, now: Instant, boot: String, isRunning: Bool) {
        clock = HistoryClock(log.entries, now: now, boot: boot)
        // The Internet is what a report is about, if it is recorded.
        let names = log.targets
        targets = names.filter { $0 == "internet" } + names.filter { $0 != "internet" }
        (self.now, self.boot, self.isRunning) = (now, boot, isRunning)
        for name in names { logs[name] = HistoryLog(lastSeen: log.lastSeen) }
        for entry in log.entries {
            if case .quality = entry.content { continue }
            if case .evidence(let evidence) = entry.content {
                findings[evidence.target, default: []].append((clock.time(of: entry), evidence))
            } else if let target = entry.target {
                logs[target]?.entries.append(entry)
            } else {
                for name in names { logs[name]?.entries.append(entry) }
            }
        }
    }

    package func firstTime(of target: String) -> Timestamp? {
        logs[target]?.entries.first { $0.target == target }.map(clock.time)
    }

    /// - Parameter since: The beginning; `nil` for the first record.
    package func timeline(of target: String, since: Timestamp?, until: Timestamp) -> HistoryTimeline {
        HistoryTimeline(
            of: target, in: logs[target] ?? HistoryLog(),
            since: since.map { .nanoseconds(now.wall.nanosecondsSince1970 - $0.nanosecondsSince1970) }, until: until,
            now: now, boot: boot, isRunning: isRunning, clock: clock)
    }

    /// The first that tests found of a target in a period.
    func evidence(of target: String, from: Timestamp, to: Timestamp) -> OutageEvidence? {
        findings[target]?.first { from <= $0.time && $0.time <= to }?.evidence
    }

    /// The states of a target in their order.
    package func states(of target: String) -> [(time: Timestamp, state: HistoryEntry.State)] {
        (logs[target]?.entries ?? []).compactMap { entry in
            guard case .state(let state) = entry.content, state.target == target else { return nil }
            return (clock.time(of: entry), state)
        }
    }
}

/// All records of the history, oldest first.
package struct HistoryLog: Hashable, Sendable {
    package var entries: [HistoryEntry] = []
    /// The last sign of life of the daemon that wrote the records, if it is known.
    package var lastSeen: Timestamp?
    /// The number of records that could not be read, because they are incomplete or damaged.
    package var damaged = 0

    package init(entries: [HistoryEntry] = [], lastSeen: Timestamp? = nil, damaged: Int = 0) {
        self.entries = entries
        self.lastSeen = lastSeen
        self.damaged = damaged
    }

    /// The targets in the records, in the order of their first appearance.
    package var targets: [String] {
        var seen: Set<String> = []
        return entries.compactMap(\.target).filter { seen.insert($0).inserted }
    }
}

/// The part of a history to show.
package struct HistoryQuery: Hashable, Sendable {
    /// How far back from now; `nil` for all records.
    package var since: Duration?
    /// The target; `nil` for all targets.
    package var target: String?

    package init(since: Duration? = nil, target: String? = nil) {
        self.since = since
        self.target = target
    }
}
