internal import Glibc
internal import ReachCore
internal import ReachLoop

/// One client. Calls are answered one after the other, and the next is not read before the client has taken the
/// answer: who does not read keeps nobody busy.
final class Connection {
    private enum Phase {
        /// A call may come.
        case idle
        /// A call waits for its answer.
        case answering
        /// The last answer has no end.
        case streaming
    }

    let descriptor: CInt
    let caller: Caller
    private unowned let switchboard: Switchboard
    private var reader: FrameReader
    private var output: SocketOutput
    private var phase = Phase.idle
    private(set) var subscription: Subscription?
    /// What was read holds no whole message any more.
    private var needsBytes = true
    private var interest = EventLoop.Interest.readable
    private var patienceTimer: TimerQueue.ID?
    /// As told to the switchboard.
    private var unfinishedBytes = 0
    private var isClosed = false
    private var isDue = false
    private var isHandling = false

    /// Others are served after so many calls, or events.
    private static let callsPerTurn = 8
    private static let eventsPerTurn = 32
    /// For the kernel to hold; it doubles it. What is beyond waits in the backlog, which all subscribers share.
    private static let sendBufferBytes: CInt = 32 << 10

    /// Takes over the descriptor.
    init(_ descriptor: CInt, from caller: Caller, of switchboard: Switchboard) throws(SystemError) {
        self.descriptor = descriptor
        self.caller = caller
        self.switchboard = switchboard
        reader = FrameReader(limit: switchboard.limits.messageBytes)
        output = SocketOutput(descriptor)
        var size = Self.sendBufferBytes
        setsockopt(descriptor, SOL_SOCKET, SO_SNDBUF, &size, socklen_t(MemoryLayout<CInt>.size))
        try switchboard.loop.watch(descriptor, for: interest) { [unowned self] readiness in ready(readiness) }
    }

    deinit {
        if !isClosed { Glibc.close(descriptor) }
    }

    func close() {
        guard !isClosed else { return }
        isClosed = true
        switchboard.loop.unwatch(descriptor)
        Glibc.close(descriptor)
        stopPatienceTimer()
        let subscription = subscription
        self.subscription = nil
        switchboard.remove(self, subscription, unfinishedBytes: unfinishedBytes)
    }

    // MARK: - Turns

    /// Goes on after what is happening now, and after everybody who was here before.
    func proceedSoon() {
        // One who has not taken what was sent is heard of when there is room.
        guard !isDue, !isClosed, output.isEmpty else { return }
        isDue = true
        switchboard.enqueue(self)
    }

    func proceed() {
        isDue = false
        guard !isClosed else { return }
        if !output.isEmpty { output.flush() }
        if output.isEmpty, !output.hasFailed {
            switch phase {
            case .idle: handleCalls()
            case .answering: break
            case .streaming: tellEvents()
            }
        }
        settle()
    }

    private func ready(_ readiness: EventLoop.Interest) {
        let isGone = !readiness.isDisjoint(with: .failed)
        if !output.isEmpty || phase != .idle {
            if isGone, !readiness.contains(.writable) { return close() }
            let wasBlocked = !output.isEmpty
            proceed()
            if wasBlocked, output.isEmpty { subscription?.topic.forgetRead() }
        } else if needsBytes {
            read()
        }
    }

    /// Waits for what can come next.
    private func settle() {
        guard !isClosed else { return }
        if output.hasFailed { return close() }
        let takesBytes = output.isEmpty && phase == .idle && needsBytes
        let wanted: EventLoop.Interest = !output.isEmpty ? .writable : takesBytes ? .readable : []
        if wanted != interest {
            interest = wanted
            try? switchboard.loop.change(descriptor, to: wanted)
        }
        let change = reader.pendingCount + output.pendingCount - unfinishedBytes
        unfinishedBytes += change
        if change != 0, !switchboard.account(change, for: caller) { return close() }
        if !takesBytes || unfinishedBytes == 0 {
            stopPatienceTimer()
        } else if patienceTimer == nil {
            patienceTimer = switchboard.loop.schedule(at: SystemClock.boot + switchboard.limits.messagePatience) {
                [weak self] in
                self?.patienceTimer = nil
                self?.close()
            }
        }
    }

    private func stopPatienceTimer() {
        patienceTimer.map(switchboard.loop.cancel)
        patienceTimer = nil
    }

    // MARK: - Calls

    private func read() {
        let count = switchboard.receive(from: descriptor) { reader.append($0) }
        if count < 0, errno == EAGAIN || errno == EINTR { return }
        guard count > 0 else { return close() }
        needsBytes = false
        handleCalls()
        settle()
    }

    private func handleCalls() {
        for _ in 0..<Self.callsPerTurn {
            guard phase == .idle, output.isEmpty, !output.hasFailed, !needsBytes else { break }
            do {
                guard let frame = try reader.next() else { return needsBytes = true }
                stopPatienceTimer()
                handle(try VarlinkCall(reading: frame))
            } catch {
                switchboard.reportBadMessage(from: caller, error)
                return close()
            }
        }
        if !needsBytes { proceedSoon() }
    }

    private func handle(_ call: VarlinkCall) {
        if !call.isOneWay { phase = .answering }
        let request = ControlRequest(call, from: caller, answerTo: call.isOneWay ? nil : self)
        isHandling = true
        do throws(VarlinkError) {
            try switchboard.answer(request, at: descriptor)
        } catch {
            request.fail(error)
        }
        isHandling = false
    }

    func answer(_ frame: [UInt8]) {
        guard phase == .answering, !isClosed else { return }
        phase = .idle
        output.send(frame)
        goOn()
    }

    // MARK: - Events

    func stream(_ subscription: Subscription) {
        phase = .streaming
        self.subscription = subscription
        // Nothing is read any more.
        reader = FrameReader(limit: 0)
        goOn()
    }

    /// An answer is there. If it came at once, whoever handles the call goes on.
    private func goOn() {
        guard !isHandling else { return }
        proceedSoon()
        settle()
    }

    private func tellEvents() {
        for _ in 0..<Self.eventsPerTurn {
            guard var subscription else { return }
            switchboard.line.removeAll(keepingCapacity: true)
            let hasMore = subscription.next(into: &switchboard.line)
            self.subscription = subscription
            guard hasMore else { return }
            output.send(switchboard.line)
            guard output.isEmpty, !output.hasFailed else { return }
        }
        proceedSoon()
    }
}
