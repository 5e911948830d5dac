internal import CCurl
internal import ReachCore
internal import ReachLoop

/// One address after the other, until one answers.
extension TransferJob {
    func tryNextAddress(trust: TrustStore?) {
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
        if case .file = request.sink { plan.resume = request.resumable }
        guard let attempt = Attempt(plan: plan, phases: phases, upload: upload, handles: tools.handles) else {
            return finish(.failure(TransferFailure(.outOfMemory, "no memory for a transfer", curlCode: 27)))
        }
        updateHop { $0.attempts += 1 }
        self.attempt = attempt
        do throws(TransferFailure) {
            try attempt.configure()
            try engine?.start(attempt, of: self)
        } catch {
            finish(.failure(error))
        }
    }

    /// Whether more of the body can be taken.
    var hasRoom: Bool { writer?.hasRoom ?? true }

    /// The attempt has moved on.
    func look() {
        guard let attempt, stage == .transferring else { return }
        if attempt.phases.requestStarted != nil, hops[hops.count - 1].phases.requestStarted == nil {
            updateHop { $0.phases = attempt.phases }
            handler.willSend()
            guard stage == .transferring else { return }
            timers.beginExchange(at: SystemClock.boot, moved: attempt.movedBytes)
            armTimer()
        }
        deliver(attempt)
        guard stage == .transferring else { return }
        tellProgress(isLast: false)
    }

    func deliver(_ attempt: Attempt) {
        let news = attempt.news
        attempt.news = []
        for item in news where stage == .transferring {
            switch item {
            case .head(let head):
                self.head = head
                handler.event(.head(head))
                if stage == .transferring { openSink(for: head) }
            case .body(let bytes): take(bytes)
            }
        }
    }

    func openSink(for head: ResponseHead) {
        guard case .file(let sink) = request.sink, head.status == 200 || head.status == 206 else { return }
        let keep = head.status == 206 ? request.resumable?.offset ?? 0 : 0
        if keep > 0 || sink.memoryBytes == 0 { openFile(sink, keep: keep) }
    }

    private func openFile(_ sink: FileSink, keep: UInt64) {
        let recorder = sink.recordPath.map {
            ResumeRecorder(path: $0, entityTag: resumableTag, interval: sink.recordInterval)
        }
        let writer = FileWriter(
            path: sink.path, keep: keep, permissions: sink.permissions, recorder: recorder, thread: tools.files,
            replies: tools.replies)
        writer.whenRoom = { [weak self] in self?.diskMoved() }
        self.writer = writer
    }

    func take(_ bytes: [UInt8]) {
        if let writer { return writer.append(bytes) }
        switch request.sink {
        case .file(let sink) where sink.memoryBytes > 0 && body.count + bytes.count > sink.memoryBytes:
            openFile(sink, keep: 0)
            writer?.append(body + bytes)
            body = []
        case .memory, .file: body += bytes
        case .events: handler.event(.body(bytes))
        case .none: break
        }
    }

    func diskMoved() {
        guard stage == .transferring else { return }
        if let failure = writer?.failure {
            stopAttempt()
            return end(.failure(failure))
        }
        resume()
    }

    func resume() {
        guard stage == .transferring, let attempt, attempt.isPaused, hasRoom else { return }
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

    func failedToConnect(_ failure: TransferFailure, _ attempt: Attempt) {
        let mayBeAddress = failure.kind == .destination || failure.kind == .localNetwork
        guard mayBeAddress, !addresses.isEmpty else {
            // That a family has no route says less than what the other one met.
            if failure.kind == .localNetwork, let earlierFailure { return end(.failure(earlierFailure)) }
            return end(.failure(failure))
        }
        if earlierFailure == nil, failure.kind != .localNetwork { earlierFailure = failure }
        tryNextAddress(trust: attempt.plan.trust)
    }

    func takeNotes(of attempt: Attempt) {
        updateHop { hop in
            hop.phases = attempt.phases
            hop.status = attempt.reader.response?.status
            hop.remoteAddress = attempt.remoteAddress
            hop.localAddress = attempt.localAddress
            hop.reusedConnection = attempt.isReused && attempt.phases.requestStarted != nil
            hop.certificate = attempt.certificate
            if hop.reusedConnection { hop.phases.resolved = nil }
        }
    }

    func succeed(_ attempt: Attempt) {
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
}
