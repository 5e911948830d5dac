internal import Glibc
internal import ReachCore
internal import ReachLoop

/// The connection of one client.
///
/// The server answers calls one after the other, one-way calls too: it reads the next call when the previous one is
/// over and the client has received the answer. A client that does not read causes no work. All work for a client
/// happens in a turn of its user (``FairTurns``).
final class Connection {
    private enum Phase {
        /// No call is open; the client may send one.
        case idle
        /// A call is open.
        ///
        /// - Parameters:
        ///   - isOneWay: Whether it wants no answer.
        ///   - bytes: The length of its message.
        case answering(isOneWay: Bool, bytes: Int)
        /// The client receives events until it hangs up.
        case streaming
    }

    let descriptor: CInt
    let caller: Caller
    private unowned let switchboard: Switchboard
    private var reader: FrameReader
    private var output: SocketOutput
    private var phase = Phase.idle
    private(set) var subscription: Subscription?
    /// Streams the journal, in place of a subscription.
    private var follower: JournalPager?
    /// Whether the bytes received so far hold no further whole message.
    private var needsBytes = true
    private var interest = EventLoop.Interest.readable
    private var patienceTimer: TimerQueue.ID?
    /// The bytes that this connection has reported to the switchboard.
    private var unfinishedBytes = 0
    private(set) var isClosed = false
    /// Whether a turn for this connection is enqueued.
    private var isDue = false
    /// Whether the client has hung up. The server still reads what it sent before, but can send nothing.
    private var hasHungUp = false
    private var isHandling = false

    /// Events sent in one turn; a call is a turn of its own.
    private static let eventsPerTurn = 32
    /// The kernel's send buffer (SO_SNDBUF), which the kernel doubles. Further events wait in the backlog, which all
    /// subscribers share.
    private static let sendBufferBytes: CInt = 32 << 10

    /// Takes ownership of the descriptor.
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
        follower?.end()
        follower = nil
        reader = FrameReader(limit: 0)
        output = SocketOutput(-1)
        switchboard.remove(self, subscription)
        if openCall == nil { switchboard.settleAccount(of: caller, unfinishedBytes: unfinishedBytes) }
    }

    private var openCall: (isOneWay: Bool, bytes: Int)? {
        if case .answering(let isOneWay, let bytes) = phase { (isOneWay, bytes) } else { nil }
    }

    private var isIdle: Bool { if case .idle = phase { true } else { false } }

    // MARK: - Turns

    /// Continues in the next turn of the caller's user.
    func proceedSoon() {
        // While output is pending, the loop reports when the socket takes more.
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
            case .streaming: sendEvents()
            }
            if wasBlocked, output.isEmpty { subscription?.topic.forgetRead() }
        }
        settle()
    }

    /// Enqueues a turn and does no other work: a busy client must not run ahead of other users.
    private func ready(_ readiness: EventLoop.Interest) {
        if !readiness.isDisjoint(with: .failed), !readiness.contains(.writable) { return handleHangup() }
        guard isDue else { return enqueue() }
        // Readiness is level-triggered: without this the loop would report it again until the turn comes.
        setInterest([])
    }

    /// Handles a client that has hung up. Its pending one-way calls are still made.
    private func handleHangup() {
        guard isIdle || openCall?.isOneWay == true, output.isEmpty else { return close() }
        hasHungUp = true
        switchboard.loop.unwatch(descriptor)
        if isIdle { enqueue() }
    }

    private func setInterest(_ wanted: EventLoop.Interest) {
        guard wanted != interest, !hasHungUp else { return }
        interest = wanted
        try? switchboard.loop.change(descriptor, to: wanted)
    }

    /// Sets the interest, the account and the timer to what the connection waits for next; closes it if it failed.
    private func settle() {
        guard !isClosed else { return }
        if output.hasFailed { return close() }
        if hasHungUp, case .streaming = phase { return close() }
        let takesBytes = output.isEmpty && isIdle && needsBytes
        setInterest(!output.isEmpty ? .writable : takesBytes && !isDue ? .readable : [])
        if hasHungUp, takesBytes { enqueue() }
        let change = reader.pendingCount + output.pendingCount + (openCall?.bytes ?? 0) - unfinishedBytes
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
        var memory: SealedMemory?
        let count = switchboard.receive(from: descriptor, of: caller) {
            reader.append($0)
            memory = $1
        }
        if count < 0, errno == EAGAIN || errno == EINTR { return }
        guard count > 0 else { return close() }
        needsBytes = false
        handleCall(with: memory)
    }

    /// - Parameter memory: What came with the bytes that were just read. It is for the call that they complete, and no
    ///   connection keeps it: a client costs one descriptor, and one more for each call that is not over.
    private func handleCall(with memory: SealedMemory? = nil) {
        do {
            guard let frame = try reader.next() else { return needsBytes = true }
            stopPatienceTimer()
            handle(try VarlinkCall(reading: frame), frame.count, with: memory)
        } catch {
            switchboard.countBadMessage()
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

    private func handle(_ call: VarlinkCall, _ bytes: Int, with memory: SealedMemory?) {
        phase = .answering(isOneWay: call.isOneWay, bytes: bytes)
        isHandling = true
        switchboard.answer(ControlRequest(call, with: memory, on: self, of: switchboard), at: descriptor)
        isHandling = false
    }

    /// Ends the open call.
    ///
    /// - Parameter frame: The answer, if the call wants one.
    func finish(with frame: [UInt8]?) {
        guard openCall != nil else { return }
        phase = .idle
        if isClosed { return switchboard.settleAccount(of: caller, unfinishedBytes: unfinishedBytes) }
        if let frame { output.send(frame) }
        continueAfterAnswer()
    }

    // MARK: - Events

    /// Answers the open call with a stream of events.
    func stream(_ subscription: Subscription) {
        self.subscription = subscription
        beginStream()
    }

    /// Answers the open call with the journal.
    func stream(_ follower: JournalPager) {
        self.follower = follower
        beginStream()
    }

    private func beginStream() {
        phase = .streaming
        // The server reads no further calls from this connection.
        reader = FrameReader(limit: 0)
        continueAfterAnswer()
    }

    /// Continues after a late answer. After an immediate one, ``handleCall()`` continues.
    private func continueAfterAnswer() {
        guard !isHandling else { return }
        proceedSoon()
        settle()
    }

    private func sendEvents() {
        if let follower {
            guard let page = follower.next() else { return }
            output.send(page)
            return proceedSoon()
        }
        for _ in 0..<Self.eventsPerTurn {
            guard var subscription else { return }
            switchboard.line.removeAll(keepingCapacity: true)
            let isInBacklog = subscription.isInBacklog
            let hasMore = subscription.next(into: &switchboard.line)
            if hasMore, isInBacklog {
                // An event that the socket does not take stays in the backlog, so a slow client takes no memory for its
                // line.
                if output.offer(switchboard.line) { self.subscription = subscription }
            } else {
                self.subscription = subscription
                guard hasMore else { return }
                output.send(switchboard.line)
            }
            guard output.isEmpty, !output.hasFailed else { return }
        }
        proceedSoon()
    }
}
