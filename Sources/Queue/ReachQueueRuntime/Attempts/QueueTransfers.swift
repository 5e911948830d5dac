internal import Glibc
internal import ReachCore
internal import ReachLoop
package import ReachQueue
package import ReachTransfer

/// Makes the queue's attempts. Each is a transfer that uses the path that the queue chose, and no other. Confined to
/// the loop.
package final class QueueTransfers {
    package struct Options: Sendable {
        package var timeouts = TransferTimeouts()
        /// The longest answer in bytes; a request with a longer one is dead.
        package var answerBytes = UInt64(QueueLimits.answerBytes)
        /// The limit on the bytes of one owner's unfinished answers: those that are being received, and those that a
        /// later attempt continues.
        package var ownerAnswerBytes = UInt64.max
        /// The longest download in bytes to a file that the client names.
        package var downloadBytes: UInt64 = 1 << 40
        /// The longest answer in bytes that is stored with its request. A longer one gets a file of its own if the
        /// queue has a directory.
        package var memoryBytes = 64 << 10
        /// How much of the spool's disk stays free of answers; `nil` lets them fill it.
        package var disk: DiskRules?
        package var security = SecurityPolicy.standard
        package var userAgent = "reach"
        /// Whether a server's Retry-After concerns only requests that are sent again: one that is sent once does not
        /// hold the others.
        package var ignoresRetryAfterOfSingleAttempts = false
        /// The proxies of requests that ask for no other.
        package var proxies = TransferProxies.none

        package init() {}
    }

    /// A running attempt.
    final class Running {
        let order: AttemptOrder
        let request: QueuedRequest
        /// What ``request`` holds. Read once: each read copies all of it in another module
        /// (contrib/bench/bounds.md).
        let specification: RequestSpecification
        let terms: RequestTerms
        let began: Instant
        /// The path that the attempt uses: that of the order, unless the destination has a path of its own.
        var path: QueuePath
        var transfer: TransferID?
        /// The request as it was sent last, for questions to the host; `nil` without a host.
        var sent: TransferRequest?
        var progress = ByteProgress()
        /// For budgets: what it has moved over its link.
        var moved = MovedBytes()
        /// The resume offset in bytes: what an earlier attempt received; `nil` for an attempt from the beginning.
        var resumedAt: UInt64?
        /// Whether the server sends only the rest, from ``resumedAt`` on.
        var isResumed = false
        /// The same request from the first byte, for a server that cannot send the rest; `nil` once that was sent.
        var fromStart: TransferRequest?
        /// The exchanges of a resumable upload; `nil` for other requests.
        var upload: UploadAttempt?
        /// Whether the owner's quota has less room than the limit on an answer.
        var isShortOfRoom = false
        /// Whether it followed a redirect that was in the clear.
        var isRedirectedInTheClear = false

        init(_ order: AttemptOrder, _ request: QueuedRequest, began: Instant) {
            self.order = order
            self.request = request
            specification = request.specification
            terms = specification.terms
            self.began = began
            path = order.path
        }
    }

    /// The beginning of an answer that an attempt left in the spool.
    enum Leftover {
        /// The next attempt can resume after the bytes that its record confirms.
        case begun
        /// The next attempt starts from the beginning.
        case useless
    }

    /// Created for the first attempt, so that a queue without attempts does not load libcurl.
    var engine: (any TransferMaker)?
    let makeEngine: () throws(TransferFailure) -> any TransferMaker
    var options: Options
    let send: (QueueInput) -> Void
    /// Where long answers go; `nil` where the queue is in memory only.
    var spool: QueueSpool?
    /// The bytes of the spool's disk that stay free; `nil` where answers may fill it.
    var keptFree: KeptSpace?
    /// Called at most ten times a second for each attempt.
    var onProgress: (AttemptProgress) -> Void = { _ in }
    var running: [RequestID: Running] = [:]
    let uploads: UploadStates
    /// The unfinished answers in the spool. No result names their files.
    var leftovers: [RequestID: Leftover] = [:]
    var quota = AnswerQuota()
    /// The URL of the last attempt.
    var lastURL: TransferURL?
    let downloads: QueueDownloads
    weak var host: (any AttemptHost)?
    private var health = PassiveHealth()
    /// Chooses the way to each address of an attempt. If it returns `nil`, the order's path serves all addresses.
    var router: (AttemptOrder, RouteTarget, [IPAddress]) -> AttemptRouter.Choice? = { _, _, _ in nil }
    /// Chooses the interface for queries to a name server.
    var serverRoute: NameService.ServerRoute?
    let loopReference = LoopReference<QueueTransfers>()

    /// - Parameters:
    ///   - make: Makes what performs the transfers instead of a ``TransferEngine``; `nil` for an engine.
    ///   - send: Receives the outcomes of attempts.
    init(
        loop: EventLoop, transfers: TransferEngine.Options, options: Options,
        make: ((EventLoop) -> any TransferMaker)? = nil, send: @escaping (QueueInput) -> Void
    ) {
        makeEngine = { () throws(TransferFailure) in
            if let make { return make(loop) }
            return try TransferEngine(loop: loop, options: transfers)
        }
        self.options = options
        self.send = send
        downloads = QueueDownloads(on: loop)
        uploads = UploadStates(on: loop)
        loopReference.owner = self
    }

    deinit { loopReference.owner = nil }

    package var runningCount: Int { engine?.runningCount ?? 0 }

    /// Adopts the unfinished answers and uploads of an earlier process.
    func adopt(_ contents: StoreContents) {
        for id in contents.begunAnswers { leftovers[id] = .begun }
        uploads.adopt(contents.begunUploads)
    }

    // MARK: Attempts

    /// Forgets a running attempt, and reports what it moved in all: before its end is reported.
    @discardableResult
    func removeRunning(_ id: RequestID) -> Running? {
        guard let attempt = running.removeValue(forKey: id) else { return nil }
        reportMoved(attempt, isLast: true)
        return attempt
    }

    private func reportMoved(_ attempt: Running, isLast: Bool) {
        guard attempt.order.isCounted else { return }
        send(
            .spent(
                attempt.order.id, attempt: attempt.order.number, total: attempt.moved.total,
                left: attempt.progress.left, isLast: isLast))
    }

    func abort(_ id: RequestID) {
        guard let attempt = removeRunning(id) else { return }
        if let transfer = attempt.transfer { engine?.cancel(transfer) }
        if attempt.upload != nil { return noteCutOff(attempt, after: UInt64(clamping: attempt.progress.sent)) }
        if spool != nil, leftovers[id] == nil { leftovers[id] = .begun }
    }

    /// Ends the attempt of a download, without a report to the queue: the caller sends it.
    ///
    /// - Parameter reply: Receives the point, and the file that has the bytes before it.
    func interrupt(
        _ id: RequestID, _ request: QueuedRequest, reply: @escaping ((point: ResumePoint, file: String)?) -> Void
    ) {
        if let transfer = removeRunning(id)?.transfer { engine?.cancel(transfer) }
        // After a restart no attempt may have been made yet.
        guard let engine = try? findEngine(),
            let (file, record) = leftover(of: id, to: request.specification.terms.outputPath)
        else { return reply(nil) }
        engine.resumePoint(record: record, of: file) { [weak self] point in
            if point != nil { self?.downloads.keep(id, for: .client) }
            reply(point.map { ($0, file) })
        }
    }

    func dropPart(of id: RequestID) { downloads.forget(id, isCancelled: true) }

    /// Takes over what an earlier run may have left of a download.
    func adoptPart(of id: RequestID, to path: String) { downloads.adopt(id, to: path) }

    /// Continues an attempt for which the host has room again for pieces of the answer.
    func resumeReading(_ id: RequestID) { if let transfer = running[id]?.transfer { engine?.resume(transfer) } }

    /// The network is another one: connections that were made before are not used again.
    func newEpoch() { engine?.newEpoch() }

    /// The progress of a request's attempt; `nil` without one.
    package func progress(of id: RequestID) -> AttemptProgress? { running[id].map(Self.progress) }

    func uploadedBytes(of id: RequestID) -> Int64? { uploads[id].map { Int64(clamping: $0.offset) } }

    func handle(_ event: TransferEvent, of id: RequestID, _ number: Int) {
        guard let attempt = running[id], attempt.order.number == number else { return }
        switch event {
        case .head(let head): received(head, attempt)
        case .body(let bytes): host?.received(bytes, of: id)
        case .progress(let progress):
            attempt.progress = progress
            attempt.moved.note(progress)
            reportMoved(attempt, isLast: false)
            if !holdsQuota(attempt) { return endForQuota(id) }
            onProgress(Self.progress(attempt))
        case .finished(let report): finished(id, report)
        }
    }

    /// Counts the bytes of an answer that have arrived. If they exceed the owner's quota, unfinished answers without a
    /// running attempt are deleted first; their next attempts start from the beginning.
    ///
    /// - Returns: Whether they are within the quota.
    private func holdsQuota(_ attempt: Running) -> Bool {
        guard attempt.terms.outputPath == nil, let spool else { return true }
        let (id, owner) = (attempt.order.id, attempt.request.owner)
        quota.set(id, of: owner, to: UInt64(clamping: Self.progress(attempt).bytes.received))
        while quota.bytes(of: owner) > options.ownerAnswerBytes {
            guard let idle = quota.first(of: owner, where: { running[$0] == nil }) else { return false }
            quota.remove(idle)
            leftovers[idle] = nil
            spool.removeAnswer(of: idle)
        }
        return true
    }

    private func endForQuota(_ id: RequestID) {
        if let transfer = removeRunning(id)?.transfer { engine?.cancel(transfer) }
        leftovers[id] = .useless
        send(.ended(id, .failed(AttemptFault(.quota))))
    }

    private func received(_ head: ResponseHead, _ attempt: Running) {
        attempt.isResumed = head.status == 206 && attempt.resumedAt != nil
        let id = attempt.order.id
        // A redirect or 511 (RFC 6585, 6) may be a portal's.
        if attempt.order.isCanary, !(300..<400 ~= head.status), head.status != 511 { send(.answering(id)) }
        guard let sent = attempt.sent, let path = host?.received(head, to: sent, of: id),
            let transfer = attempt.transfer
        else { return }
        // What an earlier attempt left stays where it is until all is there.
        var sink = FileSink(downloadTo: path, id, resume: nil)
        if attempt.isResumed, case .file(let begun) = sent.sink { sink = begun }
        attempt.sent?.sink = .file(sink)
        engine?.use(sink, for: transfer)
        downloads.begin(id, to: path, by: sink)
    }

    private func finished(_ id: RequestID, _ received: TransferReport) {
        guard let attempt = running[id] else { return }
        var report = received
        attempt.moved.finish(report)
        note(report, of: attempt)
        if let host, let sent = attempt.sent, let engine {
            if let next = host.next(after: report, to: sent, of: id), staysAtOrigin(next, attempt) {
                return begin(next, attempt, by: engine)
            }
            if resumes(attempt, after: report, by: engine) { return }
            host.ended(&report, sent: sent, of: id)
        } else if let engine, resumes(attempt, after: report, by: engine) {
            return
        }
        if attempt.upload != nil { return end(id, report, answer: .none) }
        if downloads.contains(id) { return finishedDownload(attempt, report) }
        if report.failure?.isOfFullDisk == true, let spool {
            // Parts of answers that wait for each other's room would wait forever.
            leftovers[id] = nil
            quota.remove(id)
            spool.removeAnswer(of: id)
            return end(id, report, answer: .none)
        }
        guard let bytes = report.fileBytes, let spool else {
            // After a failure the next attempt resumes from what an earlier one left; after an answer this is useless.
            // It is not removed yet: that takes its turn after other files, and the next attempt may have made it again
            // by then.
            if report.failure == nil, !leftovers.isEmpty, leftovers[id] != nil { leftovers[id] = .useless }
            return end(id, report, answer: report.body.isEmpty ? .none : .inline(report.body))
        }
        leftovers[id] = .begun
        guard report.failure == nil else { return end(id, report, answer: .none) }
        let name = QueueDirectory.answerName(id)
        // The row must not name bytes that a loss of power could still destroy.
        spool.sealAnswer(of: id) { [weak self] number in
            guard let self, running[id]?.order.number == attempt.order.number else { return }
            guard number == 0 else {
                removeRunning(id)
                return send(.ended(id, .failed(AttemptFault(.local))))
            }
            // From here on the store counts it, and the quota must not delete it.
            quota.remove(id)
            end(
                id, attempt.isResumed ? report.inOnePiece(bytes) : report,
                answer: .spooled(name: name, bytes: Int64(clamping: bytes)))
        }
    }

    private func finishedDownload(_ attempt: Running, _ report: TransferReport) {
        let id = attempt.order.id
        guard report.failure == nil, let bytes = report.fileBytes else {
            if report.resume != nil, host != nil { downloads.keep(id, for: .failure) }
            // As with answers: parts that wait for each other's room would wait forever.
            if keptFree != nil, report.failure?.isOfFullDisk == true { downloads.forget(id, isCancelled: true) }
            return end(id, report, answer: report.body.isEmpty ? .none : .inline(report.body))
        }
        downloads.deliver(id) { [weak self] path, failure in
            guard let self, running[id] === attempt else { return }
            guard failure == 0 else {
                removeRunning(id)
                return send(.ended(id, .failed(AttemptFault(delivery: failure))))
            }
            end(id, report, answer: .file(path: path, bytes: Int64(clamping: bytes)))
        }
    }

    private func end(_ id: RequestID, _ report: TransferReport, answer: RequestBody) {
        guard let attempt = removeRunning(id) else { return }
        if attempt.isShortOfRoom, report.failure?.reason == .responseTooLarge {
            return send(.ended(id, .failed(AttemptFault(.quota))))
        }
        var noted =
            (attempt.sent?.url).map { report.noting(finalURL: $0, of: attempt.specification.url) } ?? report
        if report.failure?.reason == .proxyAuthentication, attempt.specification.destination.proxy == .usual,
            host == nil
        {
            return send(.ended(id, .failed(.ofUsualProxy)))
        }
        if options.ignoresRetryAfterOfSingleAttempts, attempt.terms.maximumAttempts == 1 {
            noted = noted.withoutRetryAfter
        }
        let end =
            attempt.upload.map { self.end(of: attempt, $0, report) }
            ?? AttemptEnd(noted, accepting: attempt.terms.acceptedStatuses, answer: answer)
        if attempt.isRedirectedInTheClear, case .answered(let result, let isAccepted) = end {
            return send(.ended(id, .answeredElsewhere(result, isAccepted: isAccepted)))
        }
        guard !isJudged(end, report, attempt) else {
            return send(report.failure == nil ? .answerHeld(id) : .failureHeld(id))
        }
        send(.ended(id, end))
    }

    // MARK: Interceptors

    func prepare(_ id: RequestID) {
        guard let host else { return send(.prepared(id, isReady: true)) }
        host.intercept(id) { [weak self] in self?.send(.prepared(id, isReady: $0)) }
    }

    /// Whether the attempt's interceptor judges the answer, or the failure of the destination, before the queue does.
    private func isJudged(_ end: AttemptEnd, _ report: TransferReport, _ attempt: Running) -> Bool {
        guard let host, let sent = attempt.sent, attempt.terms.interceptor != nil else {
            return false
        }
        switch end {
        case .answered: break
        case .failed(let fault) where fault.kind == .transient: break
        default: return false
        }
        let id = attempt.order.id
        return host.judge(end, report, to: sent, of: id) { [weak self] verdict in
            self?.send(.judged(id, verdict))
        }
    }

    func abandon(_ id: RequestID) { host?.abandon(id) }

    private static func progress(_ attempt: Running) -> AttemptProgress {
        var progress = attempt.progress
        if attempt.isResumed, let kept = attempt.resumedAt {
            progress.received += Int64(clamping: kept)
            progress.toReceive = progress.toReceive.map { $0 + Int64(clamping: kept) }
        }
        if let upload = attempt.upload {
            progress.sent += Int64(clamping: upload.base)
            progress.toSend = Int64(clamping: upload.upload.state.body.bytes)
        }
        return AttemptProgress(
            id: attempt.order.id, owner: attempt.request.owner, interface: attempt.path.interface,
            began: attempt.began, bytes: progress)
    }

    // MARK: Evidence about paths

    private func note(_ report: TransferReport, of attempt: Running) {
        let (destination, interface) = (attempt.order.destination, attempt.path.interfaceIndex)
        guard case .failure(let failure) = report.outcome else {
            return health.note(answerFrom: destination, by: interface, at: SystemClock.boot)
        }
        if failure.kind == .destination {
            health.note(silenceOf: destination, by: interface, at: SystemClock.boot)
        }
    }

    /// The evidence of recent attempts about a path.
    func evidence(on path: QueuePath) -> PassiveHealth.PassiveEvidence {
        health.evidence(on: path.interfaceIndex, at: SystemClock.boot)
    }
}
