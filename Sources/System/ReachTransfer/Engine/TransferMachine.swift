internal import ReachCore

/// Decides the next step of one transfer: a value. Each event is a call, with the time at which it happened, and
/// returns the next action. ``TransferJob`` performs the action.
///
/// After an action, ``proceed()`` returns the one that follows from it, until there is none. Between two actions the
/// handler may cancel the transfer, which ends the sequence. An event that does not fit the state is ignored: it comes
/// late, from an attempt or a lookup that was stopped.
struct TransferMachine {
    /// What happens next. Indirect, as the state is: both are passed on several times for each transfer, and most cases
    /// that are large are rare.
    indirect enum Action {
        /// Open the body's file, if it has one: then ``bodyOpened(count:at:)``, or ``failed(_:at:)``.
        case openBody(TransferBody)
        /// Look up a name: then ``resolved(_:at:)``.
        case resolve(NameQuestion, within: Duration)
        /// Choose the way to each address: then ``routed(_:at:)``.
        case route([IPAddress])
        /// Get the trusted certificates: then ``trustFound(at:)``, or ``failed(_:at:)``.
        case findTrust([CertificateData]?)
        /// Start an attempt, next to those that are connecting. If it does not start, ``failed(_:at:)`` follows;
        /// otherwise ``requestStarted(_:_:at:)`` when the request is sent, and ``attemptEnded(_:at:)``. The first one
        /// that can send its request ends the others.
        case attempt(TransferWay)
        /// Report what the attempt has received so far, and stop it and all others: then ``attemptStopped(_:at:)``.
        case stopAttempt
        /// The same, and let no other request use its connection, which is dead.
        case leaveConnection
        /// Call the handler before the request is sent.
        case reportSending
        case report(TransferEvent)
        case openFile(FileOpening)
        case write([UInt8])
        /// Let the attempt continue after it waited for the disk.
        case resumeAttempt
        /// Ask the handler whether to follow: then ``redirectDecided(_:at:)``.
        case decideRedirect(Redirect)
        /// Wait until the file is written: then ``fileClosed(_:at:)``.
        case closeFile
        /// Release everything, then report the last event.
        case finish(TransferEvent)
    }

    /// The file of a download, as it is opened.
    struct FileOpening {
        let sink: FileSink
        /// The number of bytes of the file to keep.
        let keep: UInt64
        /// The entity tag for its record; `nil` if the server sent none that identifies bytes.
        let entityTag: String?
        /// The number of bytes of the resource, for the record.
        let total: UInt64?
        /// The first bytes to write, which were held in memory.
        let first: [UInt8]
    }

    /// What the transfer waits for.
    indirect enum State {
        /// The end of the loop's turn in which the transfer was started.
        case waiting
        case openingBody
        case resolving
        case routing
        case findingTrust(Candidates)
        /// Connections to one or several addresses, of which the first counts (RFC 8305).
        case connecting(Candidates)
        /// The response: the request may have arrived.
        case exchanging
        /// The end of the attempt that is being stopped, for this reason.
        case stopping(TransferFailure)
        case decidingRedirect(Redirect)
        /// The last write to the file.
        case flushing(Outcome)
        /// The report of the last progress.
        case finishing(Outcome)
        case ended
    }

    /// The addresses of a hop's server that were not tried yet, each with its path.
    struct Candidates {
        var ways: ArraySlice<TransferWay>
        /// The number of attempts that are connecting.
        var running = 0
        /// Why an earlier address failed, if that says more than the later failures.
        var earlierFailure: TransferFailure?
    }

    typealias Outcome = Result<ResponseHead?, TransferFailure>

    /// The request of the current hop.
    var request: TransferRequest
    var state = State.waiting
    var record: TransferRecord
    var timers: TransferTimers
    /// The next timeout; `nil` for none.
    private(set) var deadline: BootTime?
    /// Whether the handler has received the head, and the file of a download is to be opened next.
    var opensSink = false
    var redirects = 0
    /// How often it was sent again since the server did not process it.
    var repetitions = 0
    /// Whether it left a connection that was dead.
    var hasLeftConnection = false
    /// Whether an open connection turned out to have ended before anything of the hop was sent; others may have, too.
    var needsNewConnection = false
    /// The address of the URL's host for a proxy that gets addresses only.
    private(set) var targetAddress: IPAddress?
    let origin: TransferURL

    init(_ request: TransferRequest, startedAt now: BootTime) {
        self.request = request
        origin = request.url
        timers = TransferTimers(request.timeouts, startedAt: now)
        record = TransferRecord()
    }

    // MARK: - Beginning

    mutating func begin(at now: BootTime) -> Action? {
        guard case .waiting = state else { return nil }
        beginHop(at: now)
        if let fault = request.fault { return finish(.failure(fault), at: now) }
        if case .none = request.body { return findAddresses(at: now) }
        state = .openingBody
        return .openBody(request.body)
    }

    /// - Parameter count: The number of bytes of the body; `nil` if only its end shows it.
    mutating func bodyOpened(count: UInt64?, at now: BootTime) -> Action? {
        guard case .openingBody = state else { return nil }
        record.bodyBytes = count
        return findAddresses(at: now)
    }

    /// Handles the failure of the last action: it could not be started.
    mutating func failed(_ failure: TransferFailure, at now: BootTime) -> Action? {
        switch state {
        case .openingBody, .findingTrust, .connecting: finish(.failure(failure), at: now)
        default: nil
        }
    }

    mutating func beginHop(at now: BootTime) {
        record.hops.append(
            TransferHop(url: request.url, method: request.method, phases: TransferPhases(started: now)))
        targetAddress = nil
        needsNewConnection = false
        timers.beginConnecting(at: now)
        arm()
    }

    // MARK: - Addresses

    mutating func findAddresses(at now: BootTime) -> Action? {
        if needsTarget {
            guard let given = request.addresses ?? request.url.address.map({ [$0] }) else {
                return resolve(request.url, at: now)
            }
            return useTarget(given, at: now)
        }
        guard let proxy = request.proxy.url else {
            if let given = request.addresses ?? request.url.address.map({ [$0] }) { return use(given, at: now) }
            return resolve(request.url, at: now)
        }
        return proxy.address.map { use([$0], at: now) } ?? resolve(proxy, at: now)
    }

    /// Whether the target's name is resolved next, before the proxy's.
    private var needsTarget: Bool { request.proxy.resolvesTarget && targetAddress == nil }

    private mutating func resolve(_ server: TransferURL, at now: BootTime) -> Action? {
        state = .resolving
        var question = NameQuestion(server.host, family: request.family, interface: request.interface)
        if case .user(let owner) = request.owner { question.owner = owner }
        return .resolve(question, within: timers.timeToConnect(at: now) ?? .seconds(30))
    }

    mutating func resolved(_ answer: Result<[IPAddress], NameFailure>, at now: BootTime) -> Action? {
        guard case .resolving = state else { return nil }
        switch answer {
        case .success(let addresses): return needsTarget ? useTarget(addresses, at: now) : use(addresses, at: now)
        case .failure(let failure):
            let failure = TransferFailure(failure)
            guard !needsTarget, let proxy = request.proxy.url, failure.kind == .destination else {
                return finish(.failure(failure), at: now)
            }
            let sentence = "the name of the proxy \(proxy.host) is not resolved: \(failure.message)"
            return finish(.failure(TransferFailure(.proxyFailed, sentence, curlCode: 5)), at: now)
        }
    }

    /// Records the address to which the proxy connects. Like curl, it uses the first one, because nothing here shows
    /// which addresses the proxy can reach.
    private mutating func useTarget(_ found: [IPAddress], at now: BootTime) -> Action? {
        guard let first = found.first else {
            return finish(.failure(TransferFailure(.nameNotFound, "\(request.url.host) has no address")), at: now)
        }
        targetAddress = first
        return findAddresses(at: now)
    }

    private mutating func use(_ found: [IPAddress], at now: BootTime) -> Action? {
        let addresses = found.filter { request.family == nil || $0.family == request.family }
        record.updateHop { $0.phases.resolved = now }
        guard !addresses.isEmpty else {
            let sentence = "\((request.proxy.url ?? request.url).host) has no address of the family asked for"
            return finish(.failure(TransferFailure(.nameNotFound, sentence)), at: now)
        }
        state = .routing
        return .route(addresses)
    }

    /// - Parameter ways: The addresses to try, in this order, each with its path.
    mutating func routed(_ ways: [TransferWay], at now: BootTime) -> Action? {
        guard case .routing = state else { return nil }
        guard !ways.isEmpty else {
            let sentence =
                "\((request.proxy.url ?? request.url).host) is not reached by a path that the request may take"
            return finish(.failure(TransferFailure(.networkUnreachable, sentence, curlCode: 7)), at: now)
        }
        let candidates = Candidates(ways: ways[...])
        guard request.url.isSecure else { return tryNext(candidates, at: now) }
        state = .findingTrust(candidates)
        return .findTrust(request.security.ownAnchors)
    }

    mutating func trustFound(at now: BootTime) -> Action? {
        guard case .findingTrust(let candidates) = state else { return nil }
        return tryNext(candidates, at: now)
    }

    mutating func tryNext(_ candidates: Candidates, at now: BootTime) -> Action? {
        var rest = candidates
        guard let way = rest.ways.popFirst() else { return nil }
        timers.beginAddress(at: now, othersAfter: rest.ways.count)
        arm()
        rest.running += 1
        record.beginAttempt()
        state = .connecting(rest)
        return .attempt(way)
    }

    /// The phases of the hop when an attempt begins.
    var attemptPhases: TransferPhases {
        var phases = record.hops[record.hops.count - 1].phases
        phases.connected = nil
        return phases
    }

    // MARK: - Time

    mutating func arm() { deadline = timers.next }

    mutating func disarm() { deadline = nil }

    /// Handles the end of a time limit.
    ///
    /// - Parameters:
    ///   - counts: The bytes that the attempt has moved so far; `nil` if there is no attempt.
    ///   - isConnected: Whether an attempt that may not send its request yet has a TCP connection.
    ///   - silence: What the kernel says of the connection; `nil` if it cannot be asked.
    mutating func deadlineReached(
        _ counts: AttemptCounts?, isConnected: Bool = false, _ silence: ConnectionSilence? = nil, at now: BootTime
    ) -> Action? {
        disarm()
        switch state {
        case .stopping, .decidingRedirect, .flushing, .finishing, .ended: return nil
        case .waiting, .openingBody, .resolving, .routing, .findingTrust, .connecting, .exchanging: break
        }
        let moved = counts?.moved ?? 0
        // The server is not responsible for time in which the disk was the obstacle.
        if counts?.isPaused == true { timers.beginIdlePeriod(at: now, moved: moved) }
        guard let expiry = timers.expired(at: now, moved: moved) else {
            arm()
            return nil
        }
        if expiry == .address, case .connecting(let candidates) = state {
            // A handshake takes longer than a connection, and another one would not be faster.
            if isConnected, timers.extendAddress(at: now, othersAfter: candidates.ways.count) {
                arm()
                return nil
            }
            return tryNext(candidates, at: now)
        }
        if expiry == .look { return looked(silence, at: now) }
        let failure = timeout(expiry)
        switch state {
        case .connecting, .exchanging: state = .stopping(failure)
        default: return finish(.failure(failure), at: now)
        }
        return .stopAttempt
    }

    private func timeout(_ expiry: TransferTimers.Expiry) -> TransferFailure {
        let host = request.url.host
        if case .resolving = state {
            return TransferFailure(.nameServerSilent, "\(host): no name server answered in time", curlCode: 28)
        }
        switch expiry {
        case .connect, .address:
            return TransferFailure(.connectTimeout, "\(host): no connection in time", curlCode: 28)
        case .total: return TransferFailure(.totalTimeout, "\(host): not finished in time", curlCode: 28)
        case .idle, .redirect, .look:
            return TransferFailure(.idleTimeout, "\(host): too little content for too long", curlCode: 28)
        }
    }
}
