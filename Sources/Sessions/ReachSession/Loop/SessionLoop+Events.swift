internal import HTTPTypes
internal import ReachCore
internal import ReachQueue
internal import ReachQueueRuntime
internal import ReachSerialization
internal import ReachTransfer
internal import Synchronization

/// Turns the queue's events into events of the tasks' lives.
extension SessionLoop {
    func handle(_ event: QueueEvent) {
        guard let id = event.request else { return handleOfAll(event) }
        if event.kind.isEnd { interceptions.forget(id) }
        guard let tasks = tasks[id] else { return }
        switch event.kind {
        case .started: for task in tasks { task.attemptBegan() }
        case .retrying where answerWhenOffline(id): break
        case .retrying, .interrupted:
            if event.kind == .interrupted { for task in tasks { noteInterruption(of: task) } }
            endWithoutBody(id)
            for task in endBrokenStreams(self.tasks[id] ?? [], id) { task.handle(.interrupt) }
        case .waiting: waits(id, tasks, event.blockers)
        case .resumed: for task in tasks { task.handle(.resume(.network)) }
        case .done, .dead, .cancelled: end(id, tasks, event)
        case .queued, .suspended, .released, .opened, .closed, .breakerOpen, .breakerClosed, .degraded, .recovered,
            .storageReset, .meteredLow, .meteredUsed, .meteredRenewed:
            break
        }
    }

    private func noteInterruption(of task: RequestTask) {
        for instrument in options.instruments { instrument.interrupted(task) }
    }

    /// Ends a request whose body was read, and cannot be read again for another attempt.
    private func endWithoutBody(_ id: RequestID) {
        guard let upload = bodies.upload(of: id), !upload.canBeSent else { return }
        let answer = attempts[id]?.answer.map { "the status \($0.response.statusCode)" }
        let reason = (attempts[id]?.failure?.message ?? answer).map { " after '\($0)'" } ?? ""
        let error = upload.failure ?? RequestError.bodyConsumed(for: "another attempt" + reason)
        for task in tasks[id] ?? [] where task.end(with: error) { cancel(task) }
    }

    private func waits(_ id: RequestID, _ tasks: [RequestTask], _ blockers: Blocker) {
        if blockers.contains(.queueHold) { for task in tasks { task.handle(.suspend(.queue)) } }
        let network = blockers.intersection(.network)
        if network.isEmpty { return }
        // The path may not have been checked yet.
        if network.isSubset(of: [.target, .validated]) {
            awaitLook(id)
        } else if !answerWhenOffline(id) {
            isOffline(id, tasks)
        }
    }

    /// Handles an event of the whole queue: it is held or released.
    private func handleOfAll(_ event: QueueEvent) {
        if event.kind == .closed { gateClosed() }
        guard event.kind == .suspended || event.kind == .released else { return }
        for task in tasks.values.joined() { task.handle(event.kind == .suspended ? .suspend(.queue) : .resume(.queue)) }
    }

    func update(_ progress: AttemptProgress) {
        for task in tasks[progress.id] ?? [] { task.update(progress.bytes) }
    }

    private func end(_ id: RequestID, _ tasks: [RequestTask], _ event: QueueEvent) {
        self.tasks[id] = nil
        for task in tasks { _ = task.detach() }
        if !impatient.isEmpty { impatient.remove(id) }
        let ended = tasks
        defer { if !held.isEmpty { for task in ended { held[task.identifier] = nil } } }
        bodies.forget(id, spool: event.kind == .dead ? nil : engine?.spool)
        let note = attempts.removeValue(forKey: id)
        if event.kind == .cancelled {
            let isSuperseded = event.reason == CancelReason.superseded.rawValue
            for task in tasks { task.end(with: isSuperseded ? .superseded : .cancelled, by: .cancel) }
            return
        }
        if let error = note?.error {
            for task in tasks { task.end(with: error) }
            return
        }
        let death = event.reason.flatMap(DeathReason.init)
        let tasks = tasks.filter { task in
            guard let death else { return true }
            return !answerFailure(task, death, status: event.status)
        }
        guard event.status != nil else {
            var error = RequestError(death ?? .invalid, note?.failure)
            error.resumeData = note?.resumeData
            for task in tasks { task.end(with: error) }
            return
        }
        if let answer = note?.answer {
            let error = death.map { RequestError($0, nil) }
            for task in tasks { task.end(with: answer, error: error, waiters: waiters) }
        } else {
            fetch(id, for: tasks, caching: note?.unread, since: note?.cacheEpoch)
        }
    }

    /// Reads an answer that the queue stores, and ends these tasks with it.
    ///
    /// - Parameters:
    ///   - unread: The answer for the cache, but for its body.
    ///   - epoch: The cache's epoch when the attempt began.
    func fetch(
        _ id: RequestID, for tasks: [RequestTask], caching unread: CachedResponse? = nil, since epoch: UInt64? = nil
    ) {
        let tasks = tasks.filter { $0.close(by: .fail) }
        for task in tasks { fetching[task.identifier] = task }
        guard let engine else { return conclude(tasks, without: "cannot be read any more") }
        engine.driver.record(of: id) { [weak self] found in
            guard let self else { return }
            guard case .success(let record) = found else { return conclude(tasks, without: "cannot be read") }
            guard let record, let result = record.result, let end = record.end,
                let response = WebResponse(result, to: record.request)
            else { return conclude(tasks, without: "is not kept any more") }
            let death: DeathReason? = if case .dead(let reason) = end { reason } else { nil }
            readBody(result.body) { [weak self] body, path in
                guard let body else { self?.conclude(tasks, without: "cannot be read"); return }
                let answer = TaskAnswer(response: response, body: body, path: path)
                if var unread {
                    unread.body = body
                    self?.storeIfWanted(unread, for: tasks.first, since: epoch)
                }
                for task in tasks {
                    self?.fetching[task.identifier] = nil
                    task.conclude(answer, error: death.map { RequestError($0, nil) })
                }
            }
        }
    }

    private func conclude(_ tasks: [RequestTask], without what: String) {
        for task in tasks {
            fetching[task.identifier] = nil
            task.conclude(.failure(RequestError(.local, "no-answer", "the answer \(what)")))
        }
    }

    private func readBody(_ body: RequestBody, reply: @escaping ([UInt8]?, String?) -> Void) {
        switch body {
        case .none: reply([], nil)
        case .inline(let bytes): reply(bytes, nil)
        case .file(let path, _): reply([], path)
        case .spooled(let name, let count):
            guard let spool = engine?.spool else { return reply(nil, nil) }
            spool.read(name, from: 0, Int(clamping: count)) { reply(try? $0.get(), nil) }
        }
    }
}

extension RequestTask {
    /// The request in the queue whose events the task receives; `nil` before, and when the request is over.
    var requestID: RequestID? { state.withLock { $0.requestID } }

    /// Connects the task to a request that is stored.
    ///
    /// - Returns: What the user did before.
    func attach(to id: RequestID) -> RequestLife {
        state.withLock { state in
            (state.storedNumber, state.requestID) = (id.rawValue, id)
            return state.life
        }
    }

    /// - Returns: The request to which it was connected.
    func detach() -> RequestID? {
        state.withLock { state in
            defer { state.requestID = nil }
            return state.requestID
        }
    }

    /// Resumes the task because an attempt begins: a wait for the network is over then.
    fileprivate func attemptBegan() {
        handle(.resume(.network))
        handle(.admit)
    }
}

extension WebResponse {
    /// - Returns: `nil` where the URL cannot be read.
    init?(_ result: RequestResult, to request: QueuedRequest) {
        var fields = result.headers
        let last = fields.firstIndex { $0.name == RequestResult.finalURLField }.map { fields.remove(at: $0).value }
        self.init(url: last ?? request.specification.url, status: result.status, fields)
    }

    /// - Returns: `nil` where the URL cannot be read.
    init?(_ head: ResponseHead, from url: TransferURL) {
        self.init(url: url.description, status: head.status, head.fields)
    }

    private init?(url: String, status: Int, _ fields: [HeaderField]) {
        guard let url = try? WebAddress(received: url) else { return nil }
        self.init(url, status: status, HTTPFields(fields))
    }

    /// - Returns: `nil` where the status is none.
    init?(_ url: WebAddress, status: Int, _ fields: HTTPFields) {
        // HTTPTypes traps at other numbers; a row of the queue's file may have one.
        guard 0...999 ~= status else { return nil }
        self.init(url: url, head: HTTPResponse(status: .init(code: status), headerFields: fields))
    }
}
