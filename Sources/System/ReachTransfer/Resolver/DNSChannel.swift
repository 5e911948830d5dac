internal import CAres
internal import Glibc
internal import ReachCore
package import ReachLoop

/// One query to name servers in turn, by c-ares on the event loop, until one answers. Confined to the loop.
///
/// Each query has its own c-ares channel, and c-ares keeps sockets by channel: so each query leaves from ports that the
/// kernel has just chosen, a silent server delays no other query, and destroying the channel cancels the query. A
/// channel takes about 75 KiB. The sockets are opened and bound to the interface here.
package final class DNSChannel {
    package struct Question: Hashable, Sendable {
        package var name: String
        package var type: DNSType

        package init(name: String, type: DNSType) {
            self.name = name
            self.type = type
        }

        /// Whether servers may be queried for the name; versions of c-ares differ in what they send.
        var isQueriable: Bool {
            var bytes = name.utf8[...]
            if bytes.last == UInt8(ascii: ".") { bytes = bytes.dropLast() }
            // The root.
            if bytes.isEmpty { return true }
            let labels = bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
            // 255 bytes with the length of each label and the last, empty one.
            guard bytes.count <= 253, labels.allSatisfy({ 1...63 ~= $0.count }), let last = labels.last else {
                return false
            }
            return String(Substring(last)).lowercased() != "onion"
        }
    }

    package enum Outcome: Hashable, Sendable {
        case reply(DNSReply)
        /// Not a valid DNS name: a label is empty or longer than 63 bytes, or the name is longer than 255. Or a name
        /// below `onion`, which is never queried (RFC 7686).
        case notAName
        /// All servers that answered failed, the last one with this code.
        case refused(code: UInt8)
        /// No server answered in time.
        case silent
        /// No server could be queried: `errno`.
        case notAsked(CInt)
    }

    /// The largest answer in a datagram (EDNS, RFC 6891), as DNS flag day 2020 recommends.
    private static let answerBytes: CInt = 1232
    /// The most datagrams read for one event: a flood of forged ones must not occupy the loop.
    private static let datagramBudget = 16

    private let loop: EventLoop
    let servers: [ResolverConfiguration.Server]
    let interface: InterfaceBinding?
    /// The interface for a server in place of ``interface``.
    let route: NameService.ServerRoute?
    /// Whether the first question to each server has EDNS.
    let hasExtensions: Bool
    private let completion: (Outcome) -> Void
    private var channel: ares_channel?
    private var watched: Set<CInt> = []
    private var timer: TimerQueue.ID?
    /// Set by callbacks of c-ares, and handled when it has returned.
    private var outcome: Outcome?
    /// `errno` of the last call that failed; 0 if none did.
    package internal(set) var lastError: CInt = 0
    var failureCode: UInt8?
    /// Whether any datagram came, also one that answers nothing.
    package internal(set) var hasReceived = false
    /// The sockets that c-ares has, and the places in ``servers`` of the servers that they are connected to.
    var sockets: [CInt: (isStream: Bool, place: Int?)] = [:]
    /// The places of the servers that failed, which are not queried again.
    var failedPlaces: Set<Int> = []
    /// Whether all servers answered, and failed.
    var isRefusedByAll: Bool { failedPlaces.count == servers.count }
    /// The places of the servers that were asked with EDNS, and of those that were then asked without.
    var extendedPlaces: Set<Int> = []
    var plainPlaces: Set<Int> = []
    /// The last datagrams that were sent and that answered it.
    var lastQuery: [UInt8] = []
    var lastAnswer: [UInt8] = []
    var budget = 0
    private var isOver = false

    /// - Parameters:
    ///   - servers: At least one.
    ///   - patience: The time for a server in the first round; it doubles in each round.
    ///   - rounds: How often each silent server is queried.
    ///   - isByTCP: Whether to use TCP alone. Otherwise TCP is for answers that are too long for a datagram.
    ///   - hasExtensions: Whether to ask each server with EDNS first, and without it if it does not answer.
    ///   - completion: Called once, later, unless the query is stopped.
    package init(
        loop: EventLoop, question: Question, servers: [ResolverConfiguration.Server], interface: InterfaceBinding?,
        route: NameService.ServerRoute? = nil, patience: Duration, rounds: Int, isByTCP: Bool = false,
        hasExtensions: Bool = false, completion: @escaping (Outcome) -> Void
    ) {
        self.loop = loop
        self.servers = servers
        self.interface = interface
        self.route = route
        self.hasExtensions = hasExtensions
        self.completion = completion
        if question.isQueriable {
            open(patience: patience, rounds: rounds, isByTCP: isByTCP)
        } else {
            outcome = .notAName
        }
        if let channel {
            let context = Unmanaged.passUnretained(self).toOpaque()
            ares_query(channel, question.name, CInt(1), CInt(question.type.rawValue), Self.ended, context)
        } else if outcome == nil {
            outcome = .notAsked(ENOMEM)
        }
        // An immediate outcome is reported later, like any other.
        outcome == nil ? armTimer() : loop.afterEvents { [weak self] in self?.settle() }
    }

    deinit { stop() }

    /// Stops the query; its completion is not called.
    package func stop() {
        isOver = true
        timer.map(loop.cancel)
        timer = nil
        guard let channel else { return }
        self.channel = nil
        // This calls back to close the sockets, and with an end that is ignored.
        ares_destroy(channel)
    }

    // MARK: - The channel

    private func open(patience: Duration, rounds: Int, isByTCP: Bool) {
        guard Self.isLibraryReady else { return }
        let context = Unmanaged.passUnretained(self).toOpaque()
        var options = ares_options()
        // With one server, its refusal is the answer; with several, c-ares queries the next one. With EDNS it takes
        // answers from servers that ignore the limit of 512 bytes, also where the record itself is not sent.
        options.flags = ARES_FLAG_EDNS | ARES_FLAG_NOSEARCH | ARES_FLAG_NOALIASES
        if servers.count == 1 { options.flags |= ARES_FLAG_NOCHECKRESP }
        if isByTCP { options.flags |= ARES_FLAG_USEVC }
        options.timeout = CInt(clamping: Int64(max(1, patience / .milliseconds(1))))
        options.tries = CInt(rounds)
        options.ndots = 1
        options.ednspsz = Self.answerBytes
        options.sock_state_cb = Self.stateChanged
        options.sock_state_cb_data = context
        // With all of these set, even as empty lists, nothing of the machine's files counts.
        let mask =
            ARES_OPT_FLAGS | ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES | ARES_OPT_NDOTS | ARES_OPT_SERVERS | ARES_OPT_DOMAINS
            | ARES_OPT_LOOKUPS | ARES_OPT_SOCK_STATE_CB | ARES_OPT_SORTLIST | ARES_OPT_EDNSPSZ | ARES_OPT_NOROTATE
            | ARES_OPT_RESOLVCONF
        var lookups = Array("b".utf8CString)
        var noFile = Array("/dev/null".utf8CString)
        var opened: ares_channel?
        let status = lookups.withUnsafeMutableBufferPointer { lookups in
            noFile.withUnsafeMutableBufferPointer { noFile in
                options.lookups = lookups.baseAddress
                options.resolvconf_path = noFile.baseAddress
                return ares_init_options(&opened, &options, mask)
            }
        }
        guard status == REACH_ARES_SUCCESS, let opened else { return }
        channel = opened
        ares_set_socket_functions(opened, Self.socketFunctions, context)
        setServers(of: opened)
    }

    /// Gives c-ares a placeholder for each server, and not its address: versions of c-ares have no zones, drop
    /// addresses that need one, or drop what they take for the same server twice.
    private func setServers(of channel: ares_channel) {
        var nodes = servers.indices.map { place in
            var node = ares_addr_port_node()
            let placeholder = placeholder(ofPlace: place)
            node.family = placeholder.address.family == .ipv4 ? AF_INET : AF_INET6
            (node.udp_port, node.tcp_port) = (CInt(placeholder.port), CInt(placeholder.port))
            withUnsafeMutableBytes(of: &node.addr) { $0.copyBytes(from: placeholder.address.bytes) }
            return node
        }
        let status = nodes.withUnsafeMutableBufferPointer { nodes in
            for place in nodes.indices.dropFirst() {
                nodes[place - 1].next = nodes.baseAddress.map { $0 + place }
            }
            return ares_set_servers_ports(channel, nodes.baseAddress)
        }
        if status != REACH_ARES_SUCCESS { outcome = .notAsked(ENOMEM) }
    }

    /// What c-ares takes for a server's address: one of its family, with its place in the list as the port, counted
    /// from 1.
    func placeholder(ofPlace place: Int) -> SocketAddress {
        let loopback = servers[place].address.family == .ipv4 ? IPAddress(ipv4: 0x7f00_0001) : IPAddress(ipv6: 0, 1)
        return SocketAddress(address: loopback, port: UInt16(clamping: place + 1))
    }

    // MARK: - The loop

    private func isReady(_ descriptor: CInt, for interest: EventLoop.Interest) {
        let none: CInt = -1
        let isReadable = !interest.isDisjoint(with: [.readable, .failed])
        process(isReadable ? descriptor : none, interest.contains(.writable) ? descriptor : none)
    }

    private func process(_ readable: CInt, _ writable: CInt) {
        guard let channel else { return }
        budget = Self.datagramBudget
        ares_process_fd(channel, readable, writable)
        settle()
    }

    private func settle() {
        guard !isOver else { return }
        guard let outcome else { return armTimer() }
        stop()
        completion(outcome)
    }

    private func armTimer() {
        timer.map(loop.cancel)
        timer = nil
        guard let channel else { return }
        var space = timeval()
        let wait = withUnsafeMutablePointer(to: &space) { ares_timeout(channel, nil, $0)?.pointee }
        guard let wait else { return }
        // One millisecond more: c-ares uses another clock, and the timer must not fire before its timeout.
        let duration = Duration.seconds(Int64(wait.tv_sec)) + .microseconds(Int64(wait.tv_usec)) + .milliseconds(1)
        timer = loop.schedule(at: SystemClock.boot + duration) { [weak self] in
            self?.timer = nil
            self?.process(-1, -1)
        }
    }

    // MARK: - Callbacks of c-ares

    private static let isLibraryReady = ares_library_init(ARES_LIB_INIT_ALL) == REACH_ARES_SUCCESS

    static func owner(_ context: UnsafeMutableRawPointer?) -> DNSChannel? {
        context.map { Unmanaged<DNSChannel>.fromOpaque($0).takeUnretainedValue() }
    }

    private static let ended: ares_callback = { context, status, timeouts, bytes, count in
        guard let owner = owner(context), owner.channel != nil, owner.outcome == nil else { return }
        // Newer versions of c-ares keep an answer for themselves that they cannot parse.
        let answer = bytes.map { Array(UnsafeBufferPointer(start: $0, count: Int(count))) }
        let reply = DNSReply(answer ?? (status == REACH_ARES_EBADRESP ? owner.lastAnswer : []))
        if let reply, owner.servers.count == 1 || !reply.isFailure {
            owner.outcome = .reply(reply)
        } else if status == REACH_ARES_EBADNAME {
            owner.outcome = .notAName
        } else if let code = owner.failureCode {
            owner.outcome = .refused(code: code)
        } else {
            owner.outcome = timeouts > 0 ? .silent : .notAsked(owner.lastError)
        }
    }

    private static let stateChanged: ares_sock_state_cb = { context, descriptor, isReadable, isWritable in
        guard let owner = owner(context) else { return }
        var interest: EventLoop.Interest = []
        if isReadable != 0 { interest.insert(.readable) }
        if isWritable != 0 { interest.insert(.writable) }
        owner.watch(descriptor, for: interest)
    }

    private func watch(_ descriptor: CInt, for interest: EventLoop.Interest) {
        if interest.isEmpty { return unwatch(descriptor) }
        do throws(SystemError) {
            if watched.contains(descriptor) { return try loop.change(descriptor, to: interest) }
            try loop.watch(descriptor, for: interest) { [weak self] in self?.isReady(descriptor, for: $0) }
            watched.insert(descriptor)
        } catch {
            lastError = error.number
        }
    }

    func unwatch(_ descriptor: CInt) {
        if watched.remove(descriptor) != nil { loop.unwatch(descriptor) }
    }
}
