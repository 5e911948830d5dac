internal import ReachCore

/// An attempt's events, from the moment at which its request is sent.
extension TransferMachine {
    /// Whether an attempt is running, so that its events count.
    var isTransferring: Bool {
        switch state {
        case .connecting, .exchanging, .stopping: true
        default: false
        }
    }

    /// Whether the request has not begun to be sent.
    var isConnecting: Bool { if case .connecting = state { true } else { false } }

    /// Handles the start of sending. A connection that died is replaced and the request sent again, which is not a
    /// second start.
    ///
    /// - Parameter isReused: Whether the connection was used before.
    mutating func requestStarted(
        _ phases: TransferPhases, _ counts: AttemptCounts, isReused: Bool = false, at now: BootTime
    ) -> Action? {
        guard case .connecting = state else { return nil }
        record.updateHop { $0.phases = phases }
        timers.beginExchange(at: now, moved: counts.moved, isReused: isReused)
        arm()
        state = .exchanging
        return .reportSending
    }

    /// Handles the head of a response that is not a redirect to follow.
    mutating func received(head: ResponseHead) -> Action? {
        guard isTransferring else { return nil }
        record.head = head
        opensSink = true
        return .report(.head(head))
    }

    /// Handles a piece of the body.
    mutating func received(body bytes: [UInt8]) -> Action? {
        guard isTransferring else { return nil }
        if record.hasFile { return .write(bytes) }
        switch request.sink {
        case .file(let sink) where sink.memoryBytes > 0 && record.body.count + bytes.count > sink.memoryBytes:
            let first = record.body + bytes
            record.body = []
            return openFile(sink, keep: 0, first: first)
        case .memory, .file:
            record.body += bytes
            return nil
        case .events: return .report(.body(bytes))
        case .none: return nil
        }
    }

    /// Handles bytes that were sent or received. Progress is reported at most ten times a second.
    mutating func moved(_ counts: AttemptCounts, at now: BootTime) -> Action? {
        guard isTransferring else { return nil }
        record.counts = counts
        if counts.isRedirect {
            timers.beginRedirect(at: now)
            arm()
        }
        return record.dueProgress(at: now, isLast: false).map { .report(.progress($0)) }
    }

    /// Handles a disk that has room for more of the body, or has read more of it.
    mutating func becameReady(_ counts: AttemptCounts, at now: BootTime) -> Action? {
        switch state {
        case .connecting, .exchanging: break
        default: return nil
        }
        guard counts.isPaused else { return nil }
        timers.beginIdlePeriod(at: now, moved: counts.moved)
        return .resumeAttempt
    }

    /// Ends the attempt for a reason outside of it: the disk, or the network.
    mutating func interrupt(_ failure: TransferFailure, at now: BootTime) -> Action? {
        switch state {
        case .connecting, .exchanging:
            state = .stopping(failure)
            return .stopAttempt
        case .openingBody, .resolving, .routing, .findingTrust: return end(.failure(failure), at: now)
        case .waiting:
            beginHop(at: now)
            return end(.failure(failure), at: now)
        case .stopping, .decidingRedirect, .flushing, .finishing, .ended: return nil
        }
    }

    /// Handles the end of an attempt that was stopped. The state has the reason.
    mutating func attemptStopped(_ result: AttemptResult, at now: BootTime) -> Action? {
        guard case .stopping(let failure) = state else { return nil }
        record.note(result)
        if failure.reason == .connectionSilent, result.response == nil, mayLeaveConnection {
            hasLeftConnection = true
            return sendAgain(at: now)
        }
        // What a redirect says is in its head.
        if failure.reason == .idleTimeout, result.counts.isRedirect { return succeed(result, at: now) }
        return end(.failure(failure), at: now)
    }

    /// Handles an attempt that ended by itself.
    mutating func attemptEnded(_ result: AttemptResult, at now: BootTime) -> Action? {
        var candidates: Candidates?
        switch state {
        case .connecting(let others): candidates = others
        case .exchanging: break
        default: return nil
        }
        record.note(result)
        guard let failure = result.failure ?? lackOfResponse(result) else { return succeed(result, at: now) }
        if result.isUnprocessed {
            if result.phases.requestStarted == nil {
                needsNewConnection = true
                return sendAgain(at: now)
            }
            if mayRepeat { return repeatExchange(at: now) }
            unsend()
        }
        guard let candidates, result.phases.requestStarted == nil else { return end(.failure(failure), at: now) }
        return failedToConnect(failure, candidates, at: now)
    }

    /// As often as libcurl repeats a stream that is refused.
    private var mayRepeat: Bool {
        // What was read of a body that arrives is gone.
        if case .arriving = request.body { return false }
        return repetitions < 5
    }

    /// Sends the request again by another connection: the server did not process it.
    private mutating func repeatExchange(at now: BootTime) -> Action? {
        repetitions += 1
        // A server may refuse the first stream with a body of each connection (nginx with a small
        // `http2_body_preread_size` until its settings are acknowledged, for which libcurl does not wait).
        if repetitions > 1 { request.version = .http1 }
        return sendAgain(at: now)
    }

    private mutating func sendAgain(at now: BootTime) -> Action? {
        unsend()
        timers.beginConnecting(at: now)
        arm()
        return findAddresses(at: now)
    }

    /// Whether the request is sent again where nothing of it was acknowledged: once, then by a new connection.
    private var mayLeaveConnection: Bool { request.mayArriveTwice && mayRepeat && !hasLeftConnection }

    /// Handles what the kernel says of a connection that was used before.
    mutating func looked(_ silence: ConnectionSilence?, at now: BootTime) -> Action? {
        let limit = mayLeaveConnection ? ConnectionSilence.limitIfRepeatable : ConnectionSilence.limit
        switch silence?.verdict(limit: limit) ?? .heard {
        case .heard: break
        case .unknown: timers.lookAgain(at: now)
        case .silent:
            let sentence =
                "\(request.url.host): nothing sent on the connection is acknowledged; the request may have arrived"
            state = .stopping(TransferFailure(.connectionSilent, sentence, curlCode: 56))
            return .leaveConnection
        }
        arm()
        return nil
    }

    /// Forgets that the request was sent.
    private mutating func unsend() {
        record.updateHop { $0.phases = TransferPhases(started: $0.phases.started) }
    }

    /// Handles the failure of one attempt, after which others may still connect.
    private mutating func failedToConnect(
        _ failure: TransferFailure, _ candidates: Candidates, at now: BootTime
    ) -> Action? {
        var rest = candidates
        rest.running -= 1
        // What a server says of itself, such as a wrong certificate, is not asked of its other addresses.
        if !failure.mayBeOfAddress { rest.ways = [] }
        let isLast = rest.ways.isEmpty && rest.running == 0
        guard !isLast else { return end(.failure(rest.mostTelling(failure)), at: now) }
        if failure.kind != .localNetwork || !failure.mayBeOfAddress {
            rest.earlierFailure = rest.mostTelling(failure)
        }
        if !rest.ways.isEmpty { return tryNext(rest, at: now) }
        state = .connecting(rest)
        return nil
    }

    /// libcurl 7.88.1 ends a stream of HTTP/2 without a failure where the connection ended after a GOAWAY.
    private func lackOfResponse(_ result: AttemptResult) -> TransferFailure? {
        guard request.connection != .connectOnly, result.response == nil else { return nil }
        return TransferFailure(.emptyResponse, "\(request.url.host): no response", curlCode: 52)
    }

    private mutating func succeed(_ result: AttemptResult, at now: BootTime) -> Action? {
        guard request.connection != .connectOnly, let head = result.response else {
            return end(.success(nil), at: now)
        }
        // Only a proxy sends this (RFC 9110, 15.5.8); CONNECT with it never leads to a response.
        if head.status == 407, let proxy = request.proxy.url, proxy.scheme == "http", !request.url.isSecure {
            let sentence = "\(request.url.host): the proxy \(proxy.host):\(proxy.port) wants other credentials"
            return end(.failure(TransferFailure(.proxyAuthentication, sentence)), at: now)
        }
        guard let reference = result.redirect else { return end(.success(head), at: now) }
        record.endHop(at: now)
        do throws(TransferFailure) {
            return try follow(reference, status: head.status)
        } catch {
            return end(.failure(error), at: now)
        }
    }

    // MARK: - Redirects

    private mutating func follow(_ reference: String, status: Int) throws(TransferFailure) -> Action? {
        redirects += 1
        guard case .follow(let limit) = request.redirects, redirects <= limit else {
            throw TransferFailure(
                .tooManyRedirects, "\(origin.host): more than \(redirects - 1) redirects", curlCode: 47)
        }
        let redirect = try request.redirect(to: reference, status: status)
        disarm()
        state = .decidingRedirect(redirect)
        return .decideRedirect(redirect)
    }

    mutating func redirectDecided(_ isAllowed: Bool, at now: BootTime) -> Action? {
        guard case .decidingRedirect(let redirect) = state else { return nil }
        guard isAllowed else {
            let failure = TransferFailure(.redirectRefused, "the redirect to \(redirect.to) is not wanted")
            return end(.failure(failure), at: now)
        }
        request.follow(redirect)
        if request.body == .none { record.bodyBytes = nil }
        beginHop(at: now)
        return findAddresses(at: now)
    }
}

extension TransferFailure {
    /// Whether another address of the same server may do better.
    fileprivate var mayBeOfAddress: Bool { kind == .destination || kind == .localNetwork }
}

extension TransferMachine.Candidates {
    /// The failure to report of those so far: one of the server itself, or else the last one. A missing route in one
    /// family says less than the failure of the other family.
    fileprivate func mostTelling(_ failure: TransferFailure) -> TransferFailure {
        guard let earlierFailure, failure.mayBeOfAddress else { return failure }
        return failure.kind == .localNetwork || !earlierFailure.mayBeOfAddress ? earlierFailure : failure
    }
}
