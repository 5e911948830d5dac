internal import Glibc
package import ReachCore
internal import ReachLoop
package import ReachQueue
package import ReachTransfer

/// Makes the queue's attempts: each a transfer by the path that the queue chose, and by no other. Confined to the loop.
package final class QueueTransfers {
    package struct Options: Sendable {
        package var timeouts = TransferTimeouts()
        /// The longest answer that is taken; a longer one kills the request.
        package var answerBytes = UInt64(QueueLimits.answerBytes)
        /// The longest download to a place of the client's.
        package var downloadBytes: UInt64 = 1 << 40
        /// An answer of no more bytes is kept with the request; a longer one in a file of its own, where there is a
        /// directory for it.
        package var memoryBytes = 64 << 10
        package var security = SecurityPolicy.standard
        package var userAgent = "reach"

        package init() {}
    }

    /// An attempt on its way.
    private struct Running {
        let order: AttemptOrder
        let request: QueuedRequest
        let began: Moment
        var transfer: TransferID?
        var sent: TransferRequest?
        var progress: TransferProgress
    }

    private let loop: EventLoop
    /// Made for the first attempt: until then a queue costs no libcurl.
    private var engine: TransferEngine?
    private let makeEngine: () throws(TransferFailure) -> TransferEngine
    private let options: Options
    private let send: (QueueCommand) -> Void
    /// Where long answers go; `nil` where the queue is in memory only.
    var spool: QueueSpool?
    /// Told at most ten times a second for each attempt.
    var whenMoved: (AttemptProgress) -> Void = { _ in }
    private var running: [RequestID: Running] = [:]
    /// Files of answers that no result names: what a download left, and where it goes on.
    private var unfinished: [RequestID: ResumePoint?] = [:]
    private let downloads: QueueDownloads
    weak var host: (any AttemptHost)?
    private var witness = PathWitness()

    /// - Parameter send: Takes what comes of attempts.
    init(
        loop: EventLoop, transfers: TransferEngine.Options, options: Options, send: @escaping (QueueCommand) -> Void
    ) {
        self.loop = loop
        makeEngine = { () throws(TransferFailure) in try TransferEngine(loop: loop, options: transfers) }
        self.options = options
        self.send = send
        downloads = QueueDownloads(on: loop)
    }

    package var runningCount: Int { engine?.runningCount ?? 0 }

    // MARK: Attempts

    func start(_ order: AttemptOrder, _ request: QueuedRequest) {
        running[order.id] = Running(
            order: order, request: request, began: SystemClock.now, progress: TransferProgress())
        let engine: TransferEngine
        do throws(TransferFailure) {
            engine = try findEngine()
        } catch {
            return refuse(order, as: .local)
        }
        var transfer: TransferRequest
        do throws(TransferURL.Mistake) {
            transfer = try TransferRequest(
                order, request, options, spool: spool,
                resume: downloads.point(of: order.id) ?? unfinished[order.id].flatMap(\.self))
        } catch {
            return refuse(order, as: .invalid)
        }
        host?.prepare(&transfer, of: order.id)
        if let path = request.outputPath, case .file(let sink) = transfer.sink {
            downloads.begin(order.id, to: path, by: sink)
        }
        begin(transfer, order.id, order.number, by: engine)
    }

    private func begin(_ transfer: TransferRequest, _ id: RequestID, _ number: Int, by engine: TransferEngine) {
        running[id]?.sent = transfer
        running[id]?.transfer = engine.start(
            transfer,
            handler: TransferHandler(
                willSend: { [weak self] in self?.send(.requestSent(id)) },
                event: { [weak self] in self?.take($0, of: id, number) }))
    }

    private func refuse(_ order: AttemptOrder, as kind: TransferFault.Cause) {
        running[order.id] = nil
        send(.ended(order.id, .failed(TransferFault(kind))))
    }

    private func findEngine() throws(TransferFailure) -> TransferEngine {
        if let engine { return engine }
        let made = try makeEngine()
        engine = made
        return made
    }

    func abort(_ id: RequestID) {
        guard let attempt = running.removeValue(forKey: id) else { return }
        if let transfer = attempt.transfer { engine?.cancel(transfer) }
        if downloads.contains(id) { return downloads.interrupted(id) }
        // What was written of an answer cannot be gone on with: how much of it is good was not told.
        if spool != nil { unfinished[id] = .some(nil) }
    }

    /// Ends the attempt of a download without telling the queue, which is to be told otherwise.
    func breakOff(_ id: RequestID, reply: @escaping (ResumePoint?) -> Void) {
        guard let attempt = running.removeValue(forKey: id) else { return reply(downloads.point(of: id)) }
        if let transfer = attempt.transfer { engine?.cancel(transfer) }
        downloads.interrupted(id, reply: reply)
    }

    /// The network is another one: connections of before are not used any more.
    func newEpoch() { engine?.newEpoch() }

    /// How far the attempt is; `nil` if there is none.
    package func progress(of id: RequestID) -> AttemptProgress? { running[id].map(Self.progress) }

    private func take(_ event: TransferEvent, of id: RequestID, _ number: Int) {
        guard running[id]?.order.number == number else { return }
        switch event {
        case .head(let head): received(head, of: id)
        case .body: break
        case .progress(let progress):
            running[id]?.progress = progress
            if let attempt = running[id] { whenMoved(Self.progress(attempt)) }
        case .finished(let report): finished(id, report)
        }
    }

    private func received(_ head: ResponseHead, of id: RequestID) {
        if let path = host?.received(head, of: id), let transfer = running[id]?.transfer {
            let sink = FileSink(path: TransferRequest.part(of: path, id))
            engine?.use(sink, for: transfer)
            downloads.begin(id, to: path, by: sink)
        }
        downloads.received(head, of: id)
    }

    private func finished(_ id: RequestID, _ report: TransferReport) {
        guard let attempt = running[id] else { return }
        note(report, of: attempt.order)
        if let host, let sent = attempt.sent, let engine {
            if let next = host.next(after: report, to: sent, of: id) {
                return begin(next, id, attempt.order.number, by: engine)
            }
            host.ended(report, sent: sent, of: id)
        }
        if downloads.contains(id) { return finishedDownload(id, report) }
        guard let bytes = report.fileBytes, let spool else {
            // A failure leaves what an earlier attempt got, to go on from; an answer does not need it any more.
            if report.failure == nil, unfinished.removeValue(forKey: id) != nil {
                spool?.remove(QueueSpool.answerName(id))
            }
            return end(id, report, answer: report.body.isEmpty ? .none : .inline(report.body))
        }
        unfinished[id] = report.resume
        guard report.failure == nil else { return end(id, report, answer: .none) }
        let name = QueueSpool.answerName(id)
        // The row must not name bytes that a loss of power would take.
        spool.seal(name) { [weak self] number in
            guard let self, running[id]?.order.number == attempt.order.number else { return }
            guard number == 0 else {
                running[id] = nil
                return send(.ended(id, .failed(TransferFault(.local))))
            }
            end(id, report, answer: .spooled(name: name, bytes: Int64(clamping: bytes)))
        }
    }

    private func finishedDownload(_ id: RequestID, _ report: TransferReport) {
        guard report.failure == nil, let bytes = report.fileBytes, let attempt = running[id] else {
            downloads.failed(id, report.resume)
            return end(id, report, answer: report.body.isEmpty ? .none : .inline(report.body))
        }
        downloads.deliver(id) { [weak self] path, failure in
            guard let self, running[id]?.order.number == attempt.order.number else { return }
            guard failure == 0 else {
                running[id] = nil
                let isFull = [ENOSPC, EDQUOT, EIO].contains(failure)
                return send(.ended(id, .failed(TransferFault(isFull ? .local : .file))))
            }
            end(id, report, answer: .file(path: path, bytes: Int64(clamping: bytes)))
        }
    }

    private func end(_ id: RequestID, _ report: TransferReport, answer: RequestBody) {
        guard let attempt = running.removeValue(forKey: id) else { return }
        send(.ended(id, AttemptEnd(report, of: attempt.request, answer: answer)))
    }

    private static func progress(_ attempt: Running) -> AttemptProgress {
        AttemptProgress(
            id: attempt.order.id, owner: attempt.request.owner, number: attempt.order.number,
            interface: attempt.order.path.interface,
            began: attempt.began, progress: attempt.progress)
    }

    // MARK: What attempts leave behind

    /// The request is over.
    ///
    /// - Parameter keepsAnswer: Its result is kept, and the file with it.
    func forget(_ id: RequestID, keepsAnswer: Bool) {
        downloads.forget(id, keepsPart: host != nil)
        let isLeft = unfinished.removeValue(forKey: id) != nil
        if isLeft, !keepsAnswer { spool?.remove(QueueSpool.answerName(id)) }
    }

    // MARK: What attempts say of their paths

    private func note(_ report: TransferReport, of order: AttemptOrder) {
        let now = SystemClock.boot
        if report.failure == nil {
            witness.note(answerFrom: order.destination, by: order.path.interfaceIndex, at: now)
        } else if report.failure?.kind == .destination {
            witness.note(silenceOf: order.destination, by: order.path.interfaceIndex, at: now)
        }
    }

    /// What the attempts of late say of a path.
    func testimony(on path: QueuePath) -> PathWitness.Testimony {
        witness.testimony(on: path.interfaceIndex, at: SystemClock.boot)
    }
}

/// How far an attempt is.
package struct AttemptProgress: Hashable, Sendable {
    package let id: RequestID
    package let owner: UInt32
    /// 1 for the request's first.
    package let number: Int
    package let interface: String
    package let began: Moment
    package let progress: TransferProgress
}
