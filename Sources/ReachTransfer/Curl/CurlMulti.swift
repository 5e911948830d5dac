internal import CCurl
internal import Glibc
internal import ReachCore
internal import ReachLoop

/// One of libcurl's multi handles on the event loop: it drives attempts, and keeps their connections.
///
/// libcurl may not be called from its own callbacks, so these only take notes. Whoever is interested is told once libcurl
/// has returned (`whenNews`, `whenFinished`), and may then start, cancel and close.
final class CurlMulti {
    private let loop: EventLoop
    private let handle: UnsafeMutableRawPointer
    private var attempts: [UnsafeMutableRawPointer: Attempt] = [:]
    private let sockets: CurlSockets
    /// Whose connections are being made: the first time such a socket can be written, it is connected.
    private var connecting: [CInt: Attempt] = [:]
    /// Of connections that are tied to an interface.
    var ends = ConnectionEnds()
    /// Sockets on which HTTP/2 is spoken: frames may come there at any time.
    private var framed: Set<CInt> = []
    /// Attempts that read enough for now, and when they go on.
    private var heldBack: [(attempt: Attempt, pause: TurnBudget.Pause)] = []
    private var resting = 0
    /// How often libcurl was called.
    private(set) var turn: UInt64 = 0
    private var timer: (id: TimerQueue.ID, deadline: BootTime)?
    /// When libcurl wants to be called; `nil` if not at all. The timer may be earlier.
    private var wanted: BootTime?
    private var willAct = false
    private var news: [Attempt] = []
    private var isClosed = false
    private let wayBack = WayBack<CurlMulti>()

    var whenNews: (Attempt) -> Void = { _ in }
    var whenFinished: (Attempt, CURLcode) -> Void = { _, _ in }
    /// libcurl is at odds with itself, and this handle cannot be used again (scheduling.md 6.12).
    var whenBroken: (String) -> Void = { _ in }

    init?(loop: EventLoop) {
        guard let handle = curl_multi_init() else { return nil }
        self.loop = loop
        self.handle = handle
        sockets = CurlSockets(loop: loop)
        wayBack.owner = self
        sockets.whenReady = { [unowned self] in ready($0, $1) }
        sockets.whenUnasked = { [unowned self] in
            // What a server says unasked would be read as its answer to the next request. Mostly it has hung up.
            if !framed.contains($0) { reach_socket_sever($0) }
        }
        let context = Unmanaged.passUnretained(self).toOpaque()
        _ = reach_multi_set_socket(handle, socketCallback, context)
        _ = reach_multi_set_timer(handle, timerCallback, context)
        _ = reach_multi_set_long(handle, CURLMOPT_MAXCONNECTS, Self.keptConnections)
    }

    /// So many are kept at most: as many as a queue may have attempts at a time. By itself libcurl keeps four for each
    /// transfer that is under way, and closes the rest in the moment in which many have ended and the next not begun.
    private static let keptConnections = 256

    deinit {
        close()
        wayBack.owner = nil
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

    /// Stops an attempt; nothing of it is told any more.
    func remove(_ attempt: Attempt) {
        guard attempts[attempt.easy] != nil else { return }
        curl_multi_remove_handle(handle, attempt.easy)
        forget(attempt)
    }

    /// Lets an attempt that paused itself go on.
    func resume(_ attempt: Attempt) {
        guard attempts[attempt.easy] != nil else { return }
        attempt.isHeldBack = false
        turn += 1
        curl_easy_pause(attempt.easy, CURLPAUSE_CONT)
        tell()
    }

    /// Ends all attempts without a word, and closes all connections.
    func close() {
        guard !isClosed else { return }
        isClosed = true
        for attempt in runningAttempts { remove(attempt) }
        // Its callbacks may still come until this returns.
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

    // MARK: - Notes that callbacks take

    func note(_ attempt: Attempt) {
        guard !attempt.hasNews else { return }
        attempt.hasNews = true
        news.append(attempt)
    }

    func note(_ attempt: Attempt, connects socket: CInt) {
        sockets.forget(socket)
        connecting[socket] = attempt
    }

    func noteFrames(on socket: CInt) { framed.insert(socket) }

    /// Whether an attempt has to stop reading for now; then it goes on by itself later.
    func holdBack(_ attempt: Attempt) -> Bool {
        if attempt.isHeldBack { return true }
        // In HTTP/2 a stream has a window, which bounds a turn already.
        guard let pause = attempt.budget.pause, pause == .rest || attempt.reader.isTextual else { return false }
        attempt.isHeldBack = true
        heldBack.append((attempt, pause))
        note(attempt)
        return true
    }

    // MARK: - Taking turns

    /// Others on the loop come first.
    private func letHeldBackGoOn() {
        guard !heldBack.isEmpty else { return }
        let waiting = heldBack
        heldBack = []
        for (attempt, pause) in waiting {
            guard pause == .rest else {
                // What is left at the end of a turn is done in it: the turn after is the one in which the kernel was asked.
                loop.afterEvents { [weak self] in self?.loop.afterEvents { [weak self] in self?.goOn(attempt) } }
                continue
            }
            resting += 1
            loop.schedule(at: SystemClock.boot + TurnBudget.restTime * resting) { [weak self] in
                self?.resting -= 1
                self?.goOn(attempt)
            }
        }
    }

    private func goOn(_ attempt: Attempt) {
        guard attempt.multi === self, attempt.isHeldBack else { return }
        guard attempt.budget.isAbsurd else { return resume(attempt) }
        let host = attempt.plan.request.url.host
        attempt.job?.fail(TransferFailure(.badResponse, "\(host): hardly anything but framing", curlCode: 56))
    }

    // MARK: - Driving libcurl

    fileprivate func wait(for socket: CInt, _ what: CInt, _ easy: UnsafeMutableRawPointer?) {
        if what == CURL_POLL_REMOVE {
            connecting[socket] = nil
            let attempt = easy.flatMap { attempts[$0] }
            sockets.rest(socket, isBusy: attempt.map { $0.isHeldBack || $0.isPaused } ?? false)
            return
        }
        var interest: EventLoop.Interest = []
        if what & CURL_POLL_IN != 0 { interest.insert(.readable) }
        if what & CURL_POLL_OUT != 0 { interest.insert(.writable) }
        sockets.wait(for: socket, interest)
    }

    fileprivate func closed(_ socket: CInt) {
        connecting[socket] = nil
        framed.remove(socket)
        sockets.forget(socket)
    }

    /// libcurl sets and clears this several times for each transfer, mostly to now or to something far away: the loop's timer
    /// is left alone while it is early enough.
    fileprivate func arm(milliseconds: Int) {
        guard milliseconds >= 0, !isClosed else {
            wanted = nil
            if isIdle { cancelTimer() }
            return
        }
        if milliseconds == 0 { return actSoon() }
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
            act(CURL_SOCKET_TIMEOUT, 0)
        }
        timer = (id, deadline)
    }

    private func cancelTimer() {
        if let timer { loop.cancel(timer.id) }
        timer = nil
    }

    /// At the end of the loop's turn, for all that begin in it.
    private func actSoon() {
        wanted = nil
        guard !willAct else { return }
        willAct = true
        loop.afterEvents { [wayBack] in
            guard let self = wayBack.owner, !self.isClosed else { return }
            self.willAct = false
            self.act(CURL_SOCKET_TIMEOUT, 0)
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
        act(socket, events)
    }

    private func act(_ socket: CInt, _ events: CInt) {
        var running: CInt = 0
        turn += 1
        let code = curl_multi_socket_action(handle, socket, events, &running)
        guard code == CURLM_OK else { return whenBroken(String(cString: curl_multi_strerror(code))) }
        tell()
    }

    private func tell() {
        var finished: [(Attempt, CURLcode)] = []
        var left: CInt = 0
        while let message = curl_multi_info_read(handle, &left) {
            guard message.pointee.msg == CURLMSG_DONE, let easy = message.pointee.easy_handle,
                let attempt = attempts[easy]
            else { continue }
            finished.append((attempt, reach_message_result(message)))
        }
        let noted = news
        news = []
        for attempt in noted {
            attempt.hasNews = false
            if attempt.multi === self { whenNews(attempt) }
        }
        for (attempt, code) in finished where attempt.multi === self {
            if code == CURLE_OK { attempt.endedWell = true } else { attempt.readInformation() }
            remove(attempt)
            whenFinished(attempt, code)
        }
        letHeldBackGoOn()
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

/// The only place where libcurl's sockets are closed: their numbers may belong to others from then on.
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
