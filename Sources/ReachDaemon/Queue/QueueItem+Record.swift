internal import ReachControl
internal import ReachCore
internal import ReachQueue
internal import ReachQueueRuntime
internal import ReachTransfer

extension QueueItem {
    /// A request as the store and the scheduler have it.
    ///
    /// - Parameters:
    ///   - state: Of one that is not over.
    ///   - explanation: Of one that is not over.
    init(
        _ record: RequestRecord, state: QueuedRequestState?, explanation: QueueExplanation?, progress: AttemptProgress?
    ) {
        let request = record.request
        self.init(
            id: record.id.rawValue, user: request.owner, state: (state ?? record.outcome.state).rawValue,
            method: request.method, url: request.url, when: request.condition.description,
            priority: "\(request.priority)", created: record.created, deadline: record.deadline)
        switch record.outcome.end {
        case .dead(let death): reason = death.rawValue
        case .cancelled(let cause): reason = cause.rawValue
        case .done, nil: break
        }
        blockers = explanation?.reasons.map(\.blocker).reduce(into: Blocker()) { $0.insert($1) }.words ?? []
        order = request.orderKey
        key = request.uniqueness.key
        idempotencyKey = request.idempotency.key
        bodyBytes = record.bodyBytes
        notBefore = record.outcome.end == nil ? record.notBefore : nil
        over = record.outcome.time
        attempts = explanation?.attempts ?? record.attempts
        networkFailures = explanation?.networkFailures ?? record.networkFailures
        tries = explanation?.tries ?? record.tries
        running = progress.map(QueueProgress.init)
        status = record.outcome.result?.status
        answerBytes = record.outcome.result?.body.count
    }
}

extension RequestOutcome {
    /// Of a request that the scheduler does not know; one that is not over is about to be.
    fileprivate var state: QueuedRequestState {
        switch end {
        case .done: .done
        case .dead: .dead
        case .cancelled: .cancelled
        case nil: .waiting
        }
    }
}

extension QueueProgress {
    init(_ attempt: AttemptProgress) {
        let moved = attempt.progress
        self.init(
            id: attempt.id.rawValue, interface: attempt.interface, began: attempt.began,
            sent: Int64(clamping: moved.sent), toSend: moved.toSend.map { Int64(clamping: $0) },
            received: Int64(clamping: moved.received), toReceive: moved.toReceive.map { Int64(clamping: $0) })
    }
}
