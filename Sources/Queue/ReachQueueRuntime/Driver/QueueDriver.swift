package import ReachCore
package import ReachLoop
package import ReachQueue

/// Passes inputs and actions between the scheduler, its store, the clock and the executor.
///
/// Confined to its loop. Inputs that arrive while others are handled follow them in order. Reports of attempts and of
/// the store wait for the end of the loop's turn: with many attempts the scheduler then decides once about all of them,
/// and what follows is one transaction.
package final class QueueDriver {
    /// What only the owner of the queue receives.
    package enum Notice: Sendable {
        /// What was kept is there; before this nothing starts and no client is answered. With the path of a damaged
        /// file that was set aside (`storage-reset`).
        ///
        /// Of many requests the last ones may still have to be read: clients get answers, and new requests are accepted, but nothing
        /// is sent, and changes of requests wait.
        case opened(count: Int, setAside: String?)
        /// Rows of the file meant nothing and are where an administrator finds them: their number, and the first few.
        case setAside(RowsSetAside)
        /// What was acknowledged is lost: a sentence for the log.
        case lost(String)
        /// The file cannot be used: the queue takes nothing.
        case failed(QueueStoreError)
        /// The disk fails, and why; `nil` when it works again.
        case degraded(String?)
    }

    private let loop: EventLoop
    private let onEvent: (QueueEvent) -> Void
    let notify: (Notice) -> Void
    private weak var executor: (any QueueExecutor)?
    private var scheduler: QueueScheduler
    private let policy: QueuePolicy
    /// The disk as it was last measured; `nil` before, and where nothing is kept on one.
    private var disk: DiskSpace?
    private var store: (any QueueStorage)?
    private var isInMemory = false
    var isOpen = false
    /// What came before the file was open, or before all of its requests were restored.
    var early: [QueueInput] = []
    /// The largest number of a request that is restored; `Int64.max` when all are.
    var restoredID = Int64.min
    /// Who waits for requests that are still to be restored.
    var restoreWaiters: [(id: Int64, work: () -> Void)] = []
    /// Where a damaged file was put that was in use.
    var setAside: String?
    /// Opens the directory's file again.
    var openStore: () throws(SystemError) -> Void = {}
    /// The number of the store in use: what an earlier one still reports counts no more.
    private var storeNumber = 0
    private var inbox: [QueueInput] = []
    private var isBusy = false
    private var willWork = false
    /// Whether the store has work that its thread was not woken for, and whether that will be done.
    private var hasEnqueued = false
    private var willWake = false
    /// The attempts that have ended since it was woken.
    private var endsToWrite = 0
    private lazy var timer = DeadlineTimer(on: loop) { [unowned self] in send(.wake) }
    var clients: [QueueInput.Ticket: (QueueReply) -> Void] = [:]
    private var lastTicket: QueueInput.Ticket = 0
    /// What is to be sent, from when the store gives it until the scheduler has said whether it is.
    private var specifications: [RequestID: QueuedRequest] = [:]
    /// Whoever waits for what the store reads; only their numbers cross threads.
    private var readers: [UInt64: (Any) -> Void] = [:]
    private var lastReading: UInt64 = 0
    private let loopReference = LoopReference<QueueDriver>()

    /// - Parameters:
    ///   - executor: Held weakly; makes no attempt before the file is open.
    ///   - onEvent: Called for each change of a request, once it is committed.
    package init(
        loop: EventLoop, policy: QueuePolicy = QueuePolicy(), executor: any QueueExecutor, seed: UInt64,
        onEvent: @escaping (QueueEvent) -> Void, notify: @escaping (Notice) -> Void = { _ in }
    ) {
        self.loop = loop
        self.policy = policy
        self.executor = executor
        self.onEvent = onEvent
        self.notify = notify
        scheduler = QueueScheduler(policy, seed: seed, at: SystemClock.now)
        loopReference.owner = self
    }

    deinit {
        loopReference.owner = nil
    }

    /// Keeps the queue in memory. To be called once, in place of the other.
    package func openInMemory() {
        isInMemory = true
        store = MemoryStore(resultCount: policy.resultCount) { [loopReference] notice in
            // Nothing is waited for: a transaction is committed while it is handed over, on the loop.
            guard case .opened = notice else { loopReference.owner?.handle(notice); return }
            loopReference.owner?.loop.afterEvents { loopReference.owner?.handle(notice) }
        }
    }

    /// Opens the directory's file. To be called once.
    package func open(
        _ directory: QueueDirectory, _ options: QueueStoreOptions? = nil, outbox: QueueOutbox? = nil,
        observe: @escaping @Sendable (StorePoint, [StoreTransaction]) -> Void = { _, _ in }
    ) throws(SystemError) {
        openStore = { [unowned self] () throws(SystemError) in
            storeNumber += 1
            let number = storeNumber
            store = try QueueStore(directory, options ?? QueueStoreOptions(policy), outbox: outbox, observe: observe) {
                [loopReference, mailbox = loop.mailbox] notice in
                mailbox.post { _ in
                    guard let driver = loopReference.owner, driver.storeNumber == number else { return }
                    driver.handle(notice)
                }
            }
        }
        try openStore()
    }

    /// Ends what runs, gives its leases back, and lets the store finish.
    ///
    /// - Returns: Whether all was written in this time.
    @discardableResult
    package func close(patience: Duration) -> Bool {
        send(.stop)
        return store?.close(patience: patience) ?? true
    }

    // MARK: For clients

    /// Completes a request and queues it.
    ///
    /// - Parameters:
    ///   - isChecked: Whether the request was checked against the queue's limits, but for its body.
    ///   - reply: Called once, on the loop, when the request is safe or refused.
    /// - Throws: ``RequestValidationError``; then `reply` is not called.
    package func add(
        _ request: QueuedRequest, isChecked: Bool = false, makeKey: () -> String,
        reply: @escaping (QueueReply) -> Void
    ) throws(RequestValidationError) {
        if isChecked {
            try request.specification.checkBody(policy.limits)
        } else {
            try request.specification.check(policy.limits)
        }
        var complete = request
        if !request.specification.isComplete {
            complete.specification = request.specification.completed(makeKey: makeKey)
        }
        ask({ .add(complete, $0) }, reply)
    }

    /// Gives a client's command its ticket.
    package func ask(
        _ command: (QueueInput.Ticket) -> QueueInput, _ reply: @escaping (QueueReply) -> Void
    ) {
        lastTicket += 1
        clients[lastTicket] = reply
        send(command(lastTicket))
    }

    /// Carries out what waits for the end of the loop's turn, so that a question has an answer that includes it.
    package func settle() { work() }

    package func explain(_ id: RequestID) -> QueueExplanation? { scheduler.explain(id, at: SystemClock.now) }

    /// How many requests are not over: the client's, or for root everybody's.
    package func count(of client: QueueInput.Client) -> Int { scheduler.count(of: client) }

    /// The holds of whole queues that the client may see.
    package func holds(for client: QueueInput.Client) -> [QueueHold] { scheduler.holds(for: client) }

    /// The conditions of the requests that are not over, each with their number.
    package var conditions: [NetworkCondition: Int] { scheduler.conditions }

    package var epoch: UInt64 { scheduler.publishedEpoch }

    /// Bytes of requests that are not over and of uploads: an owner's, and everybody's.
    package func bytes(of owner: UInt32) -> (owner: Int64, all: Int64) { scheduler.bytes(of: owner) }

    /// The limit that more bytes of an owner would exceed; `nil` if they fit.
    package func excess(of bytes: Int64, for owner: UInt32, isLimited: Bool) -> ByteExcess? {
        scheduler.excess(of: bytes, for: owner, isLimited: isLimited)
    }

    /// The bytes of the longest upload that would fit into an empty queue.
    package func longestUpload(isLimited: Bool) -> ByteLimit { scheduler.longest(isLimited: isLimited) }

    /// What the disk has room for, with the requests and uploads that are there.
    package func setDisk(_ space: DiskSpace) {
        disk = space
        scheduler.diskRoom = DiskRoom(
            available: space.available, size: space.size, held: scheduler.bytes(of: 0).all, policy.limits.disk)
    }

    /// The figures of the queue as a whole.
    package var statistics: QueueStatistics { scheduler.statistics(at: SystemClock.boot) }

    /// Counts the bytes of an owner's uploads, before a request uses them; negative when they are gone.
    package func reserve(_ bytes: Int64, for owner: UInt32) { scheduler.reserve(bytes, for: owner) }

    /// Its owner has read its answer to the end. Nothing waits for this to be written.
    package func markRead(_ id: RequestID) {
        store?.submit(StoreTransaction(number: 0, changes: [.markRead(id)], mayBeRefused: true))
    }

    /// The receiver of the outbox has the rows up to this one safe.
    package func trimOutbox(upTo number: Int64) { store?.trimOutbox(upTo: number) }

    /// Reads all that is kept of a request but its body. Answers later, on the loop; `nil` if nothing is kept, and an error if that
    /// is not known.
    ///
    /// - Parameter user: Who wants to know: users take turns.
    package func record(
        of id: RequestID, for user: UInt32 = 0, _ reply: @escaping (Result<RequestReport?, QueueStoreError>) -> Void
    ) {
        read({ $0.record(of: id, for: user, $1) }, upTo: { (_: Result<RequestReport?, QueueStoreError>) in id }, reply)
            ?? reply(.failure(.notOpen))
    }

    /// Reads what is kept of several requests. Answers later, on the loop.
    ///
    /// - Parameter user: Who wants to know: users take turns.
    package func records(
        _ query: RecordQuery, for user: UInt32 = 0,
        _ reply: @escaping (Result<[RequestReport], QueueStoreError>) -> Void
    ) {
        read({ $0.records(query, for: user, $1) }, upTo: { try? $0.get().last?.id }, reply)
            ?? reply(.failure(.notOpen))
    }

    /// Answers once the scheduler has the requests that are read, since it knows what they wait for.
    ///
    /// - Parameter last: The last one of them.
    /// - Returns: `nil` where there is no store to ask.
    private func read<Value: Sendable>(
        _ question: (any QueueStorage, @escaping @Sendable (Value) -> Void) -> Void,
        upTo last: @escaping (Value) -> RequestID?, _ reply: @escaping (Value) -> Void
    ) -> Void? {
        guard let store else { return nil }
        lastReading += 1
        let number = lastReading
        readers[number] = { [unowned self] in
            guard let value = $0 as? Value else { return }
            whenRestored(upTo: last(value)?.rawValue ?? .min) { reply(value) }
        }
        question(store) { [loopReference, mailbox = loop.mailbox] value in
            mailbox.post { _ in loopReference.owner?.readers.removeValue(forKey: number)?(value) }
        }
        return ()
    }

    // MARK: For the network and the executor

    /// Takes a command in: now, after those that are being carried out, or at the end of the loop's turn.
    package func send(_ command: QueueInput) {
        guard isOpen, restoredID == .max || command.needsNoOtherRequest else { return early.append(command) }
        inbox.append(command)
        if case .ended = command { endsToWrite += 1 }
        guard !isBusy else { return }
        switch command {
        case .ended where isInMemory && endsHalf(): work()
        case .attemptRouted, .requestSent, .answering, .uploadAdvanced, .ended, .committed, .prepared, .answerHeld,
            .failureHeld,
            .judged:
            workLater()
        // In memory nothing is refused for what is added with it. On a disk each request is a transaction of its own.
        case .add where isInMemory && inbox.count < Self.addedTogether: workLater()
        default: work()
        }
    }

    /// The number of attempts whose ends wait for the scheduler.
    private var endCount = 0

    /// Whether half of few attempts have ended since the scheduler decided. It must not wait for the rest, since the servers
    /// would have nothing to do meanwhile.
    private func endsHalf() -> Bool {
        endCount += 1
        return endCount > 1 && runningCount <= Self.fewAttempts && endCount * 2 >= runningCount
    }

    private static let fewAttempts = 16

    /// The most requests that are added in one turn of the scheduler.
    private static let addedTogether = 256

    /// Whether there are unfinished requests.
    private var hasRequests = false
    private var runningCount = 0

    /// What the driver looks at after each turn. Read in place: a property of the driver's would be copied, with all that the
    /// scheduler holds.
    private static func summary(
        of scheduler: inout QueueScheduler
    ) -> (hasRequests: Bool, runningCount: Int, deadline: BootTime?) {
        (scheduler.count > 0, scheduler.runningCount, scheduler.deadline)
    }

    /// Handles what came too early, and what still does waits on. The scheduler decides once about all of it: a path that
    /// came before a hold must start nothing that the hold holds.
    func sendEarly() {
        let isWhole = restoredID == .max
        inbox += early.filter { isWhole || $0.needsNoOtherRequest }
        early.removeAll { isWhole || $0.needsNoOtherRequest }
        work()
    }

    private func workLater() {
        guard !willWork else { return }
        willWork = true
        loop.afterEvents { [loopReference] in
            loopReference.owner?.willWork = false
            loopReference.owner?.work()
        }
    }

    private func work() {
        guard !isBusy, !inbox.isEmpty else { return }
        isBusy = true
        while !inbox.isEmpty {
            let commands = inbox
            inbox = []
            endCount = 0
            for action in scheduler.handle(commands, at: SystemClock.now) { perform(action) }
        }
        isBusy = false
        // What is left is of leases whose requests were cancelled meanwhile.
        if !specifications.isEmpty { specifications = [:] }
        let summary = Self.summary(of: &scheduler)
        runningCount = summary.runningCount
        if hasEnqueued { wakeStore() }
        timer.set(to: summary.deadline)
        guard hasRequests != summary.hasRequests else { return }
        hasRequests.toggle()
        executor?.update(hasRequests: hasRequests)
    }

    /// Has the store begin, when the loop has nothing else to do: what ends until then is written together, and the store's thread does
    /// not take the processor from it. But not more than half of what runs waits for that.
    private func wakeStore() {
        hasEnqueued = false
        if endsToWrite * 2 >= runningCount {
            endsToWrite = 0
            store?.wake()
        } else if !willWake {
            willWake = true
            loop.beforeSleep { [loopReference] in
                loopReference.owner?.willWake = false
                loopReference.owner?.endsToWrite = 0
                loopReference.owner?.store?.wake()
            }
        }
    }

    private func perform(_ action: QueueAction) {
        switch action {
        case .store(let transaction):
            hasEnqueued = !isInMemory
            store?.enqueue(transaction)
        case .start(let order):
            guard let request = specifications.removeValue(forKey: order.id) else {
                // Its row is damaged: it is not known what to send.
                return inbox.append(.ended(order.id, .failed(AttemptFault(.file))))
            }
            executor?.start(order, request)
        case .prepare(let id): executor?.prepare(id)
        case .abandon(let id): executor?.abandon(id)
        case .abort(let id): executor?.abort(id)
        case .checkPath(let path): executor?.checkPath(path)
        case .watch(let destination, let owner): executor?.watch(destination, for: owner)
        case .unwatch(let destination): executor?.unwatch(destination)
        case .followRoute(let destination): executor?.followRoute(destination)
        case .unfollowRoute(let destination): executor?.unfollowRoute(destination)
        case .lookUp(let destination, let owner): executor?.lookUp(destination, for: owner)
        case .reply(let ticket, let reply): clients.removeValue(forKey: ticket)?(reply)
        case .publish(let event): onEvent(event)
        }
    }

    // MARK: Reports of the store

    private func handle(_ notice: QueueStore.Notice) {
        switch notice {
        case .opened(let contents): begin(with: contents)
        case .restored(let requests):
            send(.restore(requests, breakers: [], heldQueues: []))
            if let last = requests.last { setRestored(upTo: last.id.rawValue) }
        case .allRestored(let rows):
            early.append(.allRestored)
            beWhole(rows)
        case .damaged(let path): beginAgain(after: path)
        case .failed(let error): fail(error)
        case .committed(let number, let leased):
            for (id, request) in leased { specifications[id] = request }
            send(.committed(number))
        case .postponed(let number): send(.postponed(number))
        case .notCommitted(let number, _): send(.notCommitted(number))
        case .lost(let sentence): notify(.lost(sentence))
        case .degraded(let reason):
            send(.degraded(reason != nil))
            notify(.degraded(reason))
        }
    }

    private func begin(with contents: StoreContents) {
        scheduler = QueueScheduler(
            policy, firstID: contents.nextID, seed: scheduler.seed, at: SystemClock.now)
        isOpen = true
        executor?.begin(contents)
        if let expected = contents.expected { send(.expectRestored(expected)) }
        send(
            .restore(contents.requests, breakers: contents.breakers, heldQueues: contents.heldQueues))
        // What the file holds is no longer free, and the disk was measured with it: only now it is counted.
        disk.map(setDisk)
        notify(.opened(count: scheduler.count, setAside: contents.setAside ?? setAside))
        setAside = nil
        if contents.expected == nil { return beWhole(contents.rowsSetAside) }
        // Of rows that are no requests.
        if contents.rowsSetAside.count > 0 { notify(.setAside(contents.rowsSetAside)) }
        sendEarly()
    }
}
