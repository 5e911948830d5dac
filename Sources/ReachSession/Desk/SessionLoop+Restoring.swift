internal import ReachCore
internal import ReachQueue
internal import ReachQueueRuntime
internal import ReachSerialization
internal import Synchronization

/// Requests of an earlier run, or of this one whose tasks nobody holds any more.
extension SessionLoop {
    /// So many are read at a time, so that nobody waits for all of it.
    private static let portion = 256

    /// Reads all that is kept, and makes tasks of what has none.
    ///
    /// - Parameter reply: Called once, in the order of the numbers: those that are not over, and those whose answers are kept.
    func restore(for core: SessionCore, reply: @escaping ([RequestTask]) -> Void) {
        whenOpen { [weak self] in self?.restore(for: core, after: 0, [], reply) }
    }

    private func restore(
        for core: SessionCore, after number: Int64, _ found: [RequestTask], _ reply: @escaping ([RequestTask]) -> Void
    ) {
        guard let engine else { return reply(found) }
        engine.driver.records(RecordQuery(after: number, limit: Self.portion)) { [weak self] records in
            guard let self else { return reply(found) }
            let found = found + records.flatMap { tasks(for: $0, core) }
            guard records.count == Self.portion, let last = records.last else { return reply(found) }
            restore(for: core, after: last.id.rawValue, found, reply)
        }
    }

    private func tasks(for record: RequestRecord, _ core: SessionCore) -> [RequestTask] {
        if let known = tasks[record.id] { return known }
        if case .cancelled = record.outcome.end {
            // Whoever cancelled it knows.
            forget(record.id.rawValue)
            return []
        }
        guard let plan = TaskPlan(record) else { return [] }
        let explanation = engine?.driver.explain(record.id)
        let task = RequestTask(
            identifier: core.nextIdentifier(), plan: plan, core: core, life: RequestLife(explanation))
        task.state.withLock { state in
            state.wasResumed = true
            state.storedNumber = record.id.rawValue
        }
        core.keep(task)
        // What the queue does not know any more is over, or dead, and is kept in the store alone.
        guard let explanation, explanation.state != .dead else {
            finish(record, task)
            return [task]
        }
        tasks[record.id] = [task]
        numbers[task.identifier] = record.id
        return [task]
    }

    private func finish(_ record: RequestRecord, _ task: RequestTask) {
        switch record.outcome.end {
        case .dead(let death) where record.outcome.result == nil: task.end(with: RequestError(death, nil))
        // It was over while its record was read.
        case .done, .dead, .cancelled, nil: fetch(record.id, for: [task])
        }
    }
}

extension RequestLife {
    /// Where a request stands that the queue knows; one that is over begins as if it ran.
    fileprivate init(_ explanation: QueueExplanation?) {
        var reasons: SuspensionReasons = []
        let blockers = (explanation?.reasons ?? []).reduce(into: Blocker()) { $0.insert($1.blocker) }
        if blockers.contains(.requestHold) { reasons.insert(.user) }
        if blockers.contains(.queueHold) { reasons.insert(.queue) }
        if !blockers.isDisjoint(with: SessionLoop.network) { reasons.insert(.network) }
        self.init(suspendedFor: reasons)
        if explanation?.state.isRunning ?? false { _ = handle(.admit) }
    }
}

extension TaskPlan {
    /// - Returns: `nil` where the URL cannot be read, which what a session queued always can.
    fileprivate init?(_ record: RequestRecord) {
        guard let address = try? WebAddress(record.request.url),
            var request = try? HTTPRequest(method: record.request.method, address: address)
        else { return nil }
        request.headers = HTTPHeaders(received: record.request.headers.map { (name: $0.name, value: $0.value) })
        let kind: RequestTask.Kind =
            record.request.outputPath != nil ? .download : record.bodyBytes > 0 ? .upload : .data
        self.init(
            kind: kind, request: request, options: RequestOptions(record.request.specification), queued: record.request)
    }
}

extension RequestSession {
    /// Every request that the session has: those of this process that were resumed and are not over; in a session with a
    /// directory also those that an earlier run left, and those whose answers nobody has fetched, which are kept for a day and
    /// up to a thousand. An answer is fetched when a completion was called with it, or it was awaited.
    ///
    /// Of a request without a task one is made, to which completions and observers can be added; one that is over calls
    /// them soon.
    ///
    /// - Returns: In the order in which they were stored.
    public func tasks() async -> [RequestTask] {
        guard core.keepsOnDisk else { return core.tasks }
        return await withCheckedContinuation { continuation in
            let isAsked = core.perform { [core] desk in
                desk.restore(for: core) { continuation.resume(returning: $0) }
            }
            if !isAsked { continuation.resume(returning: []) }
        }
    }
}
