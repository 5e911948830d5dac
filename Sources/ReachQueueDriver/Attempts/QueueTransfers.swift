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

        init(_ order: AttemptOrder, _ request: QueuedRequest, began: Moment) {
            self.order = order
            self.request = request
            self.began = began
        }
    }

    private let loop: EventLoop
    private let engine: TransferEngine
    private let options: Options
    private let send: (QueueCommand) -> Void
    /// Where long answers go; `nil` where the queue is in memory only.
    var spool: QueueSpool?
    /// Told at most ten times a second for each attempt.
    var whenMoved: (AttemptProgress) -> Void = { _ in }
    private var running: [RequestID: Running] = [:]
    /// Files of answers that no result names: what a download left, and where it goes on.
    private var unfinished: [RequestID: ResumePoint?] = [:]
    private var witness = PathWitness()

    /// - Parameter send: Takes what comes of attempts.
    init(
        loop: EventLoop, engine: TransferEngine, options: Options, send: @escaping (QueueCommand) -> Void
    ) {
        self.loop = loop
        self.engine = engine
        self.options = options
        self.send = send
    }

    package var runningCount: Int { engine.runningCount }

    // MARK: Attempts

    func start(_ order: AttemptOrder, _ request: QueuedRequest) {
        let attempt = Running(order, request, began: SystemClock.now)
        running[order.id] = attempt
        let transfer: TransferRequest
        do throws(TransferURL.Mistake) {
            transfer = try TransferRequest(
                order, request, options, spool: spool, resume: unfinished[order.id].flatMap(\.self))
        } catch {
            running[order.id] = nil
            return send(.ended(order.id, .failed(TransferFault(.invalid))))
        }
        // Not the whole order: closures hold on to what they name.
        let (id, number) = (order.id, order.number)
        attempt.transfer = engine.start(
            transfer,
            handler: TransferHandler(
                willSend: { [weak self] in self?.send(.requestSent(id)) },
                event: { [weak self] in self?.take($0, of: id, number) }))
    }

    func abort(_ id: RequestID) {
        guard let attempt = running.removeValue(forKey: id) else { return }
        if let transfer = attempt.transfer { engine.cancel(transfer) }
        // What was written of an answer cannot be gone on with: how much of it is good was not told.
        if spool != nil { unfinished[id] = .some(nil) }
    }

    /// The network is another one: connections of before are not used any more.
    func newEpoch() { engine.newEpoch() }

    /// How far the attempt is; `nil` if there is none.
    package func progress(of id: RequestID) -> AttemptProgress? { running[id].map(Self.progress) }

    private func take(_ event: TransferEvent, of id: RequestID, _ number: Int) {
        guard let attempt = running[id], attempt.order.number == number else { return }
        switch event {
        case .head, .body: break
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

    private func end(_ id: RequestID, _ report: TransferReport, answer: RequestBody) {
        guard let attempt = running.removeValue(forKey: id) else { return }
        send(.ended(id, AttemptEnd(report, accepting: attempt.request.acceptedStatuses, answer: answer)))
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
        let isLeft = unfinished.removeValue(forKey: id) != nil
        if isLeft, !keepsAnswer { spool?.remove(QueueSpool.answerName(id)) }
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
