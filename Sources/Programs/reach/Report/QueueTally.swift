internal import ReachCore
internal import ReachQueue
internal import ReachRecords

/// What the queue did in a period.
struct QueueTally {
    struct Event: Hashable {
        let kind: QueueEvent.Kind
        let request: Int64
        let reason: String?
        let time: Timestamp

        init(_ kind: QueueEvent.Kind, _ request: Int64, reason: String? = nil, at time: Timestamp) {
            self.kind = kind
            self.request = request
            self.reason = reason
            self.time = time
        }
    }

    private(set) var queued = 0
    private(set) var done = 0
    private(set) var dead = 0
    private(set) var cancelled = 0
    private(set) var retries = 0
    /// Attempts that ended without counting as a failure, most often because their path was lost.
    private(set) var interrupted = 0
    /// Why requests died, by the number of them.
    private(set) var deaths: [String: Int] = [:]
    /// From the time at which a request was added until it was answered: the median, and the longest.
    private(set) var medianWait: Duration?
    private(set) var longestWait: Duration?
    /// Requests that waited at the end of the period.
    private(set) var left = 0
    private var starts: [Timestamp] = []
    private var ends: [Timestamp] = []

    var isEmpty: Bool { starts.isEmpty && queued + done + dead + cancelled + retries + interrupted == 0 }

    /// - Parameter events: The events of requests in their order, also those before the period.
    init(_ events: [Event], from: Timestamp, to: Timestamp) {
        var open: [Int64: Timestamp] = [:]
        var (starts, ends): ([Timestamp], [Timestamp]) = ([], [])
        var waits: [Duration] = []
        for event in events where event.time < to {
            let isInside = event.time >= from
            switch event.kind {
            case .queued:
                // A dead request that is sent again was added before.
                if isInside, event.reason != "retry" { queued += 1 }
                if open.updateValue(event.time, forKey: event.request) == nil { starts.append(event.time) }
            case .done, .dead, .cancelled:
                if isInside { count(event) }
                guard let start = open.removeValue(forKey: event.request) else { continue }
                ends.append(event.time)
                let wait = event.time.nanosecondsSince1970 - start.nanosecondsSince1970
                if isInside, event.kind == .done { waits.append(.nanoseconds(max(0, wait))) }
            case .retrying: if isInside { retries += 1 }
            case .interrupted: if isInside { interrupted += 1 }
            case .started, .waiting, .resumed, .suspended, .released, .opened, .closed, .breakerOpen, .breakerClosed,
                .degraded, .recovered, .storageReset, .meteredLow, .meteredUsed, .meteredRenewed:
                break
            }
        }
        waits.sort()
        medianWait = waits.isEmpty ? nil : waits[(waits.count - 1) / 2]
        longestWait = waits.last
        left = open.count
        (self.starts, self.ends) = (starts.sorted(), ends.sorted())
    }

    private mutating func count(_ event: Event) {
        switch event.kind {
        case .done: done += 1
        case .cancelled: cancelled += 1
        default:
            dead += 1
            deaths[event.reason ?? "unknown", default: 0] += 1
        }
    }

    /// The requests that were in the queue just before a time. Those whose addition the journal no longer has do not
    /// count.
    func waiting(at time: Timestamp) -> Int {
        starts.partitioningIndex { $0 >= time } - ends.partitioningIndex { $0 >= time }
    }
}
