internal import CReachLinux
internal import Glibc
internal import ReachCore
internal import ReachLoop

/// The connections of a server: admits them, schedules their turns, and dispatches their calls to the interfaces.
final class Switchboard {
    let loop: EventLoop
    let limits: ControlLimits
    /// A buffer for the frame being written, reused for every frame.
    var line: [UInt8] = []
    private let topics: Topics
    private let interfaces: [String: VarlinkInterface]
    private let authority: ControlAuthority
    private var ledger: UserLedger
    private var connections: [CInt: Connection] = [:]
    /// The work of a turn.
    private enum Turn {
        case connection(Connection)
        /// A call that had to wait for others of its user.
        case call(PendingCall)
        /// A part of a call's work.
        case part(ControlRequest, () -> Void)
    }

    private struct PendingCall {
        let request: ControlRequest
        let method: VarlinkInterface.Method
    }

    /// Connections with work, and waiting calls that may begin.
    private var turns = FairTurns<Turn>()
    private var gates: [VarlinkInterface.Method.Cost: CallGate<PendingCall>] = [:]
    /// Encodes long answers. ``CallGate`` bounds how many of each user wait here.
    private let encoder = SerialThread(named: "reach-answers")
    /// The calls whose answers are being encoded.
    private var encodings: LoopReplies
    private var isServing = false
    /// Whether the time of the current work is already counted for a user.
    private var isInTurn = false
    private var counts = ControlServer.Statistics()
    private let input = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 16)

    private static let strangerReason =
        "the daemon's user namespace has no number for this user, who would share a queue with all others without one"

    /// How long turns last before the loop handles the kernel's notices and whatever else became ready.
    private static let turnTime: Duration = .milliseconds(1)

    init(
        loop: EventLoop, topics: Topics, interfaces: [VarlinkInterface], authority: ControlAuthority,
        limits: ControlLimits
    ) {
        self.loop = loop
        self.topics = topics
        self.interfaces = Dictionary(interfaces.map { ($0.name, $0) }) { first, _ in first }
        self.authority = authority
        self.limits = limits
        ledger = UserLedger(limits: limits, exempt: authority.exempt)
        encodings = LoopReplies(loop: loop)
    }

    deinit { input.deallocate() }

    var statistics: ControlServer.Statistics {
        var statistics = counts
        statistics.connections = connections.count
        statistics.subscribers = topics.subscriberCount
        statistics.targets = topics.targetCount
        statistics.backlogBytes = topics.backlogBytes
        statistics.droppedEvents += connections.values.reduce(0) { $0 + ($1.subscription?.droppedCount ?? 0) }
        return statistics
    }

    // MARK: - Connections

    /// Takes ownership of a connection, or refuses it.
    func connect(_ descriptor: CInt) {
        do {
            let caller = try Caller(at: descriptor)
            try ledger.admit(caller.user)
            do {
                connections[descriptor] = try Connection(descriptor, from: caller, of: self)
            } catch {
                ledger.release(caller.user, unfinishedBytes: 0)
            }
        } catch {
            counts.refusedConnections += 1
            if let refusal = error as? MonitorError {
                // The refusal does not wait for the client's call, which would keep a descriptor in use.
                var output = SocketOutput(descriptor)
                output.send(VarlinkReply.frame(of: refusal.varlink))
            }
            close(descriptor)
        }
    }

    func closeAll() {
        for connection in connections.values { connection.close() }
        turns.removeAll()
        encodings = LoopReplies(loop: loop)
    }

    /// Releases the account of a connection that is closed and whose last call is over.
    func settleAccount(of caller: Caller, unfinishedBytes: Int) {
        ledger.release(caller.user, unfinishedBytes: unfinishedBytes)
    }

    func remove(_ connection: Connection, _ subscription: Subscription?) {
        connections[connection.descriptor] = nil
        guard let subscription else { return }
        counts.droppedEvents += subscription.droppedCount
        topics.unsubscribe(connection, from: subscription.topic)
    }

    /// - Returns: `false` if the caller's user has too many unfinished bytes.
    func account(_ bytes: Int, for caller: Caller) -> Bool {
        if ledger.add(bytes, for: caller.user) { return true }
        counts.badMessages += 1
        return false
    }

    func countBadMessage() { counts.badMessages += 1 }

    /// Receives once, and calls `body` with the bytes, and with the memory that came with them.
    ///
    /// - Returns: Bytes received; 0 at the end; -1 with `errno` set if there are none.
    func receive(
        from descriptor: CInt, of caller: Caller, _ body: (UnsafeRawBufferPointer, SealedMemory?) -> Void
    ) -> Int {
        var passed: CInt = -1
        let count =
            authority.mayPassDescriptors(caller)
            ? reach_receive(descriptor, input.baseAddress, UInt(input.count), &passed)
            : recv(descriptor, input.baseAddress, input.count, 0)
        let memory = passed < 0 ? nil : try? SealedMemory(FileDescriptor(owning: passed))
        if count > 0 { body(UnsafeRawBufferPointer(rebasing: input[..<count]), memory) }
        return count
    }

    // MARK: - Turns

    func enqueue(_ connection: Connection) { enqueue(.connection(connection), for: connection.caller.user) }

    func enqueue(_ work: @escaping () -> Void, for request: ControlRequest) {
        enqueue(.part(request, work), for: request.caller.user)
    }

    private func enqueue(_ turn: Turn, for user: UInt32) {
        turns.add(turn, for: user)
        guard !isServing else { return }
        isServing = true
        serveSoon()
    }

    private func serveSoon() {
        loop.afterEvents { [weak self] in self?.serve() }
    }

    private func serve() {
        let end = SystemClock.boot + Self.turnTime
        while SystemClock.boot < end, let (user, turn) = turns.next() {
            work(for: user) {
                switch turn {
                case .connection(let connection): connection.proceed()
                case .call(let call): begin(call)
                case .part(let request, let work): request.isAbandoned ? request.reply() : work()
                }
            }
        }
        isServing = !turns.isEmpty
        if isServing { serveSoon() }
    }

    /// Does work and counts its time for a user: in a turn, or when another thread has delivered an answer.
    func work(for user: UInt32, _ body: () -> Void) {
        guard !isInTurn else { return body() }
        let start = SystemClock.boot
        isInTurn = true
        body()
        isInTurn = false
        turns.charge(SystemClock.boot - start, to: user)
    }

    // MARK: - Calls

    /// Answers a call, or lets it wait for other calls of its user.
    func answer(_ request: ControlRequest, at descriptor: CInt) {
        do throws(VarlinkError) {
            let method = try permittedMethod(for: request, at: descriptor)
            let call = PendingCall(request: request, method: method)
            guard let limit = limits.calls(costing: method.cost) else { return run(call) }
            // A one-way call has no answer. A client that sends many would keep the daemon busy after it has left.
            if method.cost == .large, request.call.isOneWay { return request.reply() }
            request.gate = method.cost
            let user = request.caller.user
            if gates[method.cost, default: CallGate(limit: limit)].admit(call, of: user) { run(call) }
        } catch {
            request.fail(error)
        }
    }

    /// Notes the end of a call that counted for a gate, and enqueues the user's next one.
    func finish(_ cost: VarlinkInterface.Method.Cost, of user: UInt32) {
        gates[cost]?.finish(of: user).map { enqueue(.call($0), for: user) }
    }

    /// Encodes a call's answer on another thread, and then sends it.
    func encode(_ frame: @escaping @Sendable () -> [UInt8], for request: ControlRequest) {
        let reply = encodings.expect { (frame: [UInt8]) in request.reply(encoded: frame) }
        encoder.run { reply(frame()) }
    }

    private func begin(_ call: PendingCall) {
        guard !call.request.isAbandoned else { return call.request.reply() }
        run(call)
    }

    private func run(_ call: PendingCall) {
        do throws(VarlinkError) { try call.method.answer(call.request) } catch { call.request.fail(error) }
    }

    private func permittedMethod(
        for request: ControlRequest, at descriptor: CInt
    ) throws(VarlinkError) -> VarlinkInterface.Method {
        let call = request.call
        guard let names = call.names else { throw .methodNotFound(call.method) }
        guard let interface = interfaces[String(names.interface)] else {
            throw .interfaceNotFound(String(names.interface))
        }
        guard let method = interface.methods[String(names.method)] else { throw .methodNotFound(call.method) }
        guard !call.wantsUpgrade else { throw .methodNotImplemented(call.method) }
        if let unknown = call.parameters.keys.filter({ !method.parameters.contains($0) }).min() {
            throw .invalidParameter(unknown)
        }
        try CallLimits.all.check(call)
        if interface.name == QueueInterface.name, !request.caller.isKnown {
            throw QueueServiceError.notPermitted(reason: Self.strangerReason).varlink
        }
        let mayChange = authority.mayChange(request.caller, at: descriptor)
        request.mayChange = mayChange
        request.mayReadAll = authority.mayReadAll(request.caller, at: descriptor)
        request.mayHoldForFleet = authority.mayHoldForFleet(request.caller, at: descriptor)
        if method.access == .changing, !mayChange { throw MonitorError.permissionDenied(method: call.method).varlink }
        return method
    }
}
