internal import CReachLinux
internal import Glibc
internal import ReachCore
internal import ReachLoop
internal import ReachRecords
internal import ReachTransfer

/// TCP connections to a port, until one stands or is refused: on a lossy line, one alone may find silence.
final class ConnectionAttempt: DiagnosisAttempt {
    private let loop: EventLoop
    private let completion: (ConnectionAnswer) -> Void
    private var connections: [SingleConnection] = []
    private var timers: [TimerQueue.ID] = []
    private var isOver = false

    private static let repetitions = [Duration.milliseconds(400), .milliseconds(1100)]

    /// - Parameters:
    ///   - source: The address of this machine to connect from; `nil` for the one that the kernel chooses.
    ///   - link: The link to connect by; `nil` for the one that the kernel chooses.
    init(
        _ host: HostAddress, _ port: UInt16, from source: IPAddress? = nil, by link: InterfaceBinding? = nil,
        _ loop: EventLoop, _ completion: @escaping (ConnectionAnswer) -> Void
    ) {
        self.loop = loop
        self.completion = completion
        let deadline = SystemClock.boot + DiagnosisRunner.Limit.connection
        connections = [
            SingleConnection(host, port, from: source, by: link, loop, until: deadline) { [weak self] in
                self?.end($0)
            }
        ]
        timers = Self.repetitions.map { delay in
            loop.schedule(at: SystemClock.boot + delay) { [weak self] in
                guard let self, !isOver else { return }
                // The first one's silence counts: it shows whether this machine keeps segments back.
                let another = SingleConnection(
                    host, port, from: source, by: link, loop, until: deadline + .seconds(1)
                ) { [weak self] answer in
                    if answer == .connected || answer == .refused { self?.end(answer) }
                }
                connections.append(another)
            }
        }
    }

    deinit { timers.forEach(loop.cancel) }

    private func end(_ answer: ConnectionAnswer) {
        guard !isOver else { return }
        isOver = true
        completion(answer)
    }
}

/// A TCP connection that is closed as soon as it stands.
private final class SingleConnection {
    private let loop: EventLoop
    private let completion: (ConnectionAnswer) -> Void
    private let deadline: BootTime
    private let socket: CInt
    private let target: IPAddress
    private var family: IPAddress.Family { target.family }
    private var isWatched = false
    private var timer: TimerQueue.ID?

    init(
        _ host: HostAddress, _ port: UInt16, from source: IPAddress?, by link: InterfaceBinding?, _ loop: EventLoop,
        until deadline: BootTime, _ completion: @escaping (ConnectionAnswer) -> Void
    ) {
        self.loop = loop
        self.completion = completion
        self.deadline = deadline
        target = host.address
        socket = reach_stream_socket(host.family == .ipv4 ? AF_INET : AF_INET6)
        if let answer = begin(host.socketAddress(port), from: source, by: link) {
            loop.afterEvents { [weak self] in self?.completion(answer) }
        }
    }

    deinit {
        timer.map(loop.cancel)
        if isWatched { loop.unwatch(socket) }
        if socket >= 0 { close(socket) }
    }

    /// - Returns: The answer, if there is one at once.
    private func begin(
        _ address: SocketAddress, from source: IPAddress?, by link: InterfaceBinding?
    ) -> ConnectionAnswer? {
        guard socket >= 0 else { return ConnectionAnswer(errno: -socket) }
        if let link {
            do throws(SystemError) {
                try InterfaceSocket.bind(socket, to: link)
            } catch {
                return .failed(error.number)
            }
        }
        if let source {
            let isBound = SocketAddress(address: source, port: 0).withPointer {
                bind(socket, $0.assumingMemoryBound(to: sockaddr.self), $1) == 0
            }
            guard isBound else { return .failed(errno) }
        }
        var on: CInt = 1
        let option = family == .ipv4 ? IP_RECVERR : IPV6_RECVERR
        setsockopt(socket, family.socketLevel, option, &on, socklen_t(MemoryLayout<CInt>.size))
        let result = address.withPointer { connect(socket, $0.assumingMemoryBound(to: sockaddr.self), $1) }
        guard result != 0 else { return .connected }
        guard errno == EINPROGRESS else { return ConnectionAnswer(errno: errno) }
        do throws(SystemError) {
            try loop.watch(socket, for: .writable) { [weak self] _ in self?.look() }
            isWatched = true
        } catch {
            return .failed(error.number)
        }
        timer = loop.schedule(at: deadline) { [weak self] in
            guard let self else { return }
            timer = nil
            completion(isKeptBack ? .failed(EPERM) : .silent)
        }
        return nil
    }

    /// Whether this machine did not send the segment that it meant to send again, so that its firewall drops it. The
    /// kernel counts it as repeated, but not as on its way (`tcp_retransmit_skb`).
    private var isKeptBack: Bool {
        var bytes = [UInt8](repeating: 0, count: 512)
        var length = socklen_t(bytes.count)
        var traffic = reach_tcp_traffic()
        return getsockopt(socket, CInt(IPPROTO_TCP), TCP_INFO, &bytes, &length) == 0
            && reach_tcp_traffic(bytes, Int(length), &traffic) == 0
            && traffic.repeated > 0 && traffic.repeated_out == 0
    }

    /// Who else than the host sent an ICMP error about this connection, and what it means; the last one.
    private var complaint: WayComplaint? {
        var error = reach_icmp_error()
        var last: WayComplaint?
        while reach_next_icmp_error(socket, &error) == 0 {
            let bytes = withUnsafeBytes(of: error.offender) { Array($0.prefix(error.is_ipv6 != 0 ? 16 : 4)) }
            guard let sender = IPAddress(bytes: bytes), !sender.isUnspecified else { continue }
            let meaning: WayComplaint.Meaning
            switch ICMPMeaning(error) {
            // Hosts reset connections to ports that they do not serve: this is a firewall's answer.
            case .noPort where sender == target: continue
            case .noPort, .prohibited: meaning = .prohibited
            case .hostMissing: meaning = .hostMissing
            case .noWay: meaning = .noWay
            case .timeExceeded, .other: continue
            }
            last = WayComplaint(by: sender, meaning)
        }
        return last
    }

    /// Whether a datagram to an address would stay on this machine.
    private func isOwn(_ address: IPAddress) -> Bool {
        let probe = reach_datagram_socket(address.family == .ipv4 ? AF_INET : AF_INET6)
        guard probe >= 0 else { return false }
        defer { close(probe) }
        return SocketAddress(address: address, port: 0).withPointer {
            bind(probe, $0.assumingMemoryBound(to: sockaddr.self), $1)
        } == 0
    }

    private func look() {
        // Once its error is known, a socket that failed looks like one that stands.
        loop.unwatch(socket)
        isWatched = false
        var number: CInt = 0
        var length = socklen_t(MemoryLayout<CInt>.size)
        // First: to take the last ICMP error from the socket's queue clears this one, and then nothing would have gone
        // wrong.
        getsockopt(socket, SOL_SOCKET, SO_ERROR, &number, &length)
        let complaint = complaint
        // An error that a segment of this machine caused before it left came from this machine's firewall. "Host
        // unreachable" also comes from there where a neighbour does not answer.
        let isStoppedHere = [ECONNREFUSED, EHOSTUNREACH].contains(number) && isKeptBack
        let isRejectedHere = complaint.map { $0.meaning == .prohibited && isOwn($0.speaker) } ?? false
        if isStoppedHere || isRejectedHere { return completion(.failed(EPERM)) }
        guard number != 0 else { return completion(.connected) }
        // What came later came from elsewhere: IPv6 reports a router's "prohibited" as EACCES.
        if let complaint, !isOwn(complaint.speaker) {
            return completion(.unreachable(number == ECONNREFUSED ? EHOSTUNREACH : number, complaint))
        }
        completion(number == EACCES ? .unreachable(number) : ConnectionAnswer(errno: number))
    }
}

extension ConnectionAnswer {
    fileprivate init(errno number: CInt) {
        switch number {
        case ECONNREFUSED: self = .refused
        case ETIMEDOUT: self = .silent
        // Also where a router, or a neighbour's silence, answers.
        case EHOSTUNREACH, ENETUNREACH, ECONNRESET, EHOSTDOWN, ENOPROTOOPT: self = .unreachable(number)
        default: self = .failed(number)
        }
    }
}
