internal import ReachControl
internal import ReachCore
internal import ReachQueue
internal import ReachRecords

/// What a report needs of the journal. Feed it every record once, in order.
struct JournalFigures {
    /// The time of the first record.
    private(set) var first: Timestamp?
    /// Events for which only gaps stand.
    private(set) var missing = 0
    private var attempts: [String: [ProbeSeries.Attempt]] = [:]
    private var urls: [String: String] = [:]
    private var events: [QueueTally.Event] = []
    private let clock: HistoryClock

    /// The types of records that count.
    static let types: Set = ["probe", "queue", "started"]

    init(_ clock: HistoryClock) { self.clock = clock }

    mutating func add(_ record: JournalRecord) {
        let time = clock.time(of: record.moment, boot: record.boot)
        if first == nil, record.type != "gap" { first = time }
        if record.type == "gap" { missing += record.missing?.count ?? 0 }
        if record.type == "probe" { add(try? ProbeEvent(reading: record.json), at: time) }
        guard record.type == "queue", case .event(let event)? = (try? QueueNotice(reading: record.json)) ?? nil,
            let request = event.request
        else { return }
        events.append(QueueTally.Event(event.kind, request.rawValue, reason: event.reason, at: time))
    }

    private mutating func add(_ event: ProbeEvent?, at time: Timestamp) {
        guard let event else { return }
        if event.kind == .paused, event.report.state != .down { excuseFailures(of: event.report.name) }
        guard event.kind == .result, let result = event.report.last else { return }
        let outcome: ProbeSeries.Attempt.Outcome =
            switch result.outcome {
            case .ok: .ok
            case .fail: .failed
            case .inconclusive: .inconclusive
            }
        let microseconds = UInt32(clamping: result.duration.microseconds)
        attempts[event.report.name, default: []].append(
            ProbeSeries.Attempt(time: time, outcome: outcome, microseconds: microseconds))
        urls[event.report.name] = event.report.target
    }

    /// A probe that pauses found that its path had gone: what failed since its last answer says nothing of its target.
    private mutating func excuseFailures(of probe: String) {
        guard var found = attempts.removeValue(forKey: probe) else { return }
        for index in found.indices.reversed() where found[index].outcome != .inconclusive {
            guard found[index].outcome == .failed else { break }
            found[index].outcome = .inconclusive
        }
        attempts[probe] = found
    }

    /// The probes in the order of their names.
    func series(from: Timestamp, to: Timestamp) -> [ProbeSeries] {
        attempts.sorted { $0.key < $1.key }
            .map { ProbeSeries($0.key, target: urls[$0.key] ?? "", $0.value, from: from, to: to) }
            .filter { $0.whole.ok + $0.whole.failed + $0.whole.inconclusive > 0 }
    }

    func tally(from: Timestamp, to: Timestamp) -> QueueTally { QueueTally(events, from: from, to: to) }
}
