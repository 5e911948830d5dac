internal import CCurl
internal import Glibc
internal import ReachCore
internal import ReachLoop

/// One transfer from its start to its end: it finds addresses, tries them one by one, follows redirects, keeps to the
/// timeouts, and tells its handler. Confined to the loop.
final class TransferJob {
    private enum Stage: Equatable {
        case waiting
        case resolving(Resolver.ID)
        case transferring
        case flushing
        case over
    }

    let id: TransferID
    let handler: TransferHandler
    /// It owns this job; it may go first.
    weak var engine: TransferEngine?
    private let tools: TransferTools
    /// As of the hop that is under way.
    var request: TransferRequest
    var hops: [TransferHop] = []
    var attempt: Attempt?
    var body: [UInt8] = []
    var writer: FileWriter?
    var upload: (any UploadSource)?
    var head: ResponseHead?
    private var stage = Stage.waiting
    private var addresses: ArraySlice<IPAddress> = []
    private var timers: TransferTimers
    private var timer: TimerQueue.ID?
    private var redirects = 0
    /// Of hops that are over.
    private var sentBefore: UInt64 = 0
    private var receivedBefore: UInt64 = 0
    private var told = TransferProgress()
    private var toldAt: BootTime?
    /// What the first address failed with, if it tells more than what later ones failed with.
    private var earlierFailure: TransferFailure?
    private let origin: TransferURL
    private let startedAt: BootTime

    init(id: TransferID, request: TransferRequest, handler: TransferHandler, engine: TransferEngine) {
        tools = engine.tools
        self.id = id
        self.request = request
        self.handler = handler
        self.engine = engine
        origin = request.url
        startedAt = SystemClock.boot
        timers = TransferTimers(request.timeouts, startedAt: startedAt)
    }

    // MARK: - Beginning

    func begin() {
        guard stage == .waiting else { return }
        beginHop()
        if let mistake = request.mistake { return finish(.failure(mistake)) }
        openUpload { [weak self] failure in
            guard let self, stage == .waiting else { return }
            if let failure { return finish(.failure(failure)) }
            findAddresses()
        }
    }

    private func beginHop() {
        let now = SystemClock.boot
        hops.append(TransferHop(url: request.url, method: request.method, phases: TransferPhases(started: now)))
        timers.beginConnecting(at: now)
        armTimer()
    }

    private func openUpload(_ completion: @escaping (TransferFailure?) -> Void) {
        switch request.body {
        case .none: completion(nil)
        case .bytes(let bytes):
            upload = BytesUpload(bytes)
            completion(nil)
        case .file(let path):
            let file = FileUpload(path: path, thread: tools.files, replies: tools.replies)
            upload = file
            file.whenReady = { [weak self] in self?.resume() }
            file.open(completion)
        }
    }

    private func findAddresses() {
        let proxied: TransferURL? = if case .explicit(let proxy) = request.proxy { proxy } else { nil }
        let server = proxied ?? request.url
        if let given = request.addresses, proxied == nil { return use(given) }
        if let literal = server.address { return use([literal]) }
        let limit = timers.timeToConnect(at: SystemClock.boot) ?? .seconds(30)
        let question = NameQuestion(server.host, family: request.family, interface: request.interface)
        let resolution = tools.resolver.resolve(question, within: limit) { [weak self] answer in
            guard let self else { return }
            stage = .waiting
            switch answer {
            case .success(let addresses): use(addresses)
            case .failure(let failure): finish(.failure(TransferFailure(failure)))
            }
        }
        stage = .resolving(resolution)
    }

    private func use(_ found: [IPAddress]) {
        addresses = found.filter { request.family == nil || $0.family == request.family }[...]
        updateHop { $0.phases.resolved = SystemClock.boot }
        guard !addresses.isEmpty else {
            return finish(
                .failure(TransferFailure(.nameNotFound, "\(request.url.host) has no address of the family asked for")))
        }
        guard request.url.isSecure else { return tryNextAddress(trust: nil) }
        do throws(TransferFailure) {
            if let anchors = request.security.ownAnchors {
                return tryNextAddress(trust: try TrustStore.only(anchors))
            }
        } catch {
            return finish(.failure(error))
        }
        tools.systemTrust.take { [weak self] trust in
            guard let self, stage != .over else { return }
            tryNextAddress(trust: trust)
        }
    }

    // MARK: - Attempts

    private func tryNextAddress(trust: TrustStore?) {
        guard let address = addresses.popFirst() else { return }
        let now = SystemClock.boot
        timers.beginAddress(at: now, othersAfter: addresses.count)
        armTimer()
        stage = .transferring
        body = []
        head = nil
        _ = upload?.rewind()
        var phases = hops[hops.count - 1].phases
        phases.connected = nil
        var plan = AttemptPlan(request: request, address: address, trust: trust)
        plan.followsRedirects = request.redirects != .none
        plan.resume = request.resumable
        guard let attempt = Attempt(plan: plan, phases: phases, upload: upload) else {
            return finish(.failure(TransferFailure(.outOfMemory, "no memory for a transfer", curlCode: 27)))
        }
        updateHop { $0.attempts += 1 }
        attempt.hasRoom = { [weak self] in self?.writer?.hasRoom ?? true }
        self.attempt = attempt
        do throws(TransferFailure) {
            try attempt.configure()
            try engine?.start(attempt, of: self)
        } catch {
            finish(.failure(error))
        }
    }

    /// The attempt has moved on.
    func look() {
        guard let attempt, stage == .transferring else { return }
        if attempt.phases.requestStarted != nil, hops[hops.count - 1].phases.requestStarted == nil {
            updateHop { $0.phases = attempt.phases }
            timers.beginExchange(at: SystemClock.boot, moved: attempt.movedBytes)
            armTimer()
        }
        deliver(attempt)
        guard stage == .transferring else { return }
        tellProgress(isLast: false)
    }

    private func deliver(_ attempt: Attempt) {
        let news = attempt.news
        attempt.news = []
        for item in news where stage == .transferring {
            switch item {
            case .head(let head):
                self.head = head
                openSink(for: head)
                handler.event(.head(head))
            case .body(let bytes): take(bytes)
            }
        }
    }

    private func openSink(for head: ResponseHead) {
        guard case .file(let sink) = request.sink, head.status == 200 || head.status == 206 else { return }
        let keep = head.status == 206 ? request.resumable?.offset ?? 0 : 0
        let writer = FileWriter(path: sink.path, keep: keep, thread: tools.files, replies: tools.replies)
        writer.whenRoom = { [weak self] in self?.diskMoved() }
        self.writer = writer
    }

    private func take(_ bytes: [UInt8]) {
        if let writer { return writer.append(bytes) }
        switch request.sink {
        case .memory, .file: body += bytes
        case .events: handler.event(.body(bytes))
        case .none: break
        }
    }

    private func diskMoved() {
        guard stage == .transferring else { return }
        if let failure = writer?.failure {
            stopAttempt()
            return end(.failure(failure))
        }
        resume()
    }

    private func resume() {
        guard stage == .transferring, let attempt, attempt.isPaused, writer?.hasRoom ?? true else { return }
        attempt.isPaused = false
        timers.beginIdlePeriod(at: SystemClock.boot, moved: attempt.movedBytes)
        attempt.multi?.resume(attempt)
    }

    /// libcurl is done with the attempt.
    func attemptEnded(_ code: CURLcode) {
        guard let attempt, stage == .transferring else { return }
        deliver(attempt)
        guard stage == .transferring else { return }
        takeNotes(of: attempt)
        // A short count from a callback is a write error to libcurl.
        if code == CURLE_OK || attempt.isCut, attempt.evidence.refusal == nil { return succeed(attempt) }
        let failure = TransferFailure(code, attempt.evidence, host: request.url.host)
        if attempt.phases.requestStarted == nil { return failedToConnect(failure, attempt) }
        end(.failure(failure))
    }

    private func failedToConnect(_ failure: TransferFailure, _ attempt: Attempt) {
        let mayBeAddress = failure.kind == .destination || failure.kind == .localNetwork
        guard mayBeAddress, !addresses.isEmpty else {
            // That a family has no route says less than what the other one met.
            if failure.kind == .localNetwork, let earlierFailure { return end(.failure(earlierFailure)) }
            return end(.failure(failure))
        }
        if earlierFailure == nil, failure.kind != .localNetwork { earlierFailure = failure }
        tryNextAddress(trust: attempt.plan.trust)
    }

    private func takeNotes(of attempt: Attempt) {
        updateHop { hop in
            hop.phases = attempt.phases
            hop.status = attempt.reader.response?.status
            hop.remoteAddress = attempt.remoteAddress
            hop.localAddress = attempt.localAddress
            hop.reusedConnection = attempt.isReused && attempt.phases.requestStarted != nil
            hop.certificate = attempt.certificate
        }
        if attempt.isReused { updateHop { $0.phases.resolved = nil } }
    }

    private func succeed(_ attempt: Attempt) {
        guard request.connection != .connectOnly else { return end(.success(nil)) }
        guard let head = attempt.reader.response else {
            return end(.failure(TransferFailure(.emptyResponse, "\(request.url.host): no response", curlCode: 52)))
        }
        guard let reference = attempt.reader.redirect else { return end(.success(head)) }
        sentBefore += attempt.sentBytes
        receivedBefore += attempt.reader.bodyBytes
        self.attempt = nil
        do throws(TransferFailure) {
            try follow(reference, status: head.status)
        } catch {
            end(.failure(error))
        }
    }

    // MARK: - Redirects

    private func follow(_ reference: String, status: Int) throws(TransferFailure) {
        updateHop { $0.phases.finished = SystemClock.boot }
        redirects += 1
        guard case .follow(let limit) = request.redirects, redirects <= limit else {
            throw TransferFailure(
                .tooManyRedirects, "\(origin.host): more than \(redirects - 1) redirects", curlCode: 47)
        }
        let redirect = try request.redirect(to: reference, status: status)
        guard handler.allowsRedirect(redirect) else {
            throw TransferFailure(.redirectRefused, "the redirect to \(redirect.to) is not wanted")
        }
        guard stage != .over else { return }
        request.follow(redirect)
        if request.body == .none { upload = nil }
        earlierFailure = nil
        stage = .waiting
        beginHop()
        findAddresses()
    }

    // MARK: - Time

    private func armTimer() {
        if let timer { tools.loop.cancel(timer) }
        timer = timers.next.map { next in
            tools.loop.schedule(at: next) { [weak self] in self?.timerFired() }
        }
    }

    private func timerFired() {
        timer = nil
        guard stage != .over, stage != .flushing else { return }
        let (now, moved) = (SystemClock.boot, attempt?.movedBytes ?? 0)
        if attempt?.isPaused == true { timers.beginIdlePeriod(at: now, moved: moved) }
        let expiry = timers.expired(at: now, moved: moved)
        guard let expiry else { return armTimer() }
        let failure = timeout(expiry)
        guard let attempt else { return finish(.failure(failure)) }
        deliver(attempt)
        guard stage != .over else { return }
        stopAttempt()
        takeNotes(of: attempt)
        if expiry == .address { return failedToConnect(failure, attempt) }
        end(.failure(failure))
    }

    private func timeout(_ expiry: TransferTimers.Expiry) -> TransferFailure {
        let host = request.url.host
        if case .resolving = stage {
            return TransferFailure(.nameServerSilent, "\(host): no name server answered in time", curlCode: 28)
        }
        switch expiry {
        case .connect, .address:
            return TransferFailure(.connectTimeout, "\(host): no connection in time", curlCode: 28)
        case .total: return TransferFailure(.totalTimeout, "\(host): not finished in time", curlCode: 28)
        case .idle: return TransferFailure(.idleTimeout, "\(host): too little moved for too long", curlCode: 28)
        }
    }

    // MARK: - Progress and end

    private var progress: TransferProgress {
        TransferProgress(
            sent: sentBefore + (attempt?.sentBytes ?? 0), toSend: upload?.count,
            received: receivedBefore + (attempt?.reader.bodyBytes ?? 0), toReceive: head?.contentLength)
    }

    private func tellProgress(isLast: Bool) {
        let progress = progress
        guard progress.sent != told.sent || progress.received != told.received else { return }
        let now = SystemClock.boot
        if !isLast, let toldAt, now - toldAt < .milliseconds(100) { return }
        told = progress
        toldAt = now
        handler.event(.progress(progress))
    }

    /// Waits for the file, if there is one.
    private func end(_ outcome: Result<ResponseHead?, TransferFailure>) {
        guard let writer else { return finish(outcome) }
        stage = .flushing
        writer.finish { [weak self] failure in
            guard let self, stage == .flushing else { return }
            if let failure, (try? outcome.get()) != nil { return finish(.failure(failure)) }
            finish(outcome)
        }
    }

    /// Fails it for a reason from outside, such as the end of its epoch.
    func fail(_ failure: TransferFailure) {
        guard stage != .over, stage != .flushing else { return }
        if let attempt {
            stopAttempt()
            takeNotes(of: attempt)
        }
        end(.failure(failure))
    }

    private func finish(_ outcome: Result<ResponseHead?, TransferFailure>) {
        guard stage != .over else { return }
        let now = SystemClock.boot
        updateHop { $0.phases.finished = now }
        tellProgress(isLast: true)
        guard stage != .over else { return }
        var report = TransferReport(outcome: outcome, hops: hops)
        report.body = body
        report.isCut = attempt?.isCut ?? false
        report.sentBytes = progress.sent
        report.receivedBytes = progress.received
        report.resume = resumePoint(outcome)
        stop()
        engine?.ended(self)
        handler.event(.finished(report))
    }

    private func resumePoint(_ outcome: Result<ResponseHead?, TransferFailure>) -> ResumePoint? {
        guard case .failure = outcome, request.method == "GET", let attempt else { return nil }
        guard writer != nil, writer?.failure == nil, let head, let tag = head["etag"], ResumePoint.isStrong(tag) else {
            return nil
        }
        let kept = head.status == 206 ? request.resumable?.offset ?? 0 : 0
        return ResumePoint(offset: kept + attempt.reader.bodyBytes, entityTag: tag)
    }

    /// No event is told after this.
    func stop() {
        if case .resolving(let resolution) = stage { tools.resolver.cancel(resolution) }
        stage = .over
        if let timer { tools.loop.cancel(timer) }
        timer = nil
        stopAttempt()
        attempt = nil
        writer = nil
        upload = nil
    }

    private func stopAttempt() {
        if let attempt { attempt.multi?.remove(attempt) }
    }

    private func updateHop(_ change: (inout TransferHop) -> Void) { change(&hops[hops.count - 1]) }
}
