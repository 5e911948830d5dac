internal import Dispatch
internal import ReachLoop

/// Callers that await tasks which end in the same turn of the loop. They resume together. Confined to the loop.
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

    /// Resumes the callers now: one here, and several from the pool of threads on which they go on. Each resumption by
    /// another thread may wake one of the pool, which finds a single caller, and sleeps again before the next is
    /// resumed.
    func flush() {
        let waiting = pending
        pending = []
        if waiting.count == 1 { return Self.resume(waiting) }
        if !waiting.isEmpty { DispatchQueue.global().async { Self.resume(waiting) } }
    }

    private static func resume(_ waiting: [(waiter: Waiter, result: Result<RequestResponse, RequestError>)]) {
        for (waiter, result) in waiting { waiter.resume(returning: result) }
    }
}
