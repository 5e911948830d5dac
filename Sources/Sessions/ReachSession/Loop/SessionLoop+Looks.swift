internal import Dispatch
internal import ReachCore
internal import ReachLoop
internal import ReachQueue
internal import ReachQueueRuntime

/// Requests that wait for a path, to their own host or to the Internet. At first the path may only be unchecked, or a
/// name may still be in the resolver: neither suspends the task for the network.
extension SessionLoop {
    /// The requests that wait for the first state of a target.
    struct FirstLook {
        var ids: Set<RequestID> = []
        var end: () -> Void = {}
    }

    func awaitLook(_ id: RequestID) {
        guard let request = tasks[id]?.first?.plan.queued.specification else { return }
        let target = (request.condition.isTargetReachable ? request.destination.target : nil) ?? .internet
        let isFirst = looks[target] == nil
        looks[target, default: FirstLook()].ids.insert(id)
        guard isFirst else { return }
        let end = network.follow(target) { [weak self] event in
            guard case .change(let change) = event else { return }
            // Runs outside the call that starts the watch, and after the queue has received the state.
            self?.loop.afterEvents { self?.looked(target, change.state) }
        }
        looks[target]?.end = end
    }

    private func looked(_ target: Target, _ state: ReachabilityState) {
        guard let look = looks.removeValue(forKey: target) else { return }
        look.end()
        let waiting = look.ids.filter { !networkBlockers(of: $0).isEmpty && !answerWhenOffline($0) }
        for id in waiting { isOffline(id, tasks[id] ?? []) }
        guard case .name(let name) = target.subject, state.status == .notReachable, state.reason == .nameNotResolved
        else { return }
        failIfOnline(waiting, "\(name): there is no host of this name")
    }

    private func networkBlockers(of id: RequestID) -> Blocker {
        let reasons = engine?.driver.explain(id)?.reasons ?? []
        return reasons.reduce(into: Blocker()) { $0.insert($1.blocker) }.intersection(.network)
    }

    /// Fails requests whose host name has no address, where they allow a single attempt and the Internet is reachable.
    /// Without the Internet a resolver may give that answer for any name.
    private func failIfOnline(_ ids: Set<RequestID>, _ text: String) {
        let once = ids.filter { tasks[$0]?.first?.plan.queued.specification.maximumAttempts == 1 }
        guard !once.isEmpty else { return }
        let number = onlineWatches.reserve()
        onlineWatches[number] = network.follow(.internet) { [weak self] event in
            guard case .change(let change) = event else { return }
            // Runs outside the call that starts the watch.
            self?.loop.afterEvents {
                guard let self, let end = self.onlineWatches.remove(number) else { return }
                end()
                guard change.state.status == .reachable else { return }
                for task in once.flatMap({ self.tasks[$0] ?? [] }) {
                    if task.end(with: RequestError(.destination, "name-not-found", text)) { self.cancel(task) }
                }
            }
        }
    }
}

/// Values of requests. The last one that was asked for is found without a search: the steps of an attempt ask for the
/// same one many times. Confined to the loop.
final class RequestTable<Value> {
    private var all: [RequestID: Value] = [:]
    private var last: (id: RequestID, value: Value?)?

    init() {}

    subscript(id: RequestID) -> Value? {
        get {
            if let last, last.id == id { return last.value }
            let value = all[id]
            last = (id, value)
            return value
        }
        set {
            last = (id, newValue)
            all[id] = newValue
        }
    }

    subscript(id: RequestID, default value: @autoclosure () -> Value) -> Value {
        get { self[id] ?? value() }
        set { self[id] = newValue }
    }

    func removeValue(forKey id: RequestID) -> Value? {
        last = (id, nil)
        return all.removeValue(forKey: id)
    }

    var values: some Collection<Value> { all.values }

    func removeAll() { (all, last) = ([:], nil) }
}

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
