internal import ReachCore

/// An outage of a report, with what is recorded of its cause.
struct ReportOutage: Hashable {
    let target: String
    /// When it began, which may be before the period.
    let from: Timestamp
    /// When it ended, or the end of the period.
    let to: Timestamp
    /// How long the target was down within the period.
    let duration: Duration
    /// Whether it began before the period.
    let beganBefore: Bool
    /// Whether it was not over at the end of the period.
    let isOpen: Bool
    let cause: OutageCause
    /// What broke, as words of the interface; `nil` if none was recorded.
    var rootCause: String?
    var rootInterface: String?
    /// The path of the target at the beginning, if there was one.
    var interface: String?
    var linkClass: String?
    /// The requests that waited in the queue when it ended; `nil` if that is not recorded.
    var waiting: Int?

    /// The outages of a target in the period of its timeline.
    static func list(of target: String, _ source: HistorySource, _ timeline: HistoryTimeline) -> [ReportOutage] {
        let within = HistorySummary(timeline)
        guard !within.outages.isEmpty else { return [] }
        // Only the whole history says when the first of them began.
        let history = HistorySummary(source.timeline(of: target, since: nil, until: timeline.to))
        let states = source.states(of: target)
        return zip(within.outages, history.outages.suffix(within.outages.count)).enumerated().map { number, pair in
            let (outage, history) = pair
            var result = ReportOutage(
                target: target, from: min(history.from, outage.from), to: outage.to, duration: outage.duration,
                beganBefore: history.from < timeline.from,
                isOpen: within.isDown && number == within.outages.count - 1, cause: history.cause)
            result.addEvidence(states)
            return result
        }
    }

    private mutating func addEvidence(_ states: [(time: Timestamp, state: HistoryEntry.State)]) {
        // The outage begins with one of these states; the clock of a boot may be off by less than a millisecond.
        let first = states.partitioningIndex { $0.time >= from }
        for (time, state) in states[first...] {
            guard time <= to else { break }
            if rootCause == nil, let cause = state.rootCause {
                (rootCause, rootInterface) = (cause, state.rootInterface)
            }
            if interface == nil, state.status == .reachable {
                (interface, linkClass) = (state.interface, state.linkClass)
            }
            if rootCause != nil || interface != nil { break }
        }
    }

    /// What failed, in words that may quote names from outside.
    var sentence: String {
        let kind = rootCause.flatMap(RootCause.Kind.init)
        let broken = kind.map { RootCause($0, interface: rootInterface).sentence }
        if let broken { return broken }
        guard cause.layer == .internet || cause.layer == .portal, let interface else { return cause.sentence }
        let linkClass = linkClass.map { " (\($0))" } ?? ""
        return "\(cause.sentence); \(interface)\(linkClass) was up"
    }

    /// The words from which it follows, such as `no-carrier eth0`.
    var evidence: String {
        let root = rootCause.flatMap { $0 == cause.evidence ? nil : $0 }
        return [cause.evidence.isEmpty ? nil : cause.evidence, root, rootInterface].compactMap { $0 }
            .joined(separator: " ")
    }
}

extension Array {
    /// The index of the first element for which `isAfter` is true, in an array that is partitioned by it.
    func partitioningIndex(_ isAfter: (Element) -> Bool) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if isAfter(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
