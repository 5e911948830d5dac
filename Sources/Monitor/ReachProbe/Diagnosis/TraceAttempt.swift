internal import CReachLinux
internal import Glibc
internal import ReachCore
internal import ReachLoop
internal import ReachRecords
internal import ReachTransfer

/// Datagrams with short lives to ports that no program serves, all at once: routers on the way report their end (RFC
/// 792), and the target that there is no program. Needs no privilege, since the kernel hands such errors to the socket
/// (IP_RECVERR).
final class TraceAttempt: DiagnosisAttempt {
    private let host: HostAddress
    private let loop: EventLoop
    private let completion: (PathTrace) -> Void
    private var socket: CInt = -1
    private var isWatched = false
    private var timers: [TimerQueue.ID] = []
    private var trace = PathTrace()
    private var isOver = false

    /// Far enough to leave the machine's own network and that of most providers.
    fileprivate static let distances = 1...8
    /// Of traceroute(8).
    static let firstPort: UInt16 = 33434
    /// The last datagram of a round lives long enough to arrive.
    private static let wholePort: UInt16 = 33500
    private static let rounds = [Duration.zero, .milliseconds(500), .milliseconds(1000)]

    init(_ host: HostAddress, _ loop: EventLoop, _ completion: @escaping (PathTrace) -> Void) {
        self.host = host
        self.loop = loop
        self.completion = completion
        socket = reach_datagram_socket(host.family == .ipv4 ? AF_INET : AF_INET6)
        do throws(SystemError) {
            guard socket >= 0 else { throw SystemError(call: "socket", number: -socket) }
            set(IP_RECVERR, IPV6_RECVERR, 1)
            try loop.watch(socket, for: .readable) { [weak self] _ in self?.receive() }
            isWatched = true
            schedule()
        } catch {
            trace.end = .failed(error.number)
            loop.afterEvents { [weak self] in self?.end() }
        }
    }

    private func schedule() {
        for delay in Self.rounds {
            timers.append(loop.schedule(at: SystemClock.boot + delay) { [weak self] in self?.sendRound() })
        }
        let deadline = SystemClock.boot + DiagnosisRunner.Limit.trace
        timers.append(loop.schedule(at: deadline) { [weak self] in self?.end() })
    }

    deinit {
        timers.forEach(loop.cancel)
        if isWatched { loop.unwatch(socket) }
        if socket >= 0 { close(socket) }
    }

    private func set(_ ipv4: CInt, _ ipv6: CInt, _ value: CInt) {
        var value = value
        let option = host.family == .ipv4 ? ipv4 : ipv6
        setsockopt(socket, host.family.socketLevel, option, &value, socklen_t(MemoryLayout<CInt>.size))
    }

    private func sendRound() {
        for distance in Self.distances where !trace.hops.contains(where: { $0.distance == distance }) {
            send(distance, Self.firstPort + UInt16(distance))
        }
        send(64, Self.wholePort)
        // An error of this machine may be queued at once.
        receive()
    }

    private func send(_ life: Int, _ port: UInt16) {
        set(IP_TTL, IPV6_UNICAST_HOPS, CInt(life))
        // The error of an earlier datagram is reported in place of sending this one: then it is sent again.
        if !sendOnce(port) { _ = sendOnce(port) }
    }

    /// - Returns: Whether nothing is left to do about it.
    private func sendOnce(_ port: UInt16) -> Bool {
        let count = host.socketAddress(port).withPointer {
            sendto(socket, "", 0, CInt(MSG_NOSIGNAL), $0.assumingMemoryBound(to: sockaddr.self), $1)
        }
        guard count < 0 else { return true }
        switch errno {
        // Earlier errors of the socket, which the queue has as well.
        case ECONNREFUSED, EHOSTUNREACH, ENETUNREACH: return false
        case EAGAIN: return true
        case EACCES where trace.end != .silent: return true
        case let number:
            trace.end = .failed(number)
            return true
        }
    }

    private func receive() {
        var error = reach_icmp_error()
        while reach_next_icmp_error(socket, &error) == 0 { trace.note(error, of: host.address) }
        if trace.end == .reached { loop.afterEvents { [weak self] in self?.end() } }
        // An answer that is no error would keep the socket readable.
        var byte: UInt8 = 0
        while recv(socket, &byte, 1, CInt(MSG_DONTWAIT)) >= 0 {}
    }

    private func end() {
        guard !isOver else { return }
        isOver = true
        completion(trace)
    }
}

extension PathTrace {
    /// Notes what an ICMP error says about the way to a host.
    mutating func note(_ error: reach_icmp_error, of host: IPAddress) {
        let bytes = withUnsafeBytes(of: error.offender) { Array($0.prefix(error.is_ipv6 != 0 ? 16 : 4)) }
        guard error.type != 0 || error.code != 0, let sender = IPAddress(bytes: bytes), !sender.isUnspecified else {
            return
        }
        let distance = Int(error.port) - Int(TraceAttempt.firstPort)
        switch ICMPMeaning(error) {
        case .timeExceeded:
            guard TraceAttempt.distances.contains(distance), !hops.contains(where: { $0.distance == distance }) else {
                return
            }
            hops.append(Hop(distance: distance, address: sender))
        // From another address it may be the host as well.
        case .noPort: end = sender == host ? .reached : end
        case .prohibited: if end != .reached { end = .prohibited(by: sender) }
        case .hostMissing, .noWay:
            guard end == .silent else { return }
            end = .unreachable(by: sender)
            isHostMissing = ICMPMeaning(error) == .hostMissing
        case .other: break
        }
    }
}

/// What an ICMP error means (RFC 792, RFC 1812 5.2.7.1, RFC 4443).
enum ICMPMeaning {
    case timeExceeded
    case noPort
    case prohibited
    case noWay
    /// There is a way, but no such host at its end.
    case hostMissing
    case other

    init(_ error: reach_icmp_error) {
        switch (error.is_ipv6 != 0, error.type, error.code) {
        case (false, 11, _), (true, 3, _): self = .timeExceeded
        case (false, 3, 3), (true, 1, 4): self = .noPort
        case (false, 3, 9), (false, 3, 10), (false, 3, 13...15), (true, 1, 1), (true, 1, 5), (true, 1, 6):
            self = .prohibited
        case (false, 3, 1), (false, 3, 7), (false, 3, 12), (true, 1, 3): self = .hostMissing
        case (false, 3, 4): self = .other
        case (false, 3, _), (true, 1, _): self = .noWay
        default: self = .other
        }
    }
}
