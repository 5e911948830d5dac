internal import ReachCore
internal import ReachQueue

/// The queue's figures at one moment.
struct QueueMetrics: Hashable, Sendable {
    let statistics: QueueStatistics
    let counts: QueueCounts
}

/// What has happened to requests since the daemon's start.
struct QueueCounts: Hashable, Sendable {
    private(set) var added: UInt64 = 0
    private(set) var attempts: UInt64 = 0
    private(set) var done: UInt64 = 0
    private(set) var dead: UInt64 = 0
    private(set) var cancelled: UInt64 = 0

    mutating func count(_ kind: QueueEvent.Kind) {
        switch kind {
        case .queued: added += 1
        case .started: attempts += 1
        case .done: done += 1
        case .dead: dead += 1
        case .cancelled: cancelled += 1
        case .retrying, .waiting, .resumed, .suspended, .released, .interrupted, .opened, .closed, .breakerOpen,
            .breakerClosed, .degraded, .recovered, .storageReset, .meteredLow, .meteredUsed, .meteredRenewed:
            break
        }
    }
}

extension MetricsSnapshot {
    private func writeBudgets(_ budgets: [MeteredReport], _ writer: inout MetricWriter) {
        writer.family(
            "reach_queue_metered_budget_bytes", .gauge, "What requests may move over metered links in a period.")
        for budget in budgets { writer.sample([("scope", budget.scope.text)], UInt64(max(0, budget.budget.bytes))) }
        writer.family(
            "reach_queue_metered_used_bytes", .gauge, "What requests have moved over metered links in the period.")
        for budget in budgets { writer.sample([("scope", budget.scope.text)], UInt64(max(0, budget.used))) }
    }

    func writeQueue(_ queue: QueueMetrics, _ writer: inout MetricWriter) {
        let (now, counts) = (queue.statistics, queue.counts)
        writer.family("reach_queue_requests", .gauge, "Requests in the queue, of all users.")
        for (state, count) in [
            ("waiting", now.waiting), ("held", now.held), ("running", now.running), ("dead", now.dead),
        ] { writer.sample([("state", state)], UInt64(count)) }
        writer.family(
            "reach_queue_oldest_seconds", .gauge, "How long ago the oldest unfinished request was added; 0 without one."
        )
        writer.sample([], (now.oldest ?? .zero) / .seconds(1))
        writer.family("reach_queue_bytes", .gauge, "Bytes of unfinished requests and of uploads.")
        writer.sample([], UInt64(max(0, now.bytes)))
        writer.family("reach_queue_allowed_bytes", .gauge, "Bytes that all users may have in the queue.")
        writer.sample([], UInt64(max(0, now.bytesAllowed)))
        writer.family(
            "reach_queue_open_breakers", .gauge, "Users' destinations that failed too often and are left alone.")
        writer.sample([], UInt64(now.openBreakers))
        writer.family("reach_queue_held", .gauge, "Whether root or the fleet holds the queue.")
        writer.sample([], now.isHeld ? 1 as UInt64 : 0)
        writer.family("reach_queue_storage_failed", .gauge, "Whether the queue's file cannot be written.")
        writer.sample([], now.isDegraded ? 1 as UInt64 : 0)
        if !now.budgets.isEmpty { writeBudgets(now.budgets, &writer) }
        writer.family("reach_queue_added_total", .counter, "Requests added.")
        writer.sample([], counts.added)
        writer.family("reach_queue_attempts_total", .counter, "Attempts started.")
        writer.sample([], counts.attempts)
        writer.family("reach_queue_finished_total", .counter, "Requests that ended.")
        for (state, count) in [("done", counts.done), ("dead", counts.dead), ("cancelled", counts.cancelled)] {
            writer.sample([("state", state)], count)
        }
    }
}
