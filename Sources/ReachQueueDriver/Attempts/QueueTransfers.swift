package import ReachCore
internal import ReachLoop
package import ReachQueue
internal import ReachQueueStore
package import ReachTransfer

/// Makes the queue's attempts: each a transfer by the path that the queue chose, and by no other. Confined to the loop.
package final class QueueTransfers {
    package struct Options: Sendable {
        package var timeouts = TransferTimeouts()
        /// The longest answer that is taken; a longer one kills the request.
        package var answerBytes = UInt64(QueueLimits.answerBytes)
        /// An answer of no more bytes is kept with the request; a longer one in a file of its own, where there is a
        /// directory for it.
        package var memoryBytes = 64 << 10
        package var security = SecurityPolicy.standard
        package var userAgent = "reach"

        package init() {}
    }

    /// An attempt on its way.
    private final class Running {
        let order: AttemptOrder
        let request: QueuedRequest
        let began: Moment
        var transfer: TransferID?
        var progress = TransferProgress()
        /// So many bytes an earlier attempt brought, and the server was asked to go on behind them.
        var resumedAt: UInt64?
        /// The server does go on there.
        var isGoingOn = false

        init(_ order: AttemptOrder, _ request: QueuedRequest, began: Moment) {
            self.order = order
            self.request = request
            self.began = began
        }
    }

    /// What an attempt left of an answer, in the spool.
    private enum Leftover {
        /// As much as its record vouches for can be gone on with.
        case begun
        /// It is of no use.
        case useless
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
    /// Files of answers that no result names.
    private var leftovers: [RequestID: Leftover] = [:]
    private var witness = PathWitness()

    /// - Parameter send: Takes what comes of attempts.
    init(
        loop: EventLoop, transfers: TransferEngine.Options, options: Options, send: @escaping (QueueCommand) -> Void
    ) {
        self.loop = loop
        makeEngine = { () throws(TransferFailure) in try TransferEngine(loop: loop, options: transfers) }
        self.options = options
        self.send = send
    }

    package var runningCount: Int { engine?.runningCount ?? 0 }

    /// What an earlier process left of answers.
    func adopt(_ begun: Set<RequestID>) { for id in begun { leftovers[id] = .begun } }

    // MARK: Attempts

    func start(_ order: AttemptOrder, _ request: QueuedRequest) {
        let attempt = Running(order, request, began: SystemClock.now)
        running[order.id] = attempt
        let engine: TransferEngine
        do throws(TransferFailure) {
            engine = try findEngine()
        } catch {
            return refuse(order, as: .local)
        }
        guard let spool, leftovers[order.id] == .begun else { return transfer(attempt, by: engine, from: nil) }
        engine.resumePoint(
            record: spool.path(QueueDirectory.recordName(order.id)),
            of: spool.path(QueueDirectory.answerName(order.id))
        ) { [weak self] point in
            guard let self, running[order.id] === attempt else { return }
            transfer(attempt, by: engine, from: point)
        }
    }

    private func transfer(_ attempt: Running, by engine: TransferEngine, from point: ResumePoint?) {
        let transfer: TransferRequest
        do throws(TransferURL.Mistake) {
            transfer = try TransferRequest(attempt.order, attempt.request, options, spool: spool, resume: point)
        } catch {
            return refuse(attempt.order, as: .invalid)
        }
        attempt.resumedAt = point?.offset
        // Not the whole order: closures hold on to what they name.
        let (id, number) = (attempt.order.id, attempt.order.number)
        attempt.transfer = engine.start(
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
        if spool != nil, leftovers[id] == nil { leftovers[id] = .begun }
    }

    /// The network is another one: connections of before are not used any more.
    func newEpoch() { engine?.newEpoch() }

    /// How far the attempt is; `nil` if there is none.
    package func progress(of id: RequestID) -> AttemptProgress? { running[id].map(Self.progress) }

    private func take(_ event: TransferEvent, of id: RequestID, _ number: Int) {
        guard let attempt = running[id], attempt.order.number == number else { return }
        switch event {
        case .head(let head): attempt.isGoingOn = head.status == 206 && attempt.resumedAt != nil
        case .body: break
        case .progress(let progress):
            attempt.progress = progress
            whenMoved(Self.progress(attempt))
        case .finished(let report): finished(id, report)
        }
    }

    private func finished(_ id: RequestID, _ report: TransferReport) {
        guard let attempt = running[id] else { return }
        note(report, of: attempt)
        guard let bytes = report.fileBytes, let spool else {
            if report.failure?.reason == .badRange, attempt.resumedAt != nil { return beginAnew(id) }
            // A failure leaves what an earlier attempt got, to go on from; an answer does not need it any more.
            if report.failure == nil, leftovers.removeValue(forKey: id) != nil { spool?.removeAnswer(of: id) }
            return end(id, report, answer: report.body.isEmpty ? .none : .inline(report.body))
        }
        leftovers[id] = .begun
        guard report.failure == nil else { return end(id, report, answer: .none) }
        let name = QueueDirectory.answerName(id)
        // The row must not name bytes that a loss of power would take.
        spool.sealAnswer(of: id) { [weak self] number in
            guard let self, running[id]?.order.number == attempt.order.number else { return }
            guard number == 0 else {
                running[id] = nil
                return send(.ended(id, .failed(TransferFault(.local))))
            }
            end(
                id, attempt.isGoingOn ? report.inOnePiece(bytes) : report,
                answer: .spooled(name: name, bytes: Int64(clamping: bytes)))
        }
    }

    /// The server has nothing that fits to what is here: nobody's fault, and not asked for again.
    private func beginAnew(_ id: RequestID) {
        leftovers[id] = .useless
        running[id] = nil
        send(.ended(id, .failed(TransferFault(.local))))
    }

    private func end(_ id: RequestID, _ report: TransferReport, answer: RequestBody) {
        guard let attempt = running.removeValue(forKey: id) else { return }
        send(.ended(id, AttemptEnd(report, accepting: attempt.request.acceptedStatuses, answer: answer)))
    }

    private static func progress(_ attempt: Running) -> AttemptProgress {
        var progress = attempt.progress
        if attempt.isGoingOn, let kept = attempt.resumedAt {
            progress.received += kept
            progress.toReceive = progress.toReceive.map { $0 + kept }
        }
        return AttemptProgress(
            id: attempt.order.id, owner: attempt.request.owner, number: attempt.order.number,
            interface: attempt.order.path.interface, began: attempt.began, progress: progress)
    }

    // MARK: What attempts leave behind

    /// The request is over.
    ///
    /// - Parameter keepsAnswer: Its result is kept, and the file with it.
    func forget(_ id: RequestID, keepsAnswer: Bool) {
        let isLeft = leftovers.removeValue(forKey: id) != nil
        if isLeft, !keepsAnswer { spool?.removeAnswer(of: id) }
    }

    // MARK: What attempts say of their paths

    private func note(_ report: TransferReport, of attempt: Running) {
        let (destination, interface) = (attempt.order.destination, attempt.order.path.interfaceIndex)
        guard case .failure(let failure) = report.outcome else {
            return witness.note(answerFrom: destination, by: interface, at: SystemClock.boot)
        }
        if failure.kind == .destination {
            witness.note(silenceOf: destination, by: interface, at: SystemClock.boot)
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
