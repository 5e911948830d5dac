internal import ReachCore
internal import ReachLoop

/// Redirects, timeouts, progress and the end.
extension TransferJob {
    func follow(_ reference: String, status: Int) throws(TransferFailure) {
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

    func armTimer() {
        deadline = timers.next
        if let deadline { engine?.wake(at: deadline) }
    }

    func timeCame() {
        deadline = nil
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

    func timeout(_ expiry: TransferTimers.Expiry) -> TransferFailure {
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

    var progress: TransferProgress {
        TransferProgress(
            sent: sentBefore + (attempt?.sentBytes ?? 0), toSend: upload?.count,
            received: receivedBefore + (attempt?.reader.bodyBytes ?? 0), toReceive: head?.contentLength)
    }

    func tellProgress(isLast: Bool) {
        let progress = progress
        guard progress.sent != told.sent || progress.received != told.received else { return }
        let now = SystemClock.boot
        if !isLast, let toldAt, now - toldAt < .milliseconds(100) { return }
        told = progress
        toldAt = now
        handler.event(.progress(progress))
    }

    /// Waits for the file, if there is one.
    func end(_ outcome: Result<ResponseHead?, TransferFailure>) {
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

    func finish(_ outcome: Result<ResponseHead?, TransferFailure>) {
        guard stage != .over else { return }
        let now = SystemClock.boot
        updateHop { $0.phases.finished = now }
        tellProgress(isLast: true)
        guard stage != .over else { return }
        var report = TransferReport(outcome: outcome, hops: hops)
        report.body = body
        report.fileBytes = writer == nil ? nil : fileBytes
        report.isCut = attempt?.isCut ?? false
        report.sentBytes = progress.sent
        report.receivedBytes = progress.received
        report.resume = resumePoint(outcome)
        let engine = engine
        stop()
        engine?.ended(self)
        handler.event(.finished(report))
    }

    /// How long the file is, as far as it is good.
    private var fileBytes: UInt64 {
        let kept = head?.status == 206 ? request.resumable?.offset ?? 0 : 0
        return kept + (attempt?.reader.bodyBytes ?? 0)
    }

    func resumePoint(_ outcome: Result<ResponseHead?, TransferFailure>) -> ResumePoint? {
        guard case .failure = outcome, attempt != nil, writer != nil, writer?.failure == nil else { return nil }
        return resumableTag.map { ResumePoint(offset: fileBytes, entityTag: $0) }
    }

    /// What vouches for the bytes of this answer; `nil` where nothing does, and for the page of an error.
    var resumableTag: String? {
        guard request.method == "GET", !request.hasOwnRange, let head, head.status == 200 || head.status == 206,
            let tag = head["etag"],
            ResumePoint.isStrong(tag)
        else { return nil }
        return tag
    }

    /// No event is told after this.
    func stop() {
        if case .resolving(let resolution) = stage { tools.resolver.cancel(resolution) }
        stage = .over
        engine = nil
        deadline = nil
        stopAttempt()
        attempt = nil
        writer = nil
        upload = nil
    }

    func stopAttempt() {
        if let attempt { attempt.multi?.remove(attempt) }
    }
}
