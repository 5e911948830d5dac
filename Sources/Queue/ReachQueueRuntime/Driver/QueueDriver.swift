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
        /// Of many requests the last ones may still have to be read: clients get answers, and new requests are
        /// accepted, but nothing is sent, and changes of requests wait.
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
    /// Makes no attempt before the file is open.
    package weak var executor: (any QueueExecutor)?
    /// To be asked, and changed only by what is sent to it.
    package private(set) var scheduler: QueueScheduler
    private(set) var policy: QueuePolicy
    /// Where periods of budgets begin at midnight.
    private let zone: LocalZone
    /// The disk as it was last measured; `nil` before, and where nothing is kept on one.
    private var disk: DiskSpace?
    private(set) var store: (any QueueStorage)?
    private var isInMemory = false
    var restoring = QueueRestoring()
    /// Where a damaged file was put that was in use.
    var setAside: String?
    /// Opens the directory's file again.
    var openStore: () throws(SystemError) -> Void = {}
    /// The number of the store in use: what an earlier one still reports counts no more.
    private var storeNumber = 0
    private var inbox = QueueInbox()
    private var waking = StoreWaking()
    private lazy var timer = DeadlineTimer(on: loop) { [unowned self] in send(.wake) }
    /// By the tickets of their inputs.
    var clients = NumberedTable<(QueueReply) -> Void>()
    /// What is to be sent, from when the store gives it until the scheduler has said whether it is.
    private var specifications: [RequestID: QueuedRequest] = [:]
    /// Whoever waits for what the store reads.
    let readers: LoopReplies
    private let loopReference = LoopReference<QueueDriver>()

    /// - Parameters:
    ///   - onEvent: Called for each change of a request, once it is committed.
    package init(
        loop: EventLoop, policy: QueuePolicy = QueuePolicy(), zone: LocalZone = .system,
        executor: (any QueueExecutor)? = nil, seed: UInt64,
        onEvent: @escaping (QueueEvent) -> Void, notify: @escaping (Notice) -> Void = { _ in }
    ) {
        self.loop = loop
        self.policy = policy
        self.zone = zone
        self.executor = executor
        self.onEvent = onEvent
        self.notify = notify
        readers = LoopReplies(loop: loop)
        scheduler = QueueScheduler(policy, seed: seed, at: SystemClock.now)
        loopReference.owner = self
    }

    deinit {
        loopReference.owner = nil
    }

    /// Keeps the queue in memory. To be called once, in place of the other.
    package func openInMemory() {
        isInMemory = true
        store = MemoryStore(resultCount: policy.results.count) { [loopReference] notice in
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
            let options = options ?? QueueStoreOptions(policy)
            store = try QueueStore(directory, options, outbox: outbox, observe: observe) {
                [loopReference, mailbox = loop.mailbox] notice in
                mailbox.post { _ in
                    guard let driver = loopReference.owner, driver.storeNumber == number else { return }
                    driver.handle(notice)
                }
            }
        }
        try openStore()
    }

    /// Decides by another policy from now on, also about what is there already.
    package func apply(_ policy: QueuePolicy) {
        guard policy != self.policy else { return }
        self.policy = policy
        send(.policy(policy))
        store?.keep(policy.results)
        disk.map(setDisk)
    }

    /// Ends what runs, gives its leases back, and lets the store finish.
    ///
    /// - Returns: Whether all was written in this time.
    @discardableResult
    package func close(patience: Duration) -> Bool {
        send(.stop)
        return store?.close(patience: patience) ?? true
    }

    // MARK: Inputs

    /// What the disk has room for, with the requests and uploads that are there.
    package func setDisk(_ space: DiskSpace) {
        disk = space
        scheduler.diskRoom = DiskRoom(
            available: space.available, size: space.size, held: scheduler.bytes(of: 0).all, policy.limits.disk)
    }

    /// Counts the bytes of an owner's uploads, before a request uses them; negative when they are gone.
    package func reserve(_ bytes: Int64, for owner: UInt32) { scheduler.reserve(bytes, for: owner) }

    /// Carries out what waits for the end of the loop's turn, so that a question has an answer that includes it.
    package func settle() { work() }

    /// Takes a command in: now, after those that are being carried out, or at the end of the loop's turn.
    package func send(_ command: QueueInput) {
        guard restoring.admits(command) else { return }
        inbox.append(command)
        if case .ended = command { waking.noteEnd() }
        guard !inbox.isBusy else { return }
        switch command {
        case .ended where isInMemory && inbox.endsHalf(of: summary.runningCount): work()
        case .attemptRouted, .requestSent, .spent, .answering, .uploadAdvanced, .ended, .committed, .prepared,
            .answerHeld,
            .failureHeld,
            .judged:
            workLater()
        // In memory nothing is refused for what is added with it. On a disk each request is a transaction of its own.
        case .add where isInMemory && inbox.count < Self.addedTogether: workLater()
        default: work()
        }
    }

    /// The most requests that are added in one turn of the scheduler.
    private static let addedTogether = 256

    /// What the driver looks at after each turn.
    private struct Summary {
        /// Whether there are unfinished requests.
        var hasRequests = false
        var runningCount = 0
        var deadline: BootTime?
    }

    private var summary = Summary()

    /// Read in place: a property of the driver's would be copied, with all that the scheduler holds.
    private static func summary(of scheduler: inout QueueScheduler) -> Summary {
        Summary(
            hasRequests: scheduler.count > 0, runningCount: scheduler.runningCount, deadline: scheduler.deadline)
    }

    /// Handles what came too early, and what still does waits on. The scheduler decides once about all of it: a path
    /// that came before a hold must start nothing that the hold holds.
    func sendEarly() {
        for input in restoring.nextEarly() { inbox.append(input) }
        work()
    }

    private func workLater() {
        guard inbox.postpones() else { return }
        loop.afterEvents { [loopReference] in
            loopReference.owner?.inbox.turnEnded()
            loopReference.owner?.work()
        }
    }

    private func work() {
        guard inbox.begins() else { return }
        while let commands = inbox.next() {
            for action in scheduler.handle(commands, at: SystemClock.now) { perform(action) }
        }
        // What is left is of leases whose requests were cancelled meanwhile.
        if !specifications.isEmpty { specifications = [:] }
        let hadRequests = summary.hasRequests
        summary = Self.summary(of: &scheduler)
        wakeStore()
        timer.set(to: summary.deadline)
        if hadRequests != summary.hasRequests { executor?.update(hasRequests: summary.hasRequests) }
    }

    /// Has the store begin: see ``StoreWaking``.
    private func wakeStore() {
        switch waking.next(ofRunning: summary.runningCount) {
        case .now: store?.wake()
        case .beforeSleep:
            loop.beforeSleep { [loopReference] in
                loopReference.owner?.waking.hasWoken()
                loopReference.owner?.store?.wake()
            }
        case nil: break
        }
    }

    private func perform(_ action: QueueAction) {
        switch action {
        case .store(let transaction):
            if !isInMemory { waking.noteWork() }
            store?.enqueue(transaction)
        case .start(let order):
            guard let request = specifications.removeValue(forKey: order.id) else {
                // Its row is damaged: it is not known what to send.
                if order.isCounted {
                    inbox.append(.spent(order.id, attempt: order.number, total: 0, left: nil, isLast: true))
                }
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
        case .reply(let ticket, let reply): clients.remove(ticket)?(reply)
        case .publish(let event):
            executor?.published(event)
            onEvent(event)
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
            restoring.keep(.allRestored)
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
        scheduler.zone = zone
        restoring.isOpen = true
        executor?.begin(contents)
        send(.restoreMetered(contents.metered))
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
