internal import CNetlink
internal import Glibc
internal import ReachLoop

/// An open libnl socket, freed when the value goes away. Being noncopyable, it has a single owner, on one thread.
struct NetlinkSocket: ~Copyable {
    private let handle: OpaquePointer

    private init(owning handle: OpaquePointer) { self.handle = handle }

    deinit { nl_socket_free(handle) }

    /// Opens a socket. A factory, because a noncopyable `init` cannot throw once it owns something.
    ///
    /// - Parameters:
    ///   - protocolNumber: The netlink protocol, such as `NETLINK_ROUTE`.
    ///   - receiveBufferBytes: The size to request. libnl's default of 32 KiB holds only 78 notices of routes.
    static func open(
        _ protocolNumber: CInt = NETLINK_ROUTE, receiveBufferBytes: Int
    ) throws(NetlinkError) -> NetlinkSocket {
        guard let handle = nl_socket_alloc() else { throw .failed(call: "nl_socket_alloc", errno: ENOMEM) }
        let socket = NetlinkSocket(owning: handle)
        nl_socket_disable_seq_check(handle)
        errno = 0
        let result = nl_connect(handle, protocolNumber)
        // libnl folds many error numbers into one; errno still has the kernel's.
        guard result == 0 else { throw NetlinkError(call: "nl_connect", errno: errno == 0 ? EIO : errno) }
        socket.setReceiveBuffer(bytes: receiveBufferBytes)
        socket.enable(NETLINK_GET_STRICT_CHK)
        socket.enable(NETLINK_EXT_ACK)
        return socket
    }

    var descriptor: CInt { nl_socket_get_fd(handle) }

    /// The size that the kernel granted. It doubles the requested size, to account for its own bookkeeping.
    var receiveBufferBytes: Int {
        var size: CInt = 0
        var length = socklen_t(MemoryLayout<CInt>.size)
        getsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, &length)
        return Int(size)
    }

    func setNonblocking() throws(NetlinkError) {
        guard nl_socket_set_nonblocking(handle) == 0 else {
            throw NetlinkError(call: "nl_socket_set_nonblocking", errno: errno)
        }
    }

    /// Limits the wait for a reply. The kernel normally has it ready when `send` returns, so the limit only matters for
    /// a lost reply.
    func setReceiveTimeout(seconds: Int) {
        var time = timeval(tv_sec: seconds, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &time, socklen_t(MemoryLayout<timeval>.size))
    }

    func join(_ groups: [CInt]) throws(NetlinkError) {
        for group in groups {
            errno = 0
            guard nl_socket_add_membership(handle, group) == 0 else {
                throw NetlinkError(call: "nl_socket_add_membership", errno: errno == 0 ? EIO : errno)
            }
        }
    }

    /// Makes the kernel drop what the program rejects, before it costs this process anything.
    func attach(filter program: [SocketFilter.Instruction]) throws(NetlinkError) {
        var code = program.map { sock_filter(code: $0.code, jt: $0.ifTrue, jf: $0.ifFalse, k: $0.operand) }
        let result = code.withUnsafeMutableBufferPointer { buffer in
            var fprog = sock_fprog(len: UInt16(buffer.count), filter: buffer.baseAddress)
            return setsockopt(
                descriptor, SOL_SOCKET, SO_ATTACH_FILTER, &fprog, socklen_t(MemoryLayout<sock_fprog>.size))
        }
        guard result == 0 else { throw NetlinkError(call: "SO_ATTACH_FILTER", errno: errno) }
    }

    func send(_ bytes: [UInt8]) throws(NetlinkError) {
        while Glibc.send(descriptor, bytes, bytes.count, 0) < 0 {
            if errno != EINTR { throw NetlinkError(call: "send", errno: errno) }
        }
    }

    /// Reads queued datagrams, one for each of the buffer's slots, and calls `body` for those that the kernel sent.
    ///
    /// - Returns: The number of datagrams received. If it is smaller than the number of slots, no more were queued.
    /// - Throws: ``NetlinkError/lost`` when a datagram was truncated or the queue overflowed.
    func receive(
        into buffer: DatagramBuffer, _ body: (UnsafeRawBufferPointer) -> Void
    ) throws(NetlinkError) -> Int {
        let count = buffer.fill(from: descriptor)
        if count == -Int(EAGAIN) { return 0 }
        guard count >= 0 else { throw NetlinkError(call: "recvmmsg", errno: Int32(-count)) }
        for slot in 0..<count where !buffer.isForged(slot) {
            guard let datagram = buffer.datagram(slot) else { throw .lost }
            body(datagram)
        }
        return count
    }

    /// Tries SO_RCVBUFFORCE first: it may exceed net.core.rmem_max, but needs CAP_NET_ADMIN.
    private func setReceiveBuffer(bytes: Int) {
        var size = CInt(bytes)
        let length = socklen_t(MemoryLayout<CInt>.size)
        if setsockopt(descriptor, SOL_SOCKET, SO_RCVBUFFORCE, &size, length) != 0 {
            setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, length)
        }
    }

    /// Sets an option, if the kernel has it: an older one answers as well, only less strictly.
    private func enable(_ option: CInt) {
        var one: CInt = 1
        setsockopt(descriptor, SOL_NETLINK, option, &one, socklen_t(MemoryLayout<CInt>.size))
    }
}

/// The reason why a query or a subscription failed, sorted by what the caller does about it.
package enum NetlinkError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Notices or replies were lost: read everything again.
    case lost
    /// This process lacks the permission, or the kernel lacks the feature: poll, or give up.
    case forbidden(call: String, errno: Int32)
    /// The kernel refused one request; the socket still works.
    case refused(errno: Int32)
    /// Anything else: close the socket and try again later.
    case failed(call: String, errno: Int32)

    init(call: String, errno number: Int32) {
        switch number {
        case ENOBUFS: self = .lost
        case EPERM, EACCES, EAFNOSUPPORT, EPROTONOSUPPORT, ENOSYS: self = .forbidden(call: call, errno: number)
        default: self = .failed(call: call, errno: number)
        }
    }

    package var description: String {
        switch self {
        case .lost: "netlink messages were lost"
        case .forbidden(let call, let number), .failed(let call, let number):
            "\(call): \(SystemError.text(number))"
        case .refused(let number): "the kernel refused a request: \(SystemError.text(number))"
        }
    }
}
