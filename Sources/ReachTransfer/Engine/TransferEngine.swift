internal import ReachCore
package import ReachLoop

/// Makes transfers with libcurl on one event loop: no thread of its own for each, and nothing on the loop that blocks.
///
/// Confined to the loop's thread, as its handlers are. SIGPIPE must be ignored by the process: libcurl cannot do that
/// where there are threads. How many run at a time is the caller's to decide; libcurl's own limits are not used, since
/// what waits for them escapes timeouts (scheduling.md 6.14).
package final class TransferEngine {
    package struct Options: Sendable {
        /// How long transfers of an older epoch may go on.
        package var drainLimit: Duration = .seconds(30)
        /// How long connections are kept after the last transfer that used their pool.
        package var idlePoolLifetime: Duration = .seconds(60)
        /// The file with the certificates to trust, in PEM form; where `nil`, libcurl's.
        package var certificatesPath: String?
        package var resolver = NameService.Options()

        package init() {}
    }

    /// Connections that may stand in for each other: those of one owner with one set of credentials. All that libcurl keeps
    /// besides (names, TLS sessions) belongs to a pool or a handle, too, and is switched off. libcurl 7.88.1 itself confuses some: one that is bound to an
    /// interface is used for a request that is not, and pins are compared without case (scheduling.md 6.7).
    private struct PoolKey: Hashable {
        let epoch: UInt64
        let owner: ConnectionOwner
        let credentials: Substring?
        let interface: InterfaceBinding?
        let source: IPAddress?
        let security: SecurityPolicy
        let clientCertificate: ClientCertificate?
        let proxy: TransferProxy

        init(_ request: TransferRequest, epoch: UInt64) {
            self.epoch = epoch
            owner = request.owner
            credentials = request.url.credentials
            interface = request.interface
            source = request.source
            security = request.security
            clientCertificate = request.clientCertificate
            proxy = request.proxy
        }
    }

    private final class Pool {
        let multi: CurlMulti
        var idleSince: BootTime?
        /// Of an older epoch: what still runs is ended then.
        var drainsUntil: BootTime?

        init(_ multi: CurlMulti) { self.multi = multi }
    }

    let tools: TransferTools
    private let options: Options
    private var epoch: UInt64 = 0
    private var pools: [PoolKey: Pool] = [:]
    private var jobs: [TransferID: TransferJob] = [:]
    /// Those that begin at the end of the loop's turn.
    private var fresh: [TransferJob] = []
    private var lastID: UInt64 = 0
    private var sweep: TimerQueue.ID?
    private var willSweep = false
    private let loopReference = LoopReference<TransferEngine>()
    /// For the oldest epoch that something still runs in; the others follow it.
    private var drain: TimerQueue.ID?
    /// For the first timeout of all jobs. It may be too early: most are set again, or their jobs end, long before it.
    private var alarm: (id: TimerQueue.ID, deadline: BootTime)?
    /// The pool that was used last: most often the next transfer belongs to it, too.
    private var lastPool: (key: PoolKey, pool: Pool)?

    /// - Throws: `engine-failed` where libcurl cannot be used.
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

    /// The one that it asks for names; others on the loop may ask it too.
    package var resolver: NameService { tools.resolver }

    /// How many transfers have not ended.
    package var runningCount: Int { jobs.count }

    /// Begins a transfer.
    ///
    /// What is wrong with the request is told as any other failure is: by ``TransferEvent/finished(_:)``, later.
    package func start(_ request: TransferRequest, handler: TransferHandler) -> TransferID {
        lastID += 1
        let id = TransferID(rawValue: lastID)
        let job = TransferJob(id: id, request: request, handler: handler, engine: self)
        jobs[id] = job
        fresh.append(job)
        if fresh.count == 1 { tools.loop.afterEvents { [loopReference] in loopReference.owner?.beginFresh() } }
        return id
    }

    private func beginFresh() {
        let jobs = fresh
        fresh = []
        for job in jobs { job.begin() }
    }

    /// Ends a transfer: its handler is not called again. One that has ended is left alone.
    package func cancel(_ id: TransferID) {
        guard let job = jobs[id] else { return }
        job.stop()
        ended(job)
    }

    /// Has the body of an answer go into a file. From within ``TransferEvent/head(_:)`` only: later some of it may be
    /// elsewhere.
    package func use(_ sink: FileSink, for id: TransferID) { jobs[id]?.use(sink) }

    /// The network is another one: connections and name servers' answers of before are not used any more. Transfers
    /// that run may finish, within ``Options/drainLimit``; then they fail with `network-changed`.
    package func newEpoch() {
        epoch += 1
        tools.resolver.newEpoch()
        let end = SystemClock.boot + options.drainLimit
        for pool in pools.values where pool.drainsUntil == nil { pool.drainsUntil = end }
        closeUnused()
        awaitDrain()
    }

    /// Reads where a download can go on, from the record that its ``FileSink`` had kept. Answers later, on the loop, and
    /// after all that transfers of this engine are writing now; `nil` where it must begin anew.
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
            throw TransferFailure(.engineFailed, "libcurl takes no more transfers")
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
        let id = tools.loop.schedule(at: deadline) { [unowned self] in timeCame() }
        alarm = (id, deadline)
    }

    private func cancelAlarm() {
        if let alarm { tools.loop.cancel(alarm.id) }
        alarm = nil
    }

    private func timeCame() {
        alarm = nil
        let now = SystemClock.boot
        for job in jobs.values.filter({ $0.deadline.map { $0 <= now } ?? false }) { job.deadlineReached() }
        if let next = jobs.values.compactMap(\.deadline).min() { wake(at: next) }
    }

    // MARK: - Pools

    private func pool(for request: TransferRequest) throws(TransferFailure) -> Pool {
        let key = PoolKey(request, epoch: epoch)
        if let lastPool, lastPool.key == key { return lastPool.pool }
        let pool: Pool = if let known = pools[key] { known } else { try makePool(key) }
        lastPool = (key, pool)
        return pool
    }

    private func makePool(_ key: PoolKey) throws(TransferFailure) -> Pool {
        guard let multi = CurlMulti(loop: tools.loop) else {
            throw TransferFailure(.outOfMemory, "no memory for connections", curlCode: 27)
        }
        makeRoom()
        let pool = Pool(multi)
        pools[key] = pool
        multi.whenNews = { $0.job?.attemptMoved() }
        multi.whenFinished = { attempt, code in attempt.job?.attemptEnded(code) }
        multi.whenBroken = { [unowned self] reason in drop(key, because: reason) }
        return pool
    }

    /// So many users cannot keep the connections of all of them open.
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

    /// More only where transfers run in each of them.
    private static let keptPools = 32

    /// Pools that nothing uses any more go after a while, those of older epochs at once.
    private func sweepLater() {
        guard !willSweep else { return }
        willSweep = true
        // Not from within one of their own calls.
        tools.loop.afterEvents { [loopReference] in loopReference.owner?.closeUnused() }
    }

    private func closeUnused() {
        willSweep = false
        let now = SystemClock.boot
        var next: BootTime?
        for (key, pool) in pools where pool.multi.isIdle {
            let since = pool.idleSince ?? now
            pool.idleSince = since
            let end = key.epoch < epoch ? now : since + options.idlePoolLifetime
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
        if pools.isEmpty { tools.handles.drop() }
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

    private func drop(_ key: PoolKey, because reason: String) {
        tools.loop.afterEvents { [loopReference] in
            guard let self = loopReference.owner, let pool = self.pools.removeValue(forKey: key) else { return }
            self.lastPool = nil
            let failure = TransferFailure(.engineFailed, "libcurl: \(reason)")
            pool.multi.runningAttempts.forEach { $0.job?.fail(failure) }
            pool.multi.close()
        }
    }
}
