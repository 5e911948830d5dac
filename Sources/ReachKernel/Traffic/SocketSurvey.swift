internal import CNetlink
internal import Glibc
internal import ReachCore
internal import ReachLoop

/// One look at this machine's TCP sockets (sock_diag(7)). It asks only the kernel, and waits for it: on a machine with
/// a hundred thousand sockets for some ten milliseconds, so not for the engine's thread.
struct SocketSurvey: ~Copyable {
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
            return try SocketSurvey(question: question, socket: socket).run()
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
        header.idiag_states = DiagnosedSocket.connectedStates
        let conditions = SocketConditions(sources: question.sources, excluding: question.excludedPrefixes)
        batch.add(Int(SOCK_DIAG_BY_FAMILY), flags: NLM_F_DUMP, header) {
            $0.attribute(INET_DIAG_REQ_BYTECODE, conditions.bytes)
        }
        try socket.send(batch.bytes)
    }

    private func isMoving(_ message: Message) -> Bool {
        guard let socket = DiagnosedSocket(message), !question.excludes(socket.remote) else { return false }
        return socket.moved(within: question.window)
    }
}
