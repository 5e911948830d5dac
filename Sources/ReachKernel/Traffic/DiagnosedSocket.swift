internal import CNetlink
internal import CReachLinux
internal import Glibc
internal import ReachCore

/// What the kernel tells of one TCP socket by sock_diag(7).
struct DiagnosedSocket {
    let local: IPAddress
    let remote: TrafficQuestion.Remote
    private let state: UInt8
    /// Of a socket in TIME_WAIT: how long it stays there.
    private let expiresMilliseconds: UInt32
    /// `nil` for a socket in TIME_WAIT, of which the kernel keeps no counts.
    private let traffic: reach_tcp_traffic?

    /// - Returns: `nil` for a message about something else.
    init?(_ message: Message) {
        guard message.type == SOCK_DIAG_BY_FAMILY, let (socket, attributes) = message.body(inet_diag_msg.self) else {
            return nil
        }
        func address(_ bytes: UnsafeRawBufferPointer) -> IPAddress? {
            if CInt(socket.idiag_family) == AF_INET { return IPAddress(UnsafeRawBufferPointer(rebasing: bytes[..<4])) }
            guard let whole = IPAddress(bytes), whole.high == 0, whole.low >> 32 == 0xffff else {
                return IPAddress(bytes)
            }
            return IPAddress(ipv4: UInt32(truncatingIfNeeded: whole.low))
        }
        guard let local = withUnsafeBytes(of: socket.id.idiag_src, address),
            let far = withUnsafeBytes(of: socket.id.idiag_dst, address)
        else { return nil }
        self.local = local
        remote = TrafficQuestion.Remote(address: far, port: UInt16(bigEndian: socket.id.idiag_dport))
        state = socket.idiag_state
        expiresMilliseconds = socket.idiag_expires
        traffic = attributes.first { $0.type == INET_DIAG_INFO }?.tcpTraffic
    }

    // TCP_* of linux/tcp.h, which are the kernel's own numbers.
    private static let established: UInt8 = 1
    private static let timeWait: UInt8 = 6
    /// Connections that were made: established, or past it.
    static let connectedStates: UInt32 = [established, 4, 5, timeWait, 8, 9, 11].reduce(0) { $0 | 1 << UInt32($1) }
    /// TCP_TIMEWAIT_LEN of the kernel's net/tcp.h.
    private static let timeWaitMilliseconds: UInt32 = 60_000

    /// It has moved bytes both ways, and received something so recently.
    func moved(within window: Duration) -> Bool {
        let milliseconds = window.nanoseconds / 1_000_000
        if state == Self.timeWait {
            // Both ends have said their farewell, and since when is known.
            let age = Self.timeWaitMilliseconds.subtractingReportingOverflow(expiresMilliseconds)
            return !age.overflow && Int64(age.partialValue) <= milliseconds
        }
        guard let traffic, traffic.bytes_received > 0, traffic.bytes_acknowledged > 1 else { return false }
        return Int64(min(traffic.data_received_ms, traffic.acknowledged_ms)) <= milliseconds
    }
}

extension TrafficQuestion {
    /// HTTP: portals answer it in everybody's place.
    private static let excludedPort: UInt16 = 80

    /// Whether sockets with this far end prove nothing, as far as the kernel was not asked to leave them out.
    func excludes(_ remote: Remote) -> Bool { remote.port == Self.excludedPort || excludedRemotes.contains(remote) }
}

extension Attribute {
    /// Of a `tcp_info`.
    fileprivate var tcpTraffic: reach_tcp_traffic? {
        var traffic = reach_tcp_traffic()
        return reach_tcp_traffic(payload.baseAddress, payload.count, &traffic) == 0 ? traffic : nil
    }
}
