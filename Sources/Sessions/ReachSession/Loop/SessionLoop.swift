internal import Logging
internal import ReachCore
internal import ReachKernel
internal import ReachLoop
internal import ReachQueue
internal import ReachQueueRuntime
internal import ReachTransfer

/// The parts of a session that live on a thread, which other sessions may share: the queue, and the tasks whose
/// requests are queued. Confined to that thread.
final class SessionLoop {
    let loop: EventLoop
    let options: RequestSessionOptions
    let cookies: CookieStorage
    let cache: ResponseCache
    let replies: LoopReplies
    /// Stored responses that may yet answer a task, by its number.
    var held: [UInt64: HeldResponse] = [:]
    let network: any QueueNetwork
    private(set) var engine: QueueEngine?
    /// The reason why the queue could not be opened.
    private var failure: RequestError?
    /// Work that waits until the queue is open; `nil` once it is open, or failed to open.
    private var early: [() -> Void]? = []
    let bodies: BodyPreparer
    /// The tasks of each request in the queue: several where a unique name is kept.
    let tasks = RequestTable<[RequestTask]>()
    /// Callers that wait until a task is stored, by the task's identifier.
    private var awaitingStorage: [UInt64: [(Int64?) -> Void]] = [:]
    /// Outcomes of attempts, until the queue reports what they mean for the request.
    let attempts = RequestTable<AttemptNote>()
    /// Tasks that are over while their answers are being read.
    var fetching: [UInt64: RequestTask] = [:]
    /// Watches for the first state of a target.
    var looks: [Target: FirstLook] = [:]
    /// Who waits until all stored requests are read, by number.
    var restores = NumberedTable<([RequestTask]) -> Void>()
    /// Ends the watches that wait for the Internet, by their numbers.
    var onlineWatches = NumberedTable<() -> Void>()
    private var activityTimer: TimerQueue.ID?
    /// What interceptors are doing and have done for requests that are not over.
    var interceptions = Interceptions()
    /// The core of the session that has set an interceptor.
    weak var interceptedCore: SessionCore?
    let trustJudge: TrustJudge?
    /// Callers that resume at the end of the turn.
    let waiters: WaiterBatch
    /// The fields of the last answer.
    var fieldsMemo = FieldsMemo()
    /// Requests that fail while the network does not allow them.
    var impatient: Set<RequestID> = []
    /// When those that wait briefly are looked at.
    var patience: TimerQueue.ID?
    let keepsOnDisk: Bool
    private let reference = LoopReference<SessionLoop>()

    init(
        _ thread: SessionLoops, _ directory: QueueDirectory?, _ options: RequestSessionOptions,
        _ cookies: CookieStorage, _ cache: ResponseCache
    ) {
        loop = thread.loop
        self.options = options
        keepsOnDisk = directory != nil
        self.cookies = cookies
        self.cache = cache
        replies = LoopReplies(loop: loop)
        bodies = BodyPreparer(loop)
        waiters = WaiterBatch(loop)
        trustJudge = options.hooks.trust.map(TrustJudge.init)
        network = options.stub.map { StubNetwork($0, on: thread.loop) } ?? thread.network(options.linkPolicy)
        let engine = QueueEngine(
            loop: loop, network: network, options: Self.options(options, keepsOnDisk: directory != nil),
            onEvent: { [reference] in reference.owner?.handle($0) },
            notify: { [reference] in reference.owner?.handle($0) })
        self.engine = engine
        reference.owner = self
        engine.host = self
        engine.onProgress = { [reference] in reference.owner?.update($0) }
        do throws(SystemError) {
            if let directory { try engine.open(directory) } else { engine.openInMemory() }
        } catch {
            beBroken(RequestError(.system(error)))
        }
    }

    deinit { reference.owner = nil }

    // MARK: - The queue opens

    /// Runs work once the queue is open, or failed to open.
    func whenOpen(_ work: @escaping () -> Void) {
        if early == nil { work() } else { early?.append(work) }
    }

    private func handle(_ notice: QueueDriver.Notice) {
        switch notice {
        case .opened: beOpen()
        case .failed(let error): beBroken(RequestError(error))
        case .setAside(let rows):
            options.logger?.debug("rows of the queue's file are set aside", metadata: ["count": "\(rows.count)"])
        case .lost(let sentence): options.logger?.debug("something was lost", metadata: ["what": "\(sentence)"])
        case .degraded(let reason?):
            options.logger?.debug("the queue's file cannot be written", metadata: ["error": "\(reason)"])
        case .degraded(nil): options.logger?.debug("the queue's file can be written again")
        }
    }

    private func beBroken(_ error: RequestError) {
        options.logger?.debug("there is no queue", metadata: ["error": "\(error)"])
        failure = error
        engine = nil
        beOpen()
    }

    private func beOpen() {
        let waiting = early ?? []
        early = nil
        waiting.forEach { $0() }
    }

    /// Closes the queue.
    ///
    /// - Returns: Whether all data was written within `patience`.
    func close(patience: Duration) -> Bool {
        if let activityTimer { loop.cancel(activityTimer) }
        if let patience = self.patience { loop.cancel(patience) }
        self.patience = nil
        waiters.flush()
        tasks.removeAll()
        bodies.endAll()
        interceptions.cancelAll()
        looks.values.forEach { $0.end() }
        looks = [:]
        onlineWatches.values.forEach { $0() }
        onlineWatches.removeAll()
        let isWritten = engine?.close(patience: patience) ?? true
        engine = nil
        for waiter in awaitingStorage.values.joined() { waiter(nil) }
        awaitingStorage = [:]
        endRestores()
        for task in fetching.values { task.conclude(.failure(.closed)) }
        fetching = [:]
        held = [:]
        return isWritten
    }

    // MARK: - Adding tasks

    func start(_ task: RequestTask) {
        guard early == nil else { return whenOpen { [weak self] in self?.start(task) } }
        guard engine != nil else { return refuse(task, failure ?? .closed) }
        // Most sessions have no cache.
        if !cache.isOn, task.plan.sharedOptions.value.cachePolicy != .returnCacheDontLoad { return submit(task) }
        findStored(for: task) { [weak self] in self?.submit(task) }
    }

    private func submit(_ task: RequestTask) {
        guard engine != nil else { return refuse(task, .closed) }
        if case .none = task.plan.request.body { return add(task, PreparedBody(queued: .none)) }
        let limit = Self.limits(options, keepsOnDisk: false).bytesOfAll(nil).bytes
        bodies.prepare(task, spool: engine?.spool, limit: limit) { [weak self] result in
            guard let self else { return }
            switch result {
            case .success(let body): add(task, body)
            case .failure(let error): refuse(task, error)
            }
        }
    }

    private func add(_ task: RequestTask, _ body: PreparedBody) {
        guard let engine, !task.requestState.isFinal else { return drop(body, of: task) }
        var request = task.plan.queued
        if body.queued != request.specification.body { request.specification.body = body.queued }
        do throws(RequestValidationError) {
            try engine.driver.add(request, isChecked: true, makeKey: UniqueKey.make) { [reference] reply in
                reference.owner?.added(task, body, reply)
            }
        } catch {
            bodies.drop(body, spool: engine.spool)
            refuse(task, RequestError(error))
        }
    }

    private func added(_ task: RequestTask, _ body: PreparedBody, _ reply: QueueReply) {
        switch reply {
        case .added(let id):
            bodies.keep(body, for: id)
            attach(task, to: id)
        case .kept(let id):
            bodies.drop(body, spool: engine?.spool)
            if keepsWhole(id) { attach(task, to: id) } else { refuse(task, .beingRead) }
        case .refused(let refusal):
            bodies.drop(body, spool: engine?.spool)
            refuse(task, RequestError(refusal))
        default:
            bodies.drop(body, spool: engine?.spool)
            refuse(task, RequestError(.storage))
        }
    }

    /// Connects a task to its request: from now on it receives the request's events.
    func attach(_ task: RequestTask, to id: RequestID) {
        tasks[id] = (tasks[id] ?? []) + [task]
        if task.plan.queued.specification.failsOffline { impatient.insert(id) }
        let life = task.attach(to: id)
        reportStored(task, id.rawValue)
        // Applies what the user did before the request had a number.
        if life.state == .cancelled { return cancel(task) }
        if life.reasons.contains(.user) { hold(task) }
    }

    private func drop(_ body: PreparedBody, of task: RequestTask) {
        held[task.identifier] = nil
        bodies.drop(body, spool: engine?.spool)
        reportStored(task, nil)
    }

    func refuse(_ task: RequestTask, _ error: RequestError) {
        held[task.identifier] = nil
        task.end(with: error)
        reportStored(task, nil)
    }

    /// Calls `body` with the number of the task's request once it is stored; with `nil` where it never will be.
    func whenStored(_ task: RequestTask, _ body: @escaping (Int64?) -> Void) {
        if let number = task.storedNumber { return body(number) }
        if task.requestState.isFinal { return body(nil) }
        awaitingStorage[task.identifier, default: []].append(body)
    }

    func reportStored(_ task: RequestTask, _ number: Int64?) {
        guard !awaitingStorage.isEmpty else { return }
        for waiter in awaitingStorage.removeValue(forKey: task.identifier) ?? [] { waiter(number) }
    }

    // MARK: - The user's commands

    func hold(_ task: RequestTask) { ask(task) { .hold($0, .root, $1) } }

    func release(_ task: RequestTask) { ask(task) { .release($0, .root, $1) } }

    /// Detaches a task that is over. Its request is cancelled with the last of its tasks.
    func cancel(_ task: RequestTask) {
        held[task.identifier] = nil
        bodies.stopCopying(of: task.identifier)
        guard let id = task.detach() else { return }
        tasks[id]?.removeAll { $0 === task }
        guard tasks[id]?.isEmpty ?? true else { return endReading(by: task, of: id) }
        tasks[id] = nil
        attempts[id] = nil
        impatient.remove(id)
        bodies.forget(id, spool: engine?.spool)
        cancel(id)
    }

    func cancel(_ id: RequestID) {
        engine?.driver.ask({ .cancel(id, .root, $0) }, { _ in })
        engine?.dropPart(of: id)
    }

    private func ask(_ task: RequestTask, _ command: (RequestID, QueueInput.Ticket) -> QueueInput) {
        guard let id = task.requestID, let engine else { return }
        engine.driver.ask({ command(id, $0) }, { _ in })
    }

    /// Deletes the result of a request, which has been delivered.
    func forget(_ number: Int64) {
        engine?.driver.ask({ .forget(RequestID(rawValue: number), .root, $0) }, { _ in })
    }

    /// Holds all requests, or releases them. Requests that are running finish.
    func holdAll(_ isHeld: Bool) {
        engine?.driver.ask({ isHeld ? .holdQueue(.root, $0) : .releaseQueue(.root, $0) }, { _ in })
    }

    func explain(_ task: RequestTask) -> RequestExplanation {
        engine?.driver.settle()
        if let id = task.requestID, let explanation = engine?.driver.explain(id) {
            var answer = RequestExplanation(explanation)
            answer.failure = attempts[id].flatMap(Self.words)
            return answer
        }
        let state = task.requestState
        if state == .resumed, !task.dependencies.isEmpty { return RequestExplanation(state: "dependent") }
        var answer = RequestExplanation(
            state: state.isFinal ? "over" : state == .suspended ? "suspended" : "new")
        answer.failure = task.ending
        return answer
    }

    /// What the last attempt met, if that is over.
    private static func words(of note: AttemptNote) -> String? {
        note.error.map { "\($0)" } ?? note.failure?.message
            ?? note.answer.map { "the server answered \($0.response.statusCode)" }
    }

    /// Schedules the activity's next update, in place of the previous one.
    func wakeActivity(at time: BootTime, _ body: @escaping () -> Void) {
        if let activityTimer { loop.cancel(activityTimer) }
        activityTimer = loop.schedule(at: time, body)
    }
}
