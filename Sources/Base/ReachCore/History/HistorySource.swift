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
            switch entry.content {
            case .quality: continue
            case .evidence(let evidence):
                findings[evidence.target, default: []].append((clock.time(of: entry), evidence))
                continue
            default: break
            }
            if let target = entry.target {
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
