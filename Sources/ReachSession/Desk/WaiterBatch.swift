internal import ReachLoop

/// Callers that await tasks which end in the same turn of the loop. They resume together: each resumption may wake a
/// thread, which then finds more than one answer. Confined to the loop.
final class WaiterBatch {
    typealias Waiter = CheckedContinuation<Result<RequestResponse, RequestError>?, Never>

    private let loop: EventLoop
    private var pending: [(waiter: Waiter, result: Result<RequestResponse, RequestError>)] = []

    init(_ loop: EventLoop) { self.loop = loop }

    deinit { flush() }

    func append(_ waiter: Waiter, _ result: Result<RequestResponse, RequestError>) {
        pending.append((waiter, result))
        // This keeps the batch until all are resumed.
        if pending.count == 1 { loop.afterEvents { self.flush() } }
    }

    /// Resumes the callers now.
    func flush() {
        let waiting = pending
        pending = []
        for (waiter, result) in waiting { waiter.resume(returning: result) }
    }
}
