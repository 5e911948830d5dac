internal import Glibc
internal import ReachLoop

/// All connections of a server: lets them in, gives each its turn, and brings its calls to who answers them.
final class Switchboard {
    let loop: EventLoop
    let limits: ControlLimits
    /// Room for the frame that is being written, used again and again.
    var line: [UInt8] = []
    private let topics: Topics
    private let interfaces: [String: VarlinkInterface]
    private let authority: ControlAuthority
    private var ledger: UserLedger
    private var connections: [CInt: Connection] = [:]
    /// Connections that have something to do, in the order in which they came to have it.
    private var due: [Connection] = []
    private var isServing = false
    private var counts = ControlServer.Statistics()
    private let input = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 16)

    /// The kernel's notices may come between so many connections and the next.
    private static let connectionsPerTurn = 32

    init(
        loop: EventLoop, topics: Topics, interfaces: [VarlinkInterface], authority: ControlAuthority,
        limits: ControlLimits
    ) {
        self.loop = loop
        self.topics = topics
        self.interfaces = Dictionary(interfaces.map { ($0.name, $0) }) { first, _ in first }
        self.authority = authority
        self.limits = limits
        ledger = UserLedger(limits: limits, exempt: [0, authority.user])
    }

    deinit { input.deallocate() }

    var statistics: ControlServer.Statistics {
        var statistics = counts
        statistics.connections = connections.count
        statistics.subscribers = topics.subscriberCount
        statistics.targets = topics.targetCount
        statistics.droppedEvents += connections.values.reduce(0) { $0 + ($1.subscription?.droppedCount ?? 0) }
        return statistics
    }

    // MARK: - Connections

    /// Takes over a connection, or turns it away.
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
                // What it was going to ask is not awaited, which would take the descriptor that there is none for.
                var output = SocketOutput(descriptor)
                output.send(VarlinkReply.frame(of: refusal.varlink))
            }
            close(descriptor)
        }
    }

    func closeAll() {
        for connection in connections.values { connection.close() }
        due = []
    }

    func remove(_ connection: Connection, _ subscription: Subscription?, unfinishedBytes: Int) {
        connections[connection.descriptor] = nil
        ledger.release(connection.caller.user, unfinishedBytes: unfinishedBytes)
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

    func reportBadMessage(from caller: Caller, _ error: any Error) { counts.badMessages += 1 }

    /// Receives as much as comes at once.
    ///
    /// - Returns: How many bytes; 0 at the end, -1 with `errno` set where there are none.
    func receive(from descriptor: CInt, _ take: (UnsafeRawBufferPointer) -> Void) -> Int {
        let count = recv(descriptor, input.baseAddress, input.count, 0)
        if count > 0 { take(UnsafeRawBufferPointer(rebasing: input[..<count])) }
        return count
    }

    // MARK: - Turns

    func enqueue(_ connection: Connection) {
        due.append(connection)
        guard !isServing else { return }
        isServing = true
        serveSoon()
    }

    private func serveSoon() {
        loop.afterEvents { [weak self] in self?.serve() }
    }

    private func serve() {
        let turn = due.prefix(Self.connectionsPerTurn)
        due.removeFirst(turn.count)
        for connection in turn { connection.proceed() }
        isServing = !due.isEmpty
        if isServing { serveSoon() }
    }

    // MARK: - Calls

    func answer(_ request: ControlRequest, at descriptor: CInt) throws(VarlinkError) {
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
        request.mayChange = { [authority, caller = request.caller] in authority.mayChange(caller, at: descriptor) }
        if method.access == .changing, !request.mayChange() {
            throw MonitorError.permissionDenied(method: call.method).varlink
        }
        try method.answer(request)
    }
}
