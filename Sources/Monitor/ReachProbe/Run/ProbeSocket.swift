internal import CReachLinux
internal import Glibc
internal import ReachCore
internal import ReachLoop
internal import ReachTransfer

/// An attempt's ping socket: non-blocking, bound to its interface before anything is sent, closed when released.
final class ProbeSocket {
    let descriptor: CInt
    private let loop: EventLoop
    private var isWatched = false

    init(_ loop: EventLoop, _ family: IPAddress.Family, binding: InterfaceBinding?) throws(SystemError) {
        self.loop = loop
        descriptor = reach_ping_socket(family == .ipv4 ? AF_INET : AF_INET6)
        guard descriptor >= 0 else { throw SystemError(call: "socket", number: -descriptor) }
        guard let binding else { return }
        do throws(SystemError) {
            try InterfaceSocket.bind(descriptor, to: binding)
        } catch {
            throw SystemError(call: "bind to \(binding.name)", number: error.number)
        }
    }

    deinit {
        if isWatched { loop.unwatch(descriptor) }
        if descriptor >= 0 { close(descriptor) }
    }

    func set(_ level: CInt, _ option: CInt, _ value: CInt) {
        var value = value
        setsockopt(descriptor, level, option, &value, socklen_t(MemoryLayout<CInt>.size))
    }

    /// Fixes the peer. The kernel looks up the route now, so ENETUNREACH comes from here.
    func connect(to address: SocketAddress) throws(SystemError) {
        let result = address.withPointer { Glibc.connect(descriptor, $0.assumingMemoryBound(to: sockaddr.self), $1) }
        guard result == 0 else { throw SystemError(call: "connect") }
    }

    func send(_ bytes: [UInt8]) throws(SystemError) {
        func sendOnce() -> Bool {
            bytes.count
                == bytes.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL)) }
        }
        // An error of an earlier datagram is reported in place of sending this one.
        guard sendOnce() || (failure(after: errno) == nil && sendOnce()) else { throw SystemError(call: "send") }
    }

    /// - Returns: A datagram; `nil` if none is waiting.
    /// - Throws: Why no answer is to be expected, from this machine or from a router on the way.
    func receive(_ limit: Int) throws(SystemError) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: limit)
        while true {
            let count = recv(descriptor, &bytes, limit, 0)
            if count >= 0 { return Array(bytes.prefix(count)) }
            if errno == EAGAIN || errno == EINTR { return nil }
            if let number = failure(after: errno) { throw SystemError(call: "receive", number: number) }
        }
    }

    /// What the errors of earlier datagrams say about them; `nil` if an answer may still come. Empties the queue of
    /// ICMP errors, as long as which is not empty the socket counts as ready.
    private func failure(after number: CInt) -> CInt? {
        var found = Self.isAdvice(number) ? nil : number
        var error = reach_icmp_error()
        while reach_next_icmp_error(descriptor, &error) == 0 {
            if found == nil, !Self.isAdvice(error.number) { found = error.number }
        }
        // For whoever reads it from there.
        if let found { errno = found }
        return found
    }

    /// Whether an ICMP message leaves open if there will be an answer (`ping_err` in the kernel): a redirect, whose
    /// sender has passed the packet on, or a source quench (EREMOTEIO); a redirect in IPv6, or a complaint about a
    /// header (EPROTO).
    private static func isAdvice(_ number: CInt) -> Bool { number == EREMOTEIO || number == EPROTO }

    /// Called once.
    func watch(for interest: EventLoop.Interest, _ handler: @escaping (EventLoop.Interest) -> Void) throws(SystemError)
    {
        try loop.watch(descriptor, for: interest, handler: handler)
        isWatched = true
    }
}

extension IPAddress.Family {
    /// The level of the socket options of IP, and of IPv6.
    var socketLevel: CInt { self == .ipv4 ? CInt(IPPROTO_IP) : CInt(IPPROTO_IPV6) }
}

extension ProbeTarget.Host {
    /// Index of the interface that the address' zone names; 0 without a zone. The zone may be the index itself.
    ///
    /// - Throws: If there is no such interface: with 0 the kernel would choose one by its routes.
    var scope: UInt32 {
        get throws(SystemError) {
            guard case .address(_, let zone?) = self else { return 0 }
            guard let index = LinkName.index(ofZone: zone) else {
                throw SystemError(call: "find interface \(zone)", number: ENODEV)
            }
            return index
        }
    }
}
