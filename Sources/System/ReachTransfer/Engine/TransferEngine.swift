internal import ReachCore
package import ReachLoop

/// Makes transfers with libcurl on one event loop: without a thread for each, and without blocking the loop.
///
/// Confined to the loop's thread, as its handlers are. The process must ignore SIGPIPE: libcurl cannot do that where
/// there are threads. The caller limits how many run at a time; libcurl's own limits are not used, since its timeouts
/// leave out the time for which a transfer waits for them.
package final class TransferEngine: TransferMaker {
    package struct Options: Sendable {
        /// How long transfers of an older epoch may continue.
        package var drainLimit: Duration = .seconds(30)
        /// How long connections are kept after the last transfer that used their pool.
        package var idlePoolLifetime: Duration = .seconds(60)
        /// The file with the certificates to trust, in PEM form; `nil` for libcurl's default.
        package var certificatesPath: String?
        package var resolver = NameService.Options()

        package init() {}
    }

    /// What connections of one pool have in common, so that one may replace another: one owner, and one set of
    /// credentials, so that a server that logs in a connection does so for no other request. libcurl's caches of names
    /// and TLS sessions also belong to a pool or a handle, and are switched off.
    ///
    /// Each pool has a multi handle of its own since libcurl 7.88.1 confuses some connections: it uses one that is
    /// bound to an interface for a request that is not, compares pins without case, and speaks HTTP/2 on one that was
    /// opened for HTTP/1.1.
    private struct PoolKey: Hashable {
        let epoch: UInt64
        let terms: ConnectionTerms
        let credentials: CredentialDigest?
        /// One address may be another host on each link.
        let zone: String?
        /// Other than 0 for a pool that no further request uses.
        var retirement: UInt64 = 0

        init(_ request: TransferRequest, epoch: UInt64) {
            self.epoch = epoch
            terms = request.shared.value.connectionTerms
            credentials = CredentialDigest(request)
            zone = request.url.zone
        }

        /// Whether this is the key of such a request. Every attempt asks: nothing is copied to compare.
        func isThat(of request: TransferRequest, epoch: UInt64) -> Bool {
            self.epoch == epoch && terms == request.shared.value.connectionTerms && zone == request.url.zone
                && credentials == CredentialDigest(request)
        }
    }

    private final class Pool {
        let multi: CurlMulti
        var idleSince: BootTime?
        /// The end of its epoch's transfers; `nil` in the current epoch.
        var drainsUntil: BootTime?

        init(_ multi: CurlMulti) { self.multi = multi }
    }

    let tools: TransferTools
    private let options: Options
    private var epoch: UInt64 = 0
    private var pools: [PoolKey: Pool] = [:]
    private var retirements: UInt64 = 0
    private var jobs: [TransferID: TransferJob] = [:]
    /// Started, and begun at the end of the loop's turn.
    private var started: [TransferJob] = []
    private var lastID: UInt64 = 0
    private var sweep: TimerQueue.ID?
    private var willSweep = false
    private let loopReference = LoopReference<TransferEngine>()
    /// The timer of the oldest epoch that has transfers; the other epochs follow it.
    private var drain: TimerQueue.ID?
    /// The timer of the first timeout of all jobs. It may be too early: most timeouts are set again, or their jobs end,
    /// long before it.
    private var alarm: (id: TimerQueue.ID, deadline: BootTime)?
    /// The pool used last, to which the next transfer mostly belongs too.
    private var lastPool: (key: PoolKey, pool: Pool)?
    /// Which of several addresses hosts are connected to, in this epoch.
    var winners = WinningAddresses()

    /// - Throws: `engine-failed` if libcurl cannot be used.
    package init(loop: EventLoop, options: Options = Options()) throws(TransferFailure) {
        if let reason = CurlRuntime.whyUnusable { throw TransferFailure(.engineFailed, reason) }
        self.options = options
        tools = TransferTools(loop: loop, options: options)
        loopReference.owner = self
    }

    deinit {
        loopReference.owner = nil
        [sweep, drain, alarm?.id].compactMap(\.self).forEach(tools.loop.cancel)
        jobs.values.forEach { $0.stop() }
        pools.values.forEach { $0.multi.close() }
    }

    /// The name service of its transfers, which others on the loop may use too.
    package var resolver: NameService { tools.resolver }

    /// The number of transfers that have not ended.
    package var runningCount: Int { jobs.count }

    /// Starts a transfer.
    ///
    /// A fault of the request is reported like any other failure: later, by ``TransferEvent/finished(_:)``.
    package func start(_ request: TransferRequest, handler: TransferHandler) -> TransferID {
        lastID += 1
        let id = TransferID(rawValue: lastID)
        let job = TransferJob(id: id, request: request, handler: handler, engine: self)
        jobs[id] = job
        started.append(job)
        if started.count == 1 { tools.loop.beforeNextPoll { [loopReference] in loopReference.owner?.beginStarted() } }
        return id
    }

    private func beginStarted() {
        let jobs = started
        started = []
        for job in jobs { job.begin() }
    }

    /// Cancels a transfer: its handler is not called again. Does nothing if the transfer has ended.
    package func cancel(_ id: TransferID) {
        guard let job = jobs[id] else { return }
        job.stop()
        ended(job)
    }

    /// Sends the response's body into a file. Only while the handler handles ``TransferEvent/head(_:)``: later, some of
    /// the body may be elsewhere.
    package func use(_ sink: FileSink, for id: TransferID) { jobs[id]?.use(sink) }

    /// Continues a transfer whose handler has room again for pieces of the body.
    package func resume(_ id: TransferID) { jobs[id]?.becameReady() }

    /// Starts an epoch, on another network: earlier connections and name servers' answers are not used any more.
    /// Running transfers may finish within ``Options/drainLimit``; after it they fail with `network-changed`.
    package func newEpoch() {
        epoch += 1
        tools.resolver.newEpoch()
        winners.removeAll()
        let end = SystemClock.boot + options.drainLimit
        for pool in pools.values where pool.drainsUntil == nil { pool.drainsUntil = end }
        closeUnused()
        awaitDrain()
    }

    /// Reads where a download can resume, from the record of its ``FileSink``. Replies later, on the loop, after
    /// everything that this engine's transfers are writing now; `nil` if the download must start again.
    package func resumePoint(record: String, of file: String, reply: @escaping (ResumePoint?) -> Void) {
        let answer = tools.replies.expect(reply)
        tools.files.run { answer(ResumePoint(record: record, of: file)) }
    }

    // MARK: - For jobs

    func start(_ attempt: Attempt, of job: TransferJob) throws(TransferFailure) {
        let pool = try pool(for: attempt.plan.request)
        pool.idleSince = nil
        attempt.job = job
        guard pool.multi.add(attempt) else {
            throw TransferFailure(.engineFailed, "libcurl accepts no more transfers")
        }
    }

    func ended(_ job: TransferJob) {
        jobs[job.id] = nil
        if jobs.isEmpty { cancelAlarm() }
        sweepLater()
    }

    // MARK: - Time

    func wake(at deadline: BootTime) {
        if let alarm, alarm.deadline <= deadline { return }
        cancelAlarm()
        let id = tools.loop.schedule(at: deadline) { [unowned self] in alarmFired() }
        alarm = (id, deadline)
    }

    private func cancelAlarm() {
        if let alarm { tools.loop.cancel(alarm.id) }
        alarm = nil
    }

    private func alarmFired() {
        alarm = nil
        let now = SystemClock.boot
        for job in jobs.values.filter({ $0.deadline.map { $0 <= now } ?? false }) { job.deadlineReached() }
        if let next = jobs.values.compactMap(\.deadline).min() { wake(at: next) }
    }

    // MARK: - Pools

    private func pool(for request: TransferRequest) throws(TransferFailure) -> Pool {
        if let lastPool, lastPool.key.isThat(of: request, epoch: epoch) { return lastPool.pool }
        let key = PoolKey(request, epoch: epoch)
        let pool: Pool = if let known = pools[key] { known } else { try makePool(key) }
        lastPool = (key, pool)
        return pool
    }

    private func makePool(_ key: PoolKey) throws(TransferFailure) -> Pool {
        guard let multi = CurlMulti(loop: tools.loop, owner: key.terms.owner, rests: tools.rests, shares: tools.shares)
        else {
            throw TransferFailure(.outOfMemory, "no memory for connections", curlCode: 27)
        }
        makeRoom()
        let pool = Pool(multi)
        pools[key] = pool
        multi.onProgress = { $0.job?.attemptMoved($0) }
        multi.onFinish = { attempt, code in attempt.job?.attemptEnded(attempt, code) }
        multi.onBroken = { [unowned self, unowned multi] reason in drop(multi, because: reason) }
        return pool
    }

    /// Closes the pool that has been idle longest, where there are too many: many users cannot all keep connections
    /// open.
    private func makeRoom() {
        guard pools.count >= Self.keptPools else { return }
        let idle = pools.filter { $0.value.multi.isIdle }
        let oldest = idle.min {
            ($0.value.idleSince?.nanoseconds ?? .max) < ($1.value.idleSince?.nanoseconds ?? .max)
        }
        guard let oldest else { return }
        oldest.value.multi.close()
        pools[oldest.key] = nil
        lastPool = nil
    }

    /// The most pools; there are more only where all have running transfers.
    private static let keptPools = 32

    /// Closes unused pools after a while, and those of older epochs at once.
    private func sweepLater() {
        guard !willSweep else { return }
        willSweep = true
        // A pool must not be closed within one of its own calls.
        tools.loop.afterEvents { [loopReference] in loopReference.owner?.closeUnused() }
    }

    private func closeUnused() {
        willSweep = false
        let now = SystemClock.boot
        var next: BootTime?
        for (key, pool) in pools where pool.multi.isIdle {
            let since = pool.idleSince ?? now
            pool.idleSince = since
            let end = key.epoch < epoch || key.retirement > 0 ? now : since + options.idlePoolLifetime
            if end <= now {
                pool.multi.close()
                pools[key] = nil
                lastPool = nil
            } else {
                next = min(next ?? end, end)
            }
        }
        if let drain, pools.values.allSatisfy({ $0.drainsUntil == nil }) {
            tools.loop.cancel(drain)
            self.drain = nil
        }
        if pools.isEmpty { tools.handles.removeAll() }
        guard sweep == nil, let next else { return }
        sweep = tools.loop.schedule(at: next) { [unowned self] in
            sweep = nil
            closeUnused()
        }
    }

    private func awaitDrain() {
        guard drain == nil, let end = pools.values.compactMap(\.drainsUntil).min() else { return }
        drain = tools.loop.schedule(at: end) { [unowned self] in
            drain = nil
            endDraining()
            awaitDrain()
        }
    }

    private func endDraining() {
        let now = SystemClock.boot
        let failure = TransferFailure(.networkChanged, "the network changed, and it took too long to finish")
        for pool in pools.values where pool.drainsUntil.map({ $0 <= now }) ?? false {
            pool.multi.runningAttempts.forEach { $0.job?.fail(failure) }
        }
        closeUnused()
    }

    private func drop(_ multi: CurlMulti, because reason: String) {
        tools.loop.afterEvents { [loopReference] in
            guard let self = loopReference.owner, let key = self.key(of: multi) else { return }
            self.pools[key] = nil
            self.lastPool = nil
            let failure = TransferFailure(.engineFailed, "libcurl: \(reason)")
            multi.runningAttempts.forEach { $0.job?.fail(failure) }
            multi.close()
        }
    }

    private func key(of multi: CurlMulti) -> PoolKey? { pools.first { $0.value.multi === multi }?.key }

    /// Gives no further request a connection of a pool in which one is dead: others by the same router may be, too.
    func retire(_ multi: CurlMulti) {
        guard var key = self.key(of: multi), key.retirement == 0, let pool = pools.removeValue(forKey: key) else {
            return
        }
        retirements += 1
        key.retirement = retirements
        pools[key] = pool
        lastPool = nil
    }
}

/// What makes transfers: an engine, or what answers in its place in the tests of a program. Confined to its loop.
///
/// ``TransferEngine`` documents the members.
package protocol TransferMaker: AnyObject {
    var runningCount: Int { get }
    func start(_ request: TransferRequest, handler: TransferHandler) -> TransferID
    func cancel(_ id: TransferID)
    func use(_ sink: FileSink, for id: TransferID)
    func resume(_ id: TransferID)
    func newEpoch()
    func resumePoint(record: String, of file: String, reply: @escaping (ResumePoint?) -> Void)
}
