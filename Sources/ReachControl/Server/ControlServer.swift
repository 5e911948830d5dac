internal import Glibc
package import ReachLoop

/// Answers programs on this machine over a Unix socket, in Varlink. It lives on an event loop's thread.
package final class ControlServer {
    package struct Statistics: Hashable, Sendable {
        package var connections = 0
        package var subscribers = 0
        /// Different targets that are subscribed to.
        package var targets = 0
        /// Connections that were turned away, since the start.
        package var refusedConnections: UInt64 = 0
        /// Connections that were ended for what came by them, since the start.
        package var badMessages: UInt64 = 0
        /// Events that subscribers were too slow for, since the start.
        package var droppedEvents: UInt64 = 0
    }

    let loop: EventLoop
    let limits: ControlLimits
    /// Room for the frame that is being written, used again and again.
    var line: [UInt8] = []
    private let authority: ControlAuthority
    private let topics: Topics
    private let interfaces: [String: VarlinkInterface]
    private var ledger: UserLedger
    private var acceptors: [Acceptor] = []
    private var connections: [CInt: Connection] = [:]
    /// Connections that have something to do, in the order in which they came to have it.
    private var due: [Connection] = []
    private var isServing = false
    private var counts = Statistics()
    private let input = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 16)
    /// Is told what an operator should know: one line of text.
    package var whenTroubled: (String) -> Void = { _ in }

    /// The kernel's notices may come between so many connections and the next.
    private static let connectionsPerTurn = 32

    /// - Parameters:
    ///   - service: Kept alive by the server.
    ///   - interfaces: Further ones, beside org.varlink.service and io.reach.Monitor.
    package init(
        loop: EventLoop, service: any ControlService, information: ServiceInformation,
        interfaces: [VarlinkInterface] = [], authority: ControlAuthority, limits: ControlLimits = ControlLimits()
    ) {
        self.loop = loop
        self.limits = limits
        self.authority = authority
        topics = Topics(service: service, limits: limits)
        ledger = UserLedger(limits: limits, exempt: [0, authority.user])
        let own = [MonitorInterface.make(service, topics)] + interfaces
        let all = [ServiceInterface.make(information, own)] + own
        self.interfaces = Dictionary(all.map { ($0.name, $0) }) { first, _ in first }
    }

    deinit {
        stop()
        input.deallocate()
    }

    /// Listens at a path. A socket on which nobody answers is replaced.
    package func listen(at path: String) throws(ListenError) {
        try accept(from: ListeningSocket(at: path), named: path)
    }

    /// Listens on a descriptor that the service manager opened, and takes it over.
    package func listen(inheriting descriptor: Int32) throws(ListenError) {
        try accept(from: ListeningSocket(inherited: descriptor), named: "descriptor \(descriptor)")
    }

    /// Ends all connections, and removes the sockets it made.
    package func stop() {
        acceptors = []
        for connection in connections.values { connection.close() }
        due = []
    }

    package var statistics: Statistics {
        var statistics = counts
        statistics.connections = connections.count
        statistics.subscribers = topics.subscriberCount
        statistics.targets = topics.count
        statistics.droppedEvents += connections.values.reduce(0) { $0 + ($1.subscription?.droppedCount ?? 0) }
        return statistics
    }

    // MARK: - Connections

    private func accept(from socket: ListeningSocket, named name: String) throws(ListenError) {
        do throws(SystemError) {
            let acceptor = try Acceptor(socket, on: loop) { [unowned self] error in
                whenTroubled("connections are turned away: \(error)")
            } take: { [unowned self] descriptor in
                admit(descriptor)
            }
            acceptors.append(acceptor)
        } catch {
            throw .failed(path: name, error)
        }
    }

    private func admit(_ descriptor: CInt) {
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
        if method.access == .changing, !authority.mayChange(request.caller, at: descriptor) {
            throw MonitorError.permissionDenied(method: call.method).varlink
        }
        try method.answer(request)
    }
}
