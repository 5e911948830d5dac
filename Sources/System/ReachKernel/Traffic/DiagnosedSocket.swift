internal import CNetlink
internal import CReachLinux
internal import Glibc
internal import ReachCore

/// One TCP socket, as the kernel reports it by sock_diag(7).
struct DiagnosedSocket {
    let local: IPAddress
    let remote: TrafficQuestion.Remote
    let localPort: UInt16
    /// The user who owns the socket. The kernel reports 0 for a socket in TIME_WAIT.
    let user: UInt32
    /// The interface that the socket is bound to; 0 if to none.
    let interface: InterfaceIndex
    private let state: UInt8
    private let timer: UInt8
    /// The time until the socket's timer ends; in TIME_WAIT, the time that it still stays there.
    private let expiresMilliseconds: UInt32
    /// The traffic counters; `nil` for a socket in TIME_WAIT, for which the kernel keeps none.
    private let traffic: reach_tcp_traffic?

    /// - Returns: `nil` for a message about something else.
    init?(_ message: Message) {
        guard message.type == SOCK_DIAG_BY_FAMILY, let (socket, attributes) = message.body(inet_diag_msg.self) else {
            return nil
        }
        func address(_ bytes: UnsafeRawBufferPointer) -> IPAddress? {
            if CInt(socket.idiag_family) == AF_INET { return IPAddress(UnsafeRawBufferPointer(rebasing: bytes[..<4])) }
            guard let mapped = IPAddress(bytes), mapped.high == 0, mapped.low >> 32 == 0xffff else {
                return IPAddress(bytes)
            }
            return IPAddress(ipv4: UInt32(truncatingIfNeeded: mapped.low))
        }
        guard let local = withUnsafeBytes(of: socket.id.idiag_src, address),
            let far = withUnsafeBytes(of: socket.id.idiag_dst, address)
        else { return nil }
        self.local = local
        remote = TrafficQuestion.Remote(address: far, port: UInt16(bigEndian: socket.id.idiag_dport))
        localPort = UInt16(bigEndian: socket.id.idiag_sport)
        user = socket.idiag_uid
        interface = InterfaceIndex(bitPattern: socket.id.idiag_if)
        state = socket.idiag_state
        timer = socket.idiag_timer
        expiresMilliseconds = socket.idiag_expires
        traffic = attributes.first { $0.type == INET_DIAG_INFO }?.tcpTraffic
    }

    // The kernel's states: TCP_* of its net/tcp_states.h.
    private static let established: UInt8 = 1
    private static let synSent: UInt8 = 2
    private static let timeWait: UInt8 = 6
    /// The states of a connection that is or was established.
    static let connectedStates: UInt32 = [established, 4, 5, timeWait, 8, 9, 11].reduce(0) { $0 | 1 << UInt32($1) }
    /// The same, and that of a connection which begins.
    static let startedStates = connectedStates | 1 << UInt32(synSent)
    /// TCP_TIMEWAIT_LEN of the kernel's net/tcp.h.
    private static let timeWaitMilliseconds: UInt32 = 60_000

    /// Whether the socket has transferred bytes in both directions, and received something within the window.
    func moved(within window: Duration) -> Bool {
        if state != Self.timeWait, traffic.map({ $0.bytes_received > 0 && $0.bytes_acknowledged > 1 }) != true {
            return false
        }
        return sinceReceived.map { $0 <= window } ?? false
    }

    /// The time since the last segment from the remote end; `nil` if there was none.
    var sinceReceived: Duration? {
        if state == Self.timeWait {
            // Both ends have sent a FIN, so the age of this state is the age of the last packet.
            let age = Self.timeWaitMilliseconds.subtractingReportingOverflow(expiresMilliseconds)
            return age.overflow ? nil : .milliseconds(Int64(age.partialValue))
        }
        // Before the first answer both times are those since the machine started.
        guard let traffic, state != Self.synSent else { return nil }
        return .milliseconds(Int64(min(traffic.data_received_ms, traffic.acknowledged_ms)))
    }

    /// The segments that it has sent; `nil` if the remote end has acknowledged none, since any user can send to where
    /// nobody is.
    var segments: SegmentCount? {
        guard let traffic, traffic.bytes_acknowledged > 1 else { return nil }
        return SegmentCount(
            SegmentCount.Socket(remote: remote, localPort: localPort), sent: traffic.data_segments,
            repeated: traffic.repeated, roundTrip: .microseconds(Int64(traffic.round_trip_us)))
    }

    /// The socket's transmissions that nothing acknowledged; `nil` unless it has had to repeat one.
    var stalled: StalledSocket? {
        // 1 is the timer of retransmissions (sock_diag(7)); a socket that waits for one has none other.
        guard let traffic, timer == 1, traffic.unacknowledged > 0, traffic.timeouts > 0 else { return nil }
        return StalledSocket(
            remote: remote.address, user: user, repetitions: Int(traffic.timeouts), doublings: Int(traffic.doublings),
            timeout: .microseconds(Int64(traffic.timeout_us)), untilNext: .milliseconds(Int64(expiresMilliseconds)),
            roundTrip: .microseconds(Int64(traffic.round_trip_us)))
    }
}

extension SilenceSample {
    /// Reads a datagram of sock_diag(7).
    package init(datagram: UnsafeRawBufferPointer) {
        self.init()
        for message in Messages(datagram) {
            if let socket = DiagnosedSocket(message) { add(socket) }
        }
    }

    mutating func add(_ socket: DiagnosedSocket) {
        if let age = socket.sinceReceived { noteReception(age) }
        if let stalled = socket.stalled { add(stalled) }
    }
}

extension TrafficQuestion {
    /// The port of HTTP: a captive portal answers it in place of any server.
    private static let excludedPort: UInt16 = 80

    /// Whether sockets with this remote end prove nothing, for those conditions that the kernel does not check.
    func excludes(_ remote: Remote) -> Bool {
        remote.port == Self.excludedPort || excludedRemotes.contains(remote)
            || sockets.own.contains(remote.address)
    }
}

extension Attribute {
    /// The traffic counters of a `tcp_info`.
    fileprivate var tcpTraffic: reach_tcp_traffic? {
        var traffic = reach_tcp_traffic()
        return reach_tcp_traffic(payload.baseAddress, payload.count, &traffic) == 0 ? traffic : nil
    }
}
