internal import CCurl
internal import ReachCore
internal import ReachLoop

/// One transfer from its start to its end. It passes events to ``TransferMachine``, and performs the actions that the
/// machine returns. Confined to the loop.
final class TransferJob {
    let id: TransferID
    private let handler: TransferHandler
    /// The engine owns this job, and stops the job before the engine is released.
    private unowned(unsafe) var engine: TransferEngine?
    private let tools: TransferTools
    private var machine: TransferMachine
    /// The attempt that sends the request; before that, those that are connecting, in the order in which they started.
    private var attempts: [Attempt] = []
    private var attempt: Attempt? { attempts.last }
    /// The first attempt whose request could be sent.
    private var winner: Attempt?
    /// The address that would be preferred if nothing were known of earlier connections.
    private var firstAddress: IPAddress?
    private var trust: TrustStore?
    private var upload: (any UploadSource)?
    private var writer: FileWriter?
    private var lookup: NameService.ID?

    init(id: TransferID, request: TransferRequest, handler: TransferHandler, engine: TransferEngine) {
        tools = engine.tools
        self.id = id
        self.handler = handler
        self.engine = engine
        machine = TransferMachine(request, startedAt: SystemClock.boot)
    }

    /// When the next timeout of this transfer is due; the engine has one timer for all jobs.
    var deadline: BootTime? { machine.deadline }

    /// Whether there is room for more of the body.
    var hasRoom: Bool { writer?.hasRoom ?? handler.hasRoom() }

    // MARK: - Events

    func begin() { run(machine.begin(at: SystemClock.boot)) }

    func use(_ sink: FileSink) { machine.request.sink = .file(sink) }

    func deadlineReached() {
        let isConnected = attempts.contains { $0.found.phases.connected != nil }
        attempt?.countUnfinishedLine()
        run(
            machine.deadlineReached(
                attempt?.counts, isConnected: isConnected, attempt?.silence, at: SystemClock.boot))
    }

    /// Ends the transfer with a failure from outside, such as the end of its epoch.
    func fail(_ failure: TransferFailure) { run(machine.interrupt(failure, at: SystemClock.boot)) }

    /// Ends the transfer without a report.
    func stop() {
        machine.cancel()
        release()
    }

    /// Whether this attempt may send the request: the first one that asks. Called while libcurl runs.
    func maySend(_ attempt: Attempt) -> Bool {
        if winner == nil { winner = attempt }
        return winner === attempt
    }

    /// Handles progress: the attempt has sent or received something.
    func attemptMoved(_ attempt: Attempt) {
        guard machine.isTransferring else { return }
        if machine.isConnecting {
            guard attempt === winner, attempt.found.phases.requestStarted != nil else { return }
            keep(only: attempt)
            let now = SystemClock.boot
            if let firstAddress {
                engine?.winners.note(
                    attempt.plan.address, of: machine.request.url, insteadOf: firstAddress, at: now)
            }
            run(machine.requestStarted(attempt.found.phases, attempt.counts, isReused: attempt.found.isReused, at: now))
        }
        deliver(attempt)
        run(machine.moved(attempt.counts, at: SystemClock.boot))
    }

    /// Handles the end of the attempt, which libcurl reported.
    func attemptEnded(_ attempt: Attempt, _ code: CURLcode) {
        guard machine.isTransferring else { return }
        deliver(attempt)
        var result = attempt.result
        // libcurl reports a write error when a callback accepts fewer bytes than it got, as ours do to cut an attempt.
        if code != CURLE_OK && !attempt.found.isCut || attempt.evidence.refusal != nil {
            result.failure = TransferFailure(code, attempt.evidence, host: machine.request.url.host)
        }
        if machine.isConnecting, result.failure != nil, !result.isUnprocessed {
            attempt.job = nil
            attempts.removeAll { $0 === attempt }
            if winner === attempt { winner = nil }
        } else {
            // One that is sent again has another attempt.
            keep(only: result.isUnprocessed ? nil : attempt)
        }
        run(machine.attemptEnded(result, at: SystemClock.boot))
    }

    /// Stops all attempts but one.
    private func keep(only kept: Attempt?) {
        for other in attempts where other !== kept {
            other.job = nil
            other.multi?.remove(other)
        }
        attempts = kept.map { [$0] } ?? []
        if winner !== kept { winner = nil }
    }

    private func deliver(_ attempt: Attempt) {
        let parts = attempt.parts
        attempt.parts = []
        for part in parts where machine.isTransferring {
            switch part {
            case .head(let head): run(machine.received(head: head))
            case .body(let bytes):
                if machine.request.reportsBody, machine.request.sink != .events { handler.event(.body(bytes)) }
                run(machine.received(body: bytes))
            }
        }
    }

    /// Continues a paused attempt: the file, the body or the handler is ready for more.
    func becameReady() {
        guard let attempt else { return }
        if let failure = writer?.failure { return fail(failure) }
        if hasRoom { run(machine.becameReady(attempt.counts, at: SystemClock.boot)) }
    }

    // MARK: - Actions

    /// Performs an action and those that follow from it, until a handler cancels this transfer.
    private func run(_ first: TransferMachine.Action?) {
        var next = first
        while let action = next {
            perform(action)
            next = machine.proceed()
        }
        if let deadline = machine.deadline { engine?.wake(at: deadline) }
    }

    private func perform(_ action: TransferMachine.Action) {
        switch action {
        case .openBody(let body): open(body)
        case .resolve(let question, let limit): resolve(question, within: limit)
        case .findTrust(let anchors): findTrust(anchors)
        case .route(let addresses):
            let interface = machine.request.interface
            let (addresses, now) = (ordered(addresses), SystemClock.boot)
            let ways = handler.route?(addresses) ?? addresses.map { TransferWay($0, by: interface) }
            run(machine.routed(ways, at: now))
        case .attempt(let way): start(way)
        case .stopAttempt: stopAttempt()
        case .leaveConnection:
            if let multi = (winner ?? attempt)?.multi { engine?.retire(multi) }
            stopAttempt()
        case .reportSending: handler.willSend()
        case .report(let event): handler.event(event)
        case .openFile(let opening): open(opening)
        case .write(let bytes): writer?.append(bytes)
        case .resumeAttempt: resumeAttempt()
        case .decideRedirect(let redirect): decide(redirect)
        case .closeFile:
            writer?.finish { [weak self] failure in
                guard let self else { return }
                run(machine.fileClosed(failure, at: SystemClock.boot))
            }
        case .finish(let event): finish(event)
        }
    }

    /// The addresses in the order in which they are tried.
    private func ordered(_ addresses: [IPAddress]) -> [IPAddress] {
        firstAddress = addresses.count > 1 ? addresses.first : nil
        return engine?.winners.ordered(addresses, of: machine.request.url, at: SystemClock.boot) ?? addresses
    }

    private func open(_ body: TransferBody) {
        switch body {
        case .none: break
        case .bytes(let bytes):
            upload = BytesUpload(bytes)
            run(machine.bodyOpened(count: UInt64(bytes.count), at: SystemClock.boot))
        case .file(let path): open(FileHandOff(), named: path)
        case .stream(let body): open(StreamHandOff(body), named: "the body")
        case .arriving(let body): open(body)
        }
    }

    private func open(_ body: ArrivingBody) {
        do throws(TransferFailure) {
            let source = PipeUpload(try body.open(), length: body.count, loop: tools.loop)
            upload = source
            source.onReady = { [weak self] in self?.becameReady() }
            run(machine.bodyOpened(count: body.count, at: SystemClock.boot))
        } catch {
            run(machine.failed(error, at: SystemClock.boot))
        }
    }

    private func open(_ source: any UploadFile, named path: String) {
        let file = FileUpload(source, path: path, thread: tools.files, replies: tools.replies)
        upload = file
        file.onReady = { [weak self] in self?.becameReady() }
        file.open { [weak self, unowned file] failure in
            guard let self else { return }
            if let failure { return run(machine.failed(failure, at: SystemClock.boot)) }
            run(machine.bodyOpened(count: file.count, at: SystemClock.boot))
        }
    }

    private func resolve(_ question: NameQuestion, within limit: Duration) {
        lookup = tools.resolver.resolve(question, within: limit) { [weak self] answer in
            guard let self else { return }
            lookup = nil
            run(machine.resolved(answer, at: SystemClock.boot))
        }
    }

    private func findTrust(_ anchors: [CertificateData]?) {
        guard let anchors else {
            return tools.systemTrust.load { [weak self] trust in
                guard let self else { return }
                self.trust = trust
                // Without this failure every certificate would be refused, and the server would be blamed for this
                // machine's fault.
                let isNeeded = !machine.request.security.allowsInvalidCertificates
                let failure = trust == nil && isNeeded ? tools.systemTrust.failure : nil
                run(
                    failure.map { machine.failed($0, at: SystemClock.boot) } ?? machine.trustFound(at: SystemClock.boot)
                )
            }
        }
        do throws(TransferFailure) {
            trust = try TrustStore.only(anchors)
            run(machine.trustFound(at: SystemClock.boot))
        } catch {
            run(machine.failed(error, at: SystemClock.boot))
        }
    }

    private func start(_ way: TransferWay) {
        guard upload?.rewind() ?? true else {
            return run(
                machine.failed(TransferFailure(.badRequest, "the body cannot be read again"), at: SystemClock.boot))
        }
        do throws(TransferFailure) {
            guard
                let attempt = Attempt(
                    plan: plan(by: way), phases: machine.attemptPhases, upload: upload, handles: tools.handles)
            else { throw TransferFailure(.outOfMemory, "no memory for a transfer", curlCode: 27) }
            attempts.append(attempt)
            try attempt.configure()
            try engine?.start(attempt, of: self)
        } catch {
            run(machine.failed(error, at: SystemClock.boot))
        }
    }

    private func plan(by way: TransferWay) -> AttemptPlan {
        var plan = AttemptPlan(request: machine.request, address: way.address)
        // The interface is mostly the same; the comparison saves a copy of the request.
        if plan.request.interface != way.interface { plan.request.interface = way.interface }
        if plan.request.url.isSecure { plan.trust = trust }
        plan.target = machine.targetAddress
        plan.needsNewConnection = machine.needsNewConnection
        plan.followsRedirects = plan.request.redirects != .none
        if case .file = plan.request.sink { plan.resume = plan.request.resumable }
        return plan
    }

    private func stopAttempt() {
        guard let attempt = winner ?? attempt else { return }
        deliver(attempt)
        let result = attempt.result
        keep(only: nil)
        run(machine.attemptStopped(result, at: SystemClock.boot))
    }

    private func open(_ opening: TransferMachine.FileOpening) {
        let sink = opening.sink
        let recorder = sink.recordPath.map {
            ResumeRecorder(
                path: $0, entityTag: opening.entityTag, total: opening.total, interval: sink.recordInterval)
        }
        // What exceeds the limit fails by that, not by the disk.
        let expected = opening.total.flatMap { $0 <= machine.request.limit.bodyBytes ? $0 : nil }
        let reservation = sink.keptFree.map { DiskReservation(keptFree: $0, expected: expected) }
        let writer = FileWriter(
            path: sink.path, keep: opening.keep, permissions: sink.permissions, recorder: recorder,
            reservation: reservation, thread: tools.files, replies: tools.replies)
        writer.onRoom = { [weak self] in self?.becameReady() }
        self.writer = writer
        if !opening.first.isEmpty { writer.append(opening.first) }
    }

    private func resumeAttempt() {
        guard let attempt else { return }
        attempt.isPaused = false
        attempt.multi?.resume(attempt)
    }

    private func decide(_ redirect: Redirect) {
        keep(only: nil)
        let isAllowed = handler.allowsRedirect(redirect)
        let action = machine.redirectDecided(isAllowed, at: SystemClock.boot)
        if machine.request.body == .none { upload = nil }
        run(action)
    }

    private func finish(_ event: TransferEvent) {
        let engine = engine
        release()
        engine?.ended(self)
        handler.event(event)
    }

    private func release() {
        if let lookup { tools.resolver.cancel(lookup) }
        lookup = nil
        engine = nil
        keep(only: nil)
        trust = nil
        writer = nil
        upload = nil
    }
}

/// The services that the transfers of one engine share. Confined to the loop.
final class TransferTools {
    let loop: EventLoop
    let resolver: NameService
    let files = SerialThread.files
    let replies: LoopReplies
    let systemTrust: SystemTrust
    let handles = HandlePool()
    let rests: RestLines
    let shares: DecodingShares

    init(loop: EventLoop, options: TransferEngine.Options) {
        self.loop = loop
        rests = RestLines(loop: loop)
        shares = DecodingShares(loop: loop)
        replies = LoopReplies(loop: loop)
        resolver = NameService(loop: loop, options: options.resolver)
        systemTrust = SystemTrust(
            path: options.certificatesPath ?? CurlRuntime.current?.certificatesPath ?? "", thread: files,
            replies: replies)
    }
}
