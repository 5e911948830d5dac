internal import CNetlink
internal import CReachLinux
internal import Glibc
internal import ReachCore
internal import ReachLoop

/// One look at this machine's TCP sockets (sock_diag(7)). It asks only the kernel, and waits for it: on a machine with
/// a hundred thousand sockets for some ten milliseconds, so not for the engine's thread.
struct TrafficLook: ~Copyable {
    /// So many sockets are looked at; then it is given up. The kernel tells only of those on the path.
    static let socketLimit = 20_000

    private let question: TrafficQuestion
    private let socket: NetlinkSocket
    private let buffer = DatagramBuffer()

    private init(question: TrafficQuestion, socket: consuming NetlinkSocket) {
        self.question = question
        self.socket = socket
    }

    static func answer(_ question: TrafficQuestion) -> TrafficAnswer {
        guard !question.sources.isEmpty else { return .still }
        do throws(NetlinkError) {
            let socket = try NetlinkSocket.open(NETLINK_SOCK_DIAG, receiveBufferBytes: 1 << 18)
            socket.setReceiveTimeout(seconds: 1)
            return try TrafficLook(question: question, socket: socket).run()
        } catch {
            return .notAsked
        }
    }

    private func run() throws(NetlinkError) -> TrafficAnswer {
        // A program that serves both families holds IPv4's connections on IPv6 sockets.
        let families = question.family == .ipv4 ? [AF_INET, AF_INET6] : [AF_INET6]
        var seen = 0
        for (number, family) in families.enumerated() {
            let sequence = UInt32(number + 1)
            try ask(family, sequence: sequence)
            var (isComplete, isMoving) = (false, false)
            var refusal: Int32 = 0
            while !isComplete {
                let count = try socket.receive(into: buffer) { datagram in
                    for message in Messages(datagram) where message.sequence == sequence {
                        if let number = message.errorNumber { refusal = number }
                        if message.type == NLMSG_DONE { isComplete = true }
                        isMoving = isMoving || self.isMoving(message)
                        seen += 1
                    }
                }
                if count == 0 { throw .failed(call: "recvmmsg", errno: ETIMEDOUT) }
                if refusal != 0 { throw .refused(errno: refusal) }
                if isMoving { return .moving }
                if seen > Self.socketLimit { return .tooMany }
            }
        }
        return .still
    }

    private func ask(_ family: CInt, sequence: UInt32) throws(NetlinkError) {
        var batch = RequestBatch(firstSequence: sequence)
        var header = inet_diag_req_v2()
        header.sdiag_family = UInt8(family)
        header.sdiag_protocol = UInt8(IPPROTO_TCP)
        header.idiag_ext = UInt8(1 << (INET_DIAG_INFO - 1))
        header.idiag_states = Self.states
        let conditions = SocketConditions(sources: question.sources, excluding: question.excludedPrefixes)
        batch.add(Int(SOCK_DIAG_BY_FAMILY), flags: NLM_F_DUMP, header) {
            $0.attribute(INET_DIAG_REQ_BYTECODE, conditions.bytes)
        }
        try socket.send(batch.bytes)
    }

    // TCP_* of linux/tcp.h, which are the kernel's own numbers.
    private static let established: UInt8 = 1
    private static let timeWait: UInt8 = 6
    /// Connections that were made: established, or past it.
    private static let states: UInt32 = [established, 4, 5, timeWait, 8, 9, 11].reduce(0) { $0 | 1 << UInt32($1) }
    /// TCP_TIMEWAIT_LEN of the kernel's net/tcp.h.
    private static let timeWaitMilliseconds: UInt32 = 60_000
    /// HTTP: portals answer it in everybody's place.
    private static let excludedPort: UInt16 = 80

    private func isMoving(_ message: Message) -> Bool {
        guard message.type == SOCK_DIAG_BY_FAMILY, let (socket, attributes) = message.body(inet_diag_msg.self),
            let remote = Self.remote(of: socket), remote.port != Self.excludedPort,
            !question.excludedRemotes.contains(remote)
        else { return false }
        let window = question.window.nanoseconds / 1_000_000
        if socket.idiag_state == Self.timeWait {
            // Of those the kernel keeps no counts: but both ends have said their farewell, and since when is known.
            let age = Self.timeWaitMilliseconds.subtractingReportingOverflow(socket.idiag_expires)
            return !age.overflow && Int64(age.partialValue) <= window
        }
        for attribute in attributes where attribute.type == INET_DIAG_INFO {
            guard let traffic = attribute.tcpTraffic else { return false }
            let isBothWays = traffic.bytes_received > 0 && traffic.bytes_acknowledged > 1
            return isBothWays && Int64(min(traffic.data_received_ms, traffic.acknowledged_ms)) <= window
        }
        return false
    }

    private static func remote(of socket: inet_diag_msg) -> TrafficQuestion.Remote? {
        let address: IPAddress? = withUnsafeBytes(of: socket.id.idiag_dst) { bytes in
            if CInt(socket.idiag_family) == AF_INET { return IPAddress(UnsafeRawBufferPointer(rebasing: bytes[..<4])) }
            guard let whole = IPAddress(bytes), whole.high == 0, whole.low >> 32 == 0xffff else {
                return IPAddress(bytes)
            }
            return IPAddress(ipv4: UInt32(truncatingIfNeeded: whole.low))
        }
        return address.map { TrafficQuestion.Remote(address: $0, port: UInt16(bigEndian: socket.id.idiag_dport)) }
    }
}
