internal import CCurl
internal import Glibc
internal import ReachCore
internal import ReachLoop

/// A libcurl multi handle on the event loop: it drives attempts, and keeps their connections.
///
/// libcurl may not be called from its own callbacks, so these only note what happened. `onProgress` and `onFinish` are
/// called after libcurl has returned, and may start, cancel and close.
final class CurlMulti {
    private let loop: EventLoop
    private let handle: UnsafeMutableRawPointer
    private var attempts: [UnsafeMutableRawPointer: Attempt] = [:]
    private let sockets: CurlSockets
    /// Attempts by the socket that they connect: it is connected when it can first be written.
    private var connecting: [CInt: Attempt] = [:]
    /// The sockets of connections that are bound to an interface.
    var ends = ConnectionEnds()
    /// Sockets with HTTP/2, on which frames may arrive at any time.
    private var framed: Set<CInt> = []
    /// The connections by their sockets, whose numbers are used again.
    private var connections: [CInt: ConnectionID] = [:]
    private var lastConnection: ConnectionID = 0
    /// The last streams that servers process, by the connections that they close.
    private var goAways: [ConnectionID: UInt32] = [:]
    /// Those that are closed; of some the attempts' ends are not reported yet.
    private var closedConnections: [ConnectionID] = []
    /// Attempts that have read enough for now, and when they resume.
    private var heldBack: [(attempt: Attempt, pause: TurnBudget.Pause)] = []
    private let rests: RestLines
    let shares: DecodingShares
    private let owner: ConnectionOwner
    /// Limits what its connections receive below TLS.
    let gates: ReceiveGates
    /// The number of calls of libcurl.
    private(set) var turn: UInt64 = 0
    private var timer: (id: TimerQueue.ID, deadline: BootTime)?
    /// When libcurl's timeout expires; `nil` for none. The timer may be earlier.
    private var wanted: BootTime?
    private var willDrive = false
    private var noted: [Attempt] = []
    private var isClosed = false
    private let loopReference = LoopReference<CurlMulti>()

    var onProgress: (Attempt) -> Void = { _ in }
    var onFinish: (Attempt, CURLcode) -> Void = { _, _ in }
    /// libcurl reported an inconsistency of its own, and this handle cannot be used again.
    var onBroken: (String) -> Void = { _ in }

    init?(loop: EventLoop, owner: ConnectionOwner, rests: RestLines, shares: DecodingShares) {
        guard let handle = curl_multi_init() else { return nil }
        self.loop = loop
        self.handle = handle
        self.owner = owner
        self.rests = rests
        self.shares = shares
        gates = ReceiveGates(loop: loop)
        sockets = CurlSockets(loop: loop)
        loopReference.owner = self
        sockets.onReady = { [unowned self] in ready($0, $1) }
        sockets.onUnexpected = { [unowned self] in
            // Bytes that no request asked for would be read as the response to the next one. Mostly the server hung up.
            if !framed.contains($0) { reach_socket_sever($0) }
        }
        let context = Unmanaged.passUnretained(self).toOpaque()
        _ = reach_multi_set_socket(handle, socketCallback, context)
        _ = reach_multi_set_timer(handle, timerCallback, context)
        _ = reach_multi_set_long(handle, CURLMOPT_MAXCONNECTS, Self.keptConnections)
    }

    /// The most connections kept: as many as a queue may have attempts at a time. By default libcurl keeps four for
    /// each running transfer, and closes the rest between the end of many transfers and the start of the next.
    private static let keptConnections = 256

    deinit {
        close()
        loopReference.owner = nil
    }

    var isIdle: Bool { attempts.isEmpty }

    var runningAttempts: [Attempt] { Array(attempts.values) }

    func add(_ attempt: Attempt) -> Bool {
        guard !isClosed else { return false }
        attempts[attempt.easy] = attempt
        attempt.multi = self
        attempt.handle.setCloser(closeSocket, Unmanaged.passUnretained(self).toOpaque())
        guard curl_multi_add_handle(handle, attempt.easy) == CURLM_OK else {
            forget(attempt)
            return false
        }
        return true
    }

    /// Stops an attempt. Nothing is reported of it afterwards.
    func remove(_ attempt: Attempt) {
        guard attempts[attempt.easy] != nil else { return }
        curl_multi_remove_handle(handle, attempt.easy)
        forget(attempt)
    }

    /// Resumes an attempt that paused itself.
    func resume(_ attempt: Attempt) {
        guard attempts[attempt.easy] != nil else { return }
        attempt.isHeldBack = false
        turn += 1
        if attempt.hasUndecoded {
            guard attempt.decode() else { return finish(attempt, CURLE_WRITE_ERROR) }
            if attempt.hasUndecoded { return reportNoted() }
        }
        if attempt.isReceived { return finish(attempt, CURLE_OK) }
        let code = curl_easy_pause(attempt.easy, CURLPAUSE_CONT)
        reportNoted()
        // A callback refused what libcurl had kept meanwhile: it says so only here, and would wait without end.
        if code != CURLE_OK, attempt.multi === self { finish(attempt, code) }
    }

    /// Stops all attempts without a report, and closes all connections.
    func close() {
        guard !isClosed else { return }
        isClosed = true
        for attempt in runningAttempts { remove(attempt) }
        // It may still call back until this returns.
        curl_multi_cleanup(handle)
        cancelTimer()
        sockets.forgetAll()
    }

    private func forget(_ attempt: Attempt) {
        attempts[attempt.easy] = nil
        if !connecting.isEmpty { connecting = connecting.filter { $0.value !== attempt } }
        attempt.multi = nil
        if isIdle, wanted == nil { cancelTimer() }
    }

    // MARK: - Notes of callbacks

    func note(_ attempt: Attempt) {
        guard !attempt.isNoted else { return }
        attempt.isNoted = true
        noted.append(attempt)
    }

    func note(_ attempt: Attempt, connects socket: CInt) {
        sockets.forget(socket)
        lastConnection += 1
        connections[socket] = lastConnection
        connecting[socket] = attempt
    }

    /// The number of the connection that has this socket now.
    typealias ConnectionID = UInt64

    func connection(with socket: CInt) -> ConnectionID? { connections[socket] }

    /// Notes the last stream that a server processes; it may say a lower one later.
    func noteGoAway(on connection: ConnectionID, last: UInt32) {
        goAways[connection] = min(last, goAways[connection] ?? last)
    }

    func noteFrames(on socket: CInt) { framed.insert(socket) }

    /// Whether an attempt has to stop reading for now; it is then resumed later.
    func holdBack(_ attempt: Attempt) -> Bool {
        if attempt.isHeldBack { return true }
        var pause = attempt.budget.pause
        // In HTTP/2 the stream's window bounds a turn already, but not what is decoded.
        if pause == .turn, !attempt.reader.isTextual, attempt.decoder == nil { pause = nil }
        if pause == nil, attempt.decoder != nil, shares.isSpent { pause = attempt.budget.afterContent }
        guard let pause else { return false }
        attempt.isHeldBack = true
        heldBack.append((attempt, pause))
        note(attempt)
        return true
    }

    // MARK: - Taking turns

    /// Resumes what was held back, after others on the loop had their turn.
    private func scheduleHeldBack() {
        guard !heldBack.isEmpty else { return }
        let waiting = heldBack
        heldBack = []
        for (attempt, pause) in waiting {
            guard pause == .rest else {
                // Work deferred at the end of a turn runs in that turn: deferred twice, it runs after the next poll.
                loop.afterEvents { [weak self] in
                    self?.loop.afterEvents { [weak self] in self?.resumeHeldBack(attempt) }
                }
                continue
            }
            rests.rest(owner) { [weak self] in self?.resumeHeldBack(attempt) }
        }
    }

    private func resumeHeldBack(_ attempt: Attempt) {
        guard attempt.multi === self, attempt.isHeldBack else { return }
        guard attempt.budget.isMostlyFraming else { return resume(attempt) }
        attempt.failForFraming()
    }

    /// Has connections wait that brought too much framing, and ends what they were for if that goes on.
    private func restStopped() {
        for gate in gates.takeStopped() where !gate.isClosed && !gate.isResting && gate.mustRest {
            guard !gate.isMostlyFraming else {
                drop(gate)
                continue
            }
            gate.isResting = true
            sockets.suspend(gate.socket)
            rests.rest(owner) { [weak self] in
                gate.isResting = false
                if let self, !gate.isClosed { sockets.restore(gate.socket) }
            }
        }
    }

    /// Closes a connection that brings hardly anything but framing.
    private func drop(_ gate: ReceiveGate) {
        for attempt in runningAttempts where attempt.gate === gate { attempt.failForFraming() }
        guard !gate.isClosed else { return }
        // Other requests must not use it.
        gate.isResting = true
        sockets.forget(gate.socket)
        reach_socket_sever(gate.socket)
    }

    // MARK: - Driving libcurl

    fileprivate func wait(for socket: CInt, _ what: CInt, _ easy: UnsafeMutableRawPointer?) {
        if what == CURL_POLL_REMOVE {
            connecting[socket] = nil
            let attempt = easy.flatMap { attempts[$0] }
            sockets.rest(
                socket, isBusy: attempt.map { $0.isHeldBack || $0.isPaused || $0.plan.request.isPaced } ?? false)
            return
        }
        // Sets of options are slow to make of their elements in another module.
        var interest: UInt32 = 0
        if what & CURL_POLL_IN != 0 { interest |= EventLoop.Interest.readable.rawValue }
        if what & CURL_POLL_OUT != 0 { interest |= EventLoop.Interest.writable.rawValue }
        sockets.wait(for: socket, EventLoop.Interest(rawValue: interest))
    }

    fileprivate func closed(_ socket: CInt) {
        connecting[socket] = nil
        if let connection = connections.removeValue(forKey: socket), goAways[connection] != nil {
            closedConnections.append(connection)
        }
        if !framed.isEmpty { framed.remove(socket) }
        sockets.forgetClosing(socket)
    }

    /// Sets libcurl's timeout. libcurl changes it several times in each transfer, mostly to now or to much later, so
    /// the loop's timer stays as it is while it is early enough.
    fileprivate func arm(milliseconds: Int) {
        guard milliseconds >= 0, !isClosed else {
            wanted = nil
            if isIdle { cancelTimer() }
            return
        }
        if milliseconds == 0 { return driveSoon() }
        let deadline = SystemClock.boot + .milliseconds(milliseconds)
        wanted = deadline
        guard timer.map({ deadline < $0.deadline }) ?? true else { return }
        cancelTimer()
        setTimer(deadline)
    }

    private func setTimer(_ deadline: BootTime) {
        let id = loop.schedule(at: deadline) { [unowned self] in
            timer = nil
            guard let wanted else { return }
            if wanted > SystemClock.boot { return setTimer(wanted) }
            self.wanted = nil
            drive(CURL_SOCKET_TIMEOUT, 0)
        }
        timer = (id, deadline)
    }

    private func cancelTimer() {
        if let timer { loop.cancel(timer.id) }
        timer = nil
    }

    /// Drives libcurl at the end of the loop's turn, once for all that begin in it.
    private func driveSoon() {
        wanted = nil
        guard !willDrive else { return }
        willDrive = true
        loop.beforeNextPoll { [loopReference] in
            guard let self = loopReference.owner, !self.isClosed else { return }
            self.willDrive = false
            self.drive(CURL_SOCKET_TIMEOUT, 0)
        }
    }

    private func ready(_ socket: CInt, _ readiness: EventLoop.Interest) {
        let failed = !readiness.isDisjoint(with: .failed)
        if readiness.contains(.writable), let attempt = connecting.removeValue(forKey: socket), !failed {
            attempt.noteConnected()
        }
        var events: CInt = 0
        if readiness.contains(.readable) { events |= CURL_CSELECT_IN }
        if readiness.contains(.writable) { events |= CURL_CSELECT_OUT }
        if failed { events |= CURL_CSELECT_ERR }
        drive(socket, events)
    }

    private func drive(_ socket: CInt, _ events: CInt) {
        var running: CInt = 0
        turn += 1
        let code = curl_multi_socket_action(handle, socket, events, &running)
        guard code == CURLM_OK else { return onBroken(String(cString: curl_multi_strerror(code))) }
        reportNoted()
    }

    /// Reports what the callbacks noted, and the attempts that ended.
    private func reportNoted() {
        var finished: [(Attempt, CURLcode)] = []
        var left: CInt = 0
        while let message = curl_multi_info_read(handle, &left) {
            guard message.pointee.msg == CURLMSG_DONE, let easy = message.pointee.easy_handle,
                let attempt = attempts[easy]
            else { continue }
            finished.append((attempt, reach_message_result(message)))
        }
        let progressed = noted
        noted = []
        for attempt in progressed {
            attempt.isNoted = false
            if attempt.multi === self { onProgress(attempt) }
        }
        for (attempt, code) in finished where attempt.multi === self { finish(attempt, code) }
        for connection in closedConnections { goAways[connection] = nil }
        closedConnections = []
        scheduleHeldBack()
        restStopped()
    }

    private func finish(_ attempt: Attempt, _ code: CURLcode) {
        // What has arrived is decoded first, in the turns to come.
        if code == CURLE_OK, attempt.hasUndecoded, attempt.evidence.refusal == nil {
            attempt.isReceived = true
            return
        }
        attempt.readWireBytes()
        if code == CURLE_OK { attempt.checkDecoded() }
        if code == CURLE_OK { attempt.endedWell = true } else { attempt.readInformation() }
        if let last = attempt.connectionID.flatMap({ goAways[$0] }) { attempt.stream.end(after: last) }
        attempt.noteEnd(code)
        remove(attempt)
        onFinish(attempt, code)
    }
}

private func socketCallback(
    easy: UnsafeMutableRawPointer?, socket: curl_socket_t, what: CInt, context: UnsafeMutableRawPointer?,
    _: UnsafeMutableRawPointer?
) -> CInt {
    guard let context else { return 0 }
    Unmanaged<CurlMulti>.fromOpaque(context).takeUnretainedValue().wait(for: socket, what, easy)
    return 0
}

/// The only place that closes libcurl's sockets: their numbers may belong to other files from then on.
private func closeSocket(context: UnsafeMutableRawPointer?, socket: curl_socket_t) -> CInt {
    if let context { Unmanaged<CurlMulti>.fromOpaque(context).takeUnretainedValue().closed(socket) }
    return close(socket)
}

private func timerCallback(
    _: UnsafeMutableRawPointer?, milliseconds: Int, context: UnsafeMutableRawPointer?
) -> CInt {
    guard let context else { return 0 }
    Unmanaged<CurlMulti>.fromOpaque(context).takeUnretainedValue().arm(milliseconds: milliseconds)
    return 0
}
