internal import Logging
internal import ReachCore
internal import ReachEngine
internal import ReachLoop
internal import ReachNetlink
internal import ReachQueue
internal import ReachQueueDriver
internal import ReachQueueStore
internal import ReachRequest
internal import ReachTransfer

/// What stands on a session's thread: the queue, the network that it is told of, and the tasks whose requests are in it.
/// Confined to that thread.
final class SessionDesk {
    let loop: EventLoop
    let options: RequestSessionOptions
    let network: ReachabilityEngine
    private(set) var engine: QueueEngine?
    /// Why there is no queue.
    private var failure: RequestError?
    /// What waits for the queue to be open; `nil` when it is, or cannot be.
    private var early: [() -> Void]? = []
    let bodies: BodyKeeper
    /// The handles of requests that are in the queue.
    var tasks: [RequestID: [RequestTask]] = [:]
    var numbers: [UInt64: RequestID] = [:]
    /// Who waits for tasks to be stored, by the tasks' identifiers.
    private var awaitingStorage: [UInt64: [(Int64?) -> Void]] = [:]
    /// What attempts came to, until the queue has told what that means.
    var attempts: [RequestID: AttemptNote] = [:]
    /// Tasks that are over, and whose answers are being read.
    var fetching: [UInt64: RequestTask] = [:]
    /// First looks that are on their way.
    var looks: [Target: FirstLook] = [:]
    private var activityTimer: TimerQueue.ID?

    init(_ loop: EventLoop, _ directory: QueueDirectory?, _ options: RequestSessionOptions) {
        self.loop = loop
        self.options = options
        bodies = BodyKeeper(loop)
        var engineOptions = EngineOptions()
        engineOptions.observer.policy = options.linkPolicy
        network = ReachabilityEngine(loop: loop, options: engineOptions)
        network.start()
        let engine = QueueEngine(
            loop: loop, network: network, options: Self.options(options, keepsOnDisk: directory != nil),
            tell: { [unowned self] in take($0) }, notify: { [unowned self] in take($0) })
        self.engine = engine
        engine.host = self
        engine.whenMoved = { [unowned self] in take($0) }
        do throws(SystemError) {
            if let directory { try engine.open(directory) } else { engine.openInMemory() }
        } catch {
            beBroken(RequestError(.system(error)))
        }
    }

    // MARK: - The queue opens

    /// Runs work when the queue is open, or cannot be.
    func whenOpen(_ work: @escaping () -> Void) {
        if early == nil { work() } else { early?.append(work) }
    }

    private func take(_ notice: QueueDriver.Notice) {
        switch notice {
        case .opened: beOpen()
        case .failed(let error): beBroken(RequestError(error))
        case .setAside(let rows):
            options.logger?.debug("rows of the queue's file are set aside", metadata: ["count": "\(rows.count)"])
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

    /// - Returns: Whether all was written in this time.
    func close(patience: Duration) -> Bool {
        if let activityTimer { loop.cancel(activityTimer) }
        tasks = [:]
        looks.values.forEach { $0.end() }
        looks = [:]
        let isWritten = engine?.close(patience: patience) ?? true
        engine = nil
        for waiter in awaitingStorage.values.joined() { waiter(nil) }
        awaitingStorage = [:]
        for task in fetching.values { task.conclude(.failure(.closed)) }
        fetching = [:]
        return isWritten
    }

    // MARK: - Tasks come in

    func start(_ task: RequestTask) {
        whenOpen { [weak self] in
            guard let self else { return }
            guard engine != nil else { return refuse(task, failure ?? .closed) }
            bodies.prepare(task.plan, spool: engine?.spool) { [weak self] result in
                guard let self else { return }
                switch result {
                case .success(let body): add(task, body)
                case .failure(let error): refuse(task, error)
                }
            }
        }
    }

    private func add(_ task: RequestTask, _ body: PreparedBody) {
        guard let engine, !task.requestState.isFinal else { return drop(body, of: task) }
        var request = task.plan.queued
        request.body = body.queued
        do throws(RequestMistake) {
            try engine.driver.add(request, makeKey: UniqueKey.make) { [weak self] reply in
                self?.added(task, body, reply)
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
            attach(task, to: id)
        case .refused(let refusal):
            bodies.drop(body, spool: engine?.spool)
            refuse(task, RequestError(refusal))
        default: refuse(task, RequestError(.storage))
        }
    }

    /// From now on the task is told what happens to the request.
    func attach(_ task: RequestTask, to id: RequestID) {
        tasks[id, default: []].append(task)
        numbers[task.identifier] = id
        task.isStored(as: id)
        tellStored(task, id.rawValue)
        // What was wished for before there was a number.
        if task.requestState == .cancelled { return cancel(task) }
        if task.suspensionReasons.contains(.user) { hold(task) }
    }

    private func drop(_ body: PreparedBody, of task: RequestTask) {
        bodies.drop(body, spool: engine?.spool)
        tellStored(task, nil)
    }

    private func refuse(_ task: RequestTask, _ error: RequestError) {
        task.end(with: error)
        tellStored(task, nil)
    }

    /// Calls `body` with the number of the task's request when it is safe; with `nil` where it never will be.
    func whenStored(_ task: RequestTask, _ body: @escaping (Int64?) -> Void) {
        if let number = task.storedNumber { return body(number) }
        if task.requestState.isFinal { return body(nil) }
        awaitingStorage[task.identifier, default: []].append(body)
    }

    private func tellStored(_ task: RequestTask, _ number: Int64?) {
        for waiter in awaitingStorage.removeValue(forKey: task.identifier) ?? [] { waiter(number) }
    }

    // MARK: - What users wish

    func hold(_ task: RequestTask) { ask(task) { .hold($0, .root, $1) } }

    func release(_ task: RequestTask) { ask(task) { .release($0, .root, $1) } }

    /// The task is over. Its request goes with the last of its tasks.
    func cancel(_ task: RequestTask) {
        guard let id = numbers.removeValue(forKey: task.identifier) else { return }
        tasks[id]?.removeAll { $0 === task }
        guard tasks[id]?.isEmpty ?? true else { return }
        tasks[id] = nil
        attempts[id] = nil
        bodies.forget(id, spool: engine?.spool)
        engine?.driver.ask({ .cancel(id, .root, $0) }, { _ in })
    }

    private func ask(_ task: RequestTask, _ command: (RequestID, QueueCommand.Ticket) -> QueueCommand) {
        guard let id = numbers[task.identifier], let engine else { return }
        engine.driver.ask({ command(id, $0) }, { _ in })
    }

    /// Somebody has what came of the request.
    func forget(_ number: Int64) {
        engine?.driver.ask({ .forget(RequestID(rawValue: number), .root, $0) }, { _ in })
    }

    /// Holds all requests, or lets them go; those that run are let finish.
    func holdAll(_ isHeld: Bool) {
        engine?.driver.ask({ isHeld ? .holdQueue(.root, $0) : .releaseQueue(.root, $0) }, { _ in })
    }

    func explain(_ task: RequestTask) -> RequestExplanation {
        if let id = numbers[task.identifier], let explanation = engine?.driver.explain(id) {
            return RequestExplanation(explanation)
        }
        let state = task.requestState
        return RequestExplanation(state: state.isFinal ? "over" : state == .suspended ? "suspended" : "new")
    }

    /// Has the activity look again at a time, in place of the one before.
    func wakeActivity(at time: BootTime, _ body: @escaping () -> Void) {
        if let activityTimer { loop.cancel(activityTimer) }
        activityTimer = loop.schedule(at: time, body)
    }
}
