internal import HTTPTypes
internal import ReachCore
internal import ReachQueue
internal import ReachQueueRuntime
internal import ReachSerialization
internal import Synchronization

/// Restores requests of an earlier run, and those of this run whose tasks were released.
extension SessionLoop {
    /// The number of records read at a time, so that other work on the loop does not wait for all of them.
    private static let portion = 256

    /// Reads all stored requests, and creates tasks for those that have none.
    ///
    /// - Parameter reply: Called once, with the tasks in the order of their numbers: those that are not over, and those
    ///   whose answers are stored.
    func restore(for core: SessionCore, reply: @escaping ([RequestTask]) -> Void) {
        let number = restores.add(reply)
        whenOpen { [weak self] in self?.restore(for: core, after: 0, []) { self?.endRestore(number, $0) } }
    }

    /// Replies, unless the session was closed meanwhile.
    private func endRestore(_ number: UInt64, _ found: [RequestTask]) { restores.remove(number)?(found) }

    /// Replies to those who wait for the end of reading, when the session is closed.
    func endRestores() {
        let replies = restores.values
        restores.removeAll()
        for reply in replies { reply([]) }
    }

    private func restore(
        for core: SessionCore, after number: Int64, _ found: [RequestTask], _ reply: @escaping ([RequestTask]) -> Void
    ) {
        guard let engine else { return reply(found) }
        engine.driver.records(RecordQuery(after: number, limit: Self.portion)) { [weak self] result in
            // What cannot be read has no task.
            guard let self, case .success(let records) = result else { return reply(found) }
            let found = found + records.flatMap { tasks(for: $0, core) }
            guard records.count == Self.portion, let last = records.last else { return reply(found) }
            restore(for: core, after: last.id.rawValue, found, reply)
        }
    }

    private func tasks(for record: RequestReport, _ core: SessionCore) -> [RequestTask] {
        if let attached = tasks[record.id] { return attached }
        if case .cancelled = record.end {
            // The caller that cancelled the request knows its result.
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
        // A request that the queue no longer lists is over, or dead, and only its record is left.
        guard let explanation, explanation.state != .dead else {
            finish(record, task)
            return [task]
        }
        tasks[record.id] = [task]
        _ = task.attach(to: record.id)
        if let path = record.outputPath { engine?.adoptPart(of: record.id, to: path) }
        if plan.queued.specification.failsOffline {
            impatient.insert(record.id)
            if task.suspensionReasons.contains(.network) { isOffline(record.id, [task]) }
        }
        return [task]
    }

    private func finish(_ record: RequestReport, _ task: RequestTask) {
        switch record.end {
        case .dead(let death) where record.result == nil: task.end(with: RequestError(death, nil))
        // It ended while its record was read.
        case .done, .dead, .cancelled, nil: fetch(record.id, for: [task])
        }
    }
}

extension RequestLife {
    /// The state of a request that the queue lists; one that is over begins as if it ran.
    fileprivate init(_ explanation: QueueExplanation?) {
        var reasons: SuspensionReasons = []
        let blockers = (explanation?.reasons ?? []).reduce(into: Blocker()) { $0.insert($1.blocker) }
        if blockers.contains(.requestHold) { reasons.insert(.user) }
        if blockers.contains(.queueHold) { reasons.insert(.queue) }
        if !blockers.isDisjoint(with: .network) { reasons.insert(.network) }
        self.init(suspendedFor: reasons)
        if explanation?.state.isRunning ?? false { _ = handle(.admit) }
    }
}

extension TaskPlan {
    /// Restores the plan of a stored request.
    ///
    /// - Returns: `nil` where the URL is malformed, which does not happen to what a session queued.
    fileprivate init?(_ record: RequestReport) {
        guard let url = try? WebAddress(received: record.url),
            let request = try? WebRequest(
                method: record.method, url: url, headers: HTTPFields(record.headers))
        else { return nil }
        let kind: RequestTask.Kind =
            record.outputPath != nil ? .download : record.bodyBytes > 0 ? .upload : .data
        self.init(
            kind: kind, request: request,
            sharedOptions: SharedOptions(
                RequestOptions(record.request.specification), terms: record.request.specification.sharedTerms),
            queued: record.request)
    }
}

extension RequestSession {
    /// All requests of the session that are not over, also those that were not resumed. In a session with a directory
    /// also those that an earlier run left, and those whose answers were not fetched; such answers are kept for a day,
    /// and up to a thousand. An answer counts as fetched when a completion was called with it, or a caller awaited it.
    ///
    /// A request without a task gets a new one, to which completions and observers can be added. If the request is
    /// over, its completions are called soon after.
    ///
    /// - Returns: The tasks in the order in which they were stored, then those that are not stored.
    public func tasks() async -> [RequestTask] {
        guard core.keepsOnDisk else { return core.tasks }
        let stored: [RequestTask] = await withCheckedContinuation { continuation in
            let isAsked = core.perform { [core] sessionLoop in
                sessionLoop.restore(for: core) { continuation.resume(returning: $0) }
            }
            if !isAsked { continuation.resume(returning: []) }
        }
        let identifiers = Set(stored.map(\.identifier))
        return stored + core.tasks.filter { !identifiers.contains($0.identifier) }
    }

    /// The tasks of ``tasks()`` with this tag (``RequestOptions/tag``).
    public func tasks(tagged tag: String) async -> [RequestTask] { await tasks().filter { $0.tag == tag } }
}
