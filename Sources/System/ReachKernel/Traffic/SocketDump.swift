internal import CNetlink
internal import Glibc
internal import ReachCore

/// Reads this machine's TCP sockets by sock_diag(7). It waits for the kernel, which walks its whole table of sockets: 1
/// ms for each family on a machine with 24 GiB of memory, and about 1 µs for each socket. So it does not belong on the
/// engine's thread.
struct SocketDump: ~Copyable {
    /// The most sockets to look at. The kernel reports only those that satisfy the conditions.
    static let socketLimit = 20_000

    enum Ending {
        case complete
        /// The caller has seen enough.
        case stopped
        /// There are more sockets than the limit.
        case tooMany
    }

    private let socket: NetlinkSocket
    private let buffer = DatagramBuffer()

    init() throws(NetlinkError) {
        socket = try NetlinkSocket.open(NETLINK_SOCK_DIAG, receiveBufferBytes: 1 << 18)
        socket.setReceiveTimeout(seconds: 1)
    }

    /// Reads the sockets once. A second call would receive what the first one left.
    ///
    /// - Parameters:
    ///   - states: A bit for each state of TCP.
    ///   - body: Called with each socket; returns whether it has seen enough.
    consuming func read(
        _ family: IPAddress.Family, states: UInt32, _ conditions: SocketConditions,
        _ body: (DiagnosedSocket) -> Bool
    ) throws(NetlinkError) -> Ending {
        // A program that serves both families has IPv4 connections on IPv6 sockets.
        let families = family == .ipv4 ? [AF_INET, AF_INET6] : [AF_INET6]
        var seen = 0
        for (number, family) in families.enumerated() {
            let sequence = UInt32(number + 1)
            try sendQuery(family, states, conditions, sequence: sequence)
            var (isComplete, hasEnough) = (false, false)
            var errorNumber: Int32 = 0
            while !isComplete {
                let count = try socket.receive(into: buffer) { datagram in
                    for message in Messages(datagram) where message.sequence == sequence {
                        if let number = message.errorNumber { errorNumber = number }
                        if message.type == NLMSG_DONE { isComplete = true }
                        if !hasEnough, let socket = DiagnosedSocket(message) { hasEnough = body(socket) }
                        seen += 1
                    }
                }
                if count == 0 { throw .failed(call: "recvmmsg", errno: ETIMEDOUT) }
                if errorNumber != 0 { throw .refused(errno: errorNumber) }
                if hasEnough { return .stopped }
                if seen > Self.socketLimit { return .tooMany }
            }
        }
        return .complete
    }

    private func sendQuery(
        _ family: CInt, _ states: UInt32, _ conditions: SocketConditions, sequence: UInt32
    ) throws(NetlinkError) {
        var batch = RequestBatch(firstSequence: sequence)
        var header = inet_diag_req_v2()
        header.sdiag_family = UInt8(family)
        header.sdiag_protocol = UInt8(IPPROTO_TCP)
        header.idiag_ext = UInt8(1 << (INET_DIAG_INFO - 1))
        header.idiag_states = states
        batch.add(Int(SOCK_DIAG_BY_FAMILY), flags: NLM_F_DUMP, header) {
            $0.attribute(INET_DIAG_REQ_BYTECODE, conditions.bytes)
        }
        try socket.send(batch.bytes)
    }
}
