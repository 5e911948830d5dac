internal import Glibc
internal import ReachCore
internal import ReachLoop

/// One client. Calls are answered one after the other, those too that want no answer: the next is not looked at before
/// the one before is over and the client has taken the answer. Who does not read keeps nobody busy, and all that is done
/// for a client is done when its user's turn comes.
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
    /// The call that is being answered wants no answer.
    private var isOneWay = false
    /// How long that call's message is.
    private var callBytes = 0
    private(set) var subscription: Subscription?
    /// What was read holds no whole message any more.
    private var needsBytes = true
    private var interest = EventLoop.Interest.readable
    private var patienceTimer: TimerQueue.ID?
    /// As told to the switchboard.
    private var unfinishedBytes = 0
    private(set) var isClosed = false
    private var isDue = false
    /// The client has left. What it sent before is still read; nothing can be sent.
    private var hasLeft = false
    private var isHandling = false

    /// A call is a turn, and so are so many events.
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
        reader = FrameReader(limit: 0)
        output = SocketOutput(-1)
        switchboard.remove(self, subscription)
        if phase != .answering { switchboard.settleAccount(of: caller, unfinishedBytes: unfinishedBytes) }
    }

    // MARK: - Turns

    /// Continues in the next turn of the caller's user.
    func proceedSoon() {
        // One who has not taken what was sent is heard of when there is room.
        guard output.isEmpty else { return }
        enqueue()
    }

    private func enqueue() {
        guard !isDue, !isClosed else { return }
        isDue = true
        switchboard.enqueue(self)
    }

    func proceed() {
        isDue = false
        guard !isClosed else { return }
        let wasBlocked = !output.isEmpty
        if wasBlocked { output.flush() }
        if output.isEmpty, !output.hasFailed {
            switch phase {
            case .idle: needsBytes ? read() : handleCall()
            case .answering: break
            case .streaming: tellEvents()
            }
            if wasBlocked, output.isEmpty { subscription?.topic.forgetRead() }
        }
        settle()
    }

    /// Nothing is done here but to note it: what others' clients do must not come before it is their turn.
    private func ready(_ readiness: EventLoop.Interest) {
        if !readiness.isDisjoint(with: .failed), !readiness.contains(.writable) { return leave() }
        guard isDue else { return enqueue() }
        // The loop would bring it up again and again.
        listen(for: [])
    }

    /// The client has hung up. Calls that it wanted no answer to are still made.
    private func leave() {
        guard phase == .idle || isOneWay, output.isEmpty else { return close() }
        hasLeft = true
        switchboard.loop.unwatch(descriptor)
        if phase == .idle { enqueue() }
    }

    private func listen(for wanted: EventLoop.Interest) {
        guard wanted != interest, !hasLeft else { return }
        interest = wanted
        try? switchboard.loop.change(descriptor, to: wanted)
    }

    /// Waits for what can come next.
    private func settle() {
        guard !isClosed else { return }
        if output.hasFailed { return close() }
        if hasLeft, phase == .streaming { return close() }
        let takesBytes = output.isEmpty && phase == .idle && needsBytes
        listen(for: !output.isEmpty ? .writable : takesBytes && !isDue ? .readable : [])
        if hasLeft, takesBytes { enqueue() }
        let change = reader.pendingCount + output.pendingCount + callBytes - unfinishedBytes
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
        handleCall()
    }

    private func handleCall() {
        do {
            guard let frame = try reader.next() else { return needsBytes = true }
            stopPatienceTimer()
            callBytes = frame.count
            handle(try VarlinkCall(reading: frame))
        } catch {
            switchboard.reportBadMessage(from: caller, error)
            return close()
        }
        switch phase {
        case .idle:
            needsBytes = reader.pendingCount == 0
            if !needsBytes { proceedSoon() }
        case .answering: break
        case .streaming: proceedSoon()
        }
    }

    private func handle(_ call: VarlinkCall) {
        phase = .answering
        isOneWay = call.isOneWay
        isHandling = true
        switchboard.answer(ControlRequest(call, on: self, of: switchboard), at: descriptor)
        isHandling = false
    }

    /// The call is over.
    ///
    /// - Parameter frame: The answer, where one is wanted.
    func finish(with frame: [UInt8]?) {
        guard phase == .answering else { return }
        phase = .idle
        isOneWay = false
        callBytes = 0
        if isClosed { return switchboard.settleAccount(of: caller, unfinishedBytes: unfinishedBytes) }
        if let frame { output.send(frame) }
        goOn()
    }

    // MARK: - Events

    func stream(_ subscription: Subscription) {
        phase = .streaming
        callBytes = 0
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
