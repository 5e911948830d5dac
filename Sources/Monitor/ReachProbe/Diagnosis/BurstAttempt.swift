internal import CReachLinux
internal import Glibc
internal import ReachCore
internal import ReachLoop
internal import ReachRecords
internal import ReachTransfer

/// A few connections at once to a port that did not answer as it should: whether this machine drops the answers or
/// makes the refusals itself, and how far the segments go.
final class BurstAttempt: DiagnosisAttempt {
    private let host: HostAddress
    private let port: UInt16
    private let loop: EventLoop
    private let completion: (BurstAnswer) -> Void
    private var sockets: [CInt] = []
    /// Those that end on the way, the nearest first.
    private var probes: [CInt] = []
    private var timer: TimerQueue.ID?
    private var drops = InputDrops()
    /// Drops in as long a time before, which have other reasons.
    private var usual: UInt64 = 0
    private var answer = BurstAnswer(sent: 0)
    /// Hears the answers as they come in; `nil` where this user may not.
    private var listener: LinkListener?
    /// The ports to which answers came.
    private var heard: Set<UInt16> = []

    private static let count = 8
    /// The trace that begins at the same time has its answers by then.
    private static let quiet = Duration.milliseconds(150)
    /// How long drops are counted, before and after.
    private static let window = Duration.milliseconds(300)
    private static let patience = Duration.milliseconds(750)
    /// Where nothing has come by then: a slow line takes more than two seconds for a round trip.
    private static let slowPatience = Duration.milliseconds(2600)
    /// The distances of the routers beyond the first hop that are tried: many are mute.
    private static let lives: ClosedRange<CInt> = 2...4

    init(
        _ host: HostAddress, _ port: UInt16, on link: InterfaceIndex?, _ loop: EventLoop,
        _ completion: @escaping (BurstAnswer) -> Void
    ) {
        listener = link.flatMap(LinkListener.init)
        self.host = host
        self.port = port
        self.loop = loop
        self.completion = completion
        timer = loop.schedule(at: SystemClock.boot + Self.quiet) { [weak self] in self?.countBefore() }
    }

    private func countBefore() {
        drops = InputDrops()
        timer = loop.schedule(at: SystemClock.boot + Self.window) { [weak self] in self?.send() }
    }

    private func countAfter() {
        answer.droppedHere = dropped(in: Self.window)
        timer = loop.schedule(at: SystemClock.boot + (Self.patience - Self.window)) { [weak self] in self?.waitOn() }
    }

    private func waitOn() {
        if let listener { heard.formUnion(listener.answeredPorts(by: host.address, port)) }
        guard heard.isEmpty, answer.droppedHere == 0, !sockets.contains(where: Self.hasEnded) else { return end() }
        timer = loop.schedule(at: SystemClock.boot + (Self.slowPatience - Self.patience)) { [weak self] in
            guard let self else { return }
            answer.droppedHere = dropped(in: Self.slowPatience)
            end()
        }
    }

    /// The packets that were dropped since the connections began, less those that are dropped in such a time anyway.
    private func dropped(in time: Duration) -> Int {
        let count = drops.sinceStart[host.family] ?? 0
        let expected = usual * UInt64(time.milliseconds / Self.window.milliseconds)
        return Int(clamping: count - min(count, expected))
    }

    deinit {
        timer.map(loop.cancel)
        for socket in sockets + probes where socket >= 0 { close(socket) }
    }

    private func send() {
        usual = drops.sinceStart[host.family] ?? 0
        drops = InputDrops()
        let idle = LoopbackTraffic.packets
        let isLoopbackIdle = LoopbackTraffic.packets == idle
        let refusals = (0..<Self.count).map { _ in isRefusedByLoopback() }
        answer.sent = sockets.count
        answer.isRefusedHere = isLoopbackIdle && !refusals.isEmpty && refusals.allSatisfy { $0 }
        probes = Self.lives.map(probe)
        timer = loop.schedule(at: SystemClock.boot + Self.window) { [weak self] in self?.countAfter() }
    }

    private func probe(_ life: CInt) -> CInt {
        connecting { socket in
            var (on, life) = (CInt(1), life)
            let isIPv4 = host.family == .ipv4
            let size = socklen_t(MemoryLayout<CInt>.size)
            setsockopt(socket, host.family.socketLevel, isIPv4 ? IP_RECVERR : IPV6_RECVERR, &on, size)
            setsockopt(socket, host.family.socketLevel, isIPv4 ? IP_TTL : IPV6_UNICAST_HOPS, &life, size)
        }
    }

    private func connecting(_ prepare: (CInt) -> Void = { _ in }) -> CInt {
        let socket = reach_stream_socket(host.family == .ipv4 ? AF_INET : AF_INET6)
        guard socket >= 0 else { return socket }
        prepare(socket)
        _ = host.socketAddress(port).withPointer { connect(socket, $0.assumingMemoryBound(to: sockaddr.self), $1) }
        return socket
    }

    /// Whether a connection is refused before anything else happens, while a packet passes the loopback.
    private func isRefusedByLoopback() -> Bool {
        let packets = LoopbackTraffic.packets
        let socket = connecting()
        guard socket >= 0 else { return false }
        sockets.append(socket)
        var number: CInt = 0
        var length = socklen_t(MemoryLayout<CInt>.size)
        getsockopt(socket, SOL_SOCKET, SO_ERROR, &number, &length)
        return number == ECONNREFUSED && LoopbackTraffic.packets > packets
    }

    private func end() {
        var error = reach_icmp_error()
        for probe in probes where answer.passedBy == nil {
            while probe >= 0, reach_next_icmp_error(probe, &error) == 0 {
                let bytes = withUnsafeBytes(of: error.offender) { Array($0.prefix(error.is_ipv6 != 0 ? 16 : 4)) }
                let isEndOfLife = error.is_ipv6 != 0 ? error.type == 3 : error.type == 11
                if isEndOfLife, let router = IPAddress(bytes: bytes) { answer.passedBy = router }
            }
        }
        let waiting = sockets.filter { SocketAddress.peer(of: $0) == nil }
        answer.connected = sockets.count - waiting.count
        if let listener {
            heard.formUnion(listener.answeredPorts(by: host.address, port))
            // Counters are of the whole machine; what the link brought for these connections is nobody else's.
            answer.droppedHere = waiting.count { socket in
                !Self.hasEnded(socket) && Self.localPort(of: socket).map(heard.contains) == true
            }
        }
        completion(answer)
    }

    /// Whether an answer was given to the socket: a refusal.
    private static func hasEnded(_ socket: CInt) -> Bool {
        var state = pollfd(fd: socket, events: Int16(POLLOUT), revents: 0)
        return poll(&state, 1, 0) > 0
    }

    private static func localPort(of socket: CInt) -> UInt16? {
        // The port has the same place in both families.
        var place = sockaddr_in6()
        var length = socklen_t(MemoryLayout<sockaddr_in6>.size)
        let isKnown = withUnsafeMutablePointer(to: &place) { place in
            place.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(socket, $0, &length) == 0 }
        }
        return isKnown ? UInt16(bigEndian: place.sin6_port) : nil
    }
}

/// The packets that came in by the loopback of this network namespace.
private enum LoopbackTraffic {
    static var packets: UInt64 {
        for line in (SmallFile.text("/proc/thread-self/net/dev") ?? "").split(scalar: "\n") {
            let words = line.split(scalar: " ", omittingEmptySubsequences: true)
            if words.first == "lo:", words.count > 2 { return UInt64(words[2]) ?? 0 }
        }
        return 0
    }
}
