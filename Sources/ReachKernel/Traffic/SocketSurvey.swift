internal import CNetlink
internal import Glibc
internal import ReachCore
internal import ReachLoop

/// One query of this machine's open TCP sockets (sock_diag(7)). It waits for the kernel, on a machine with a hundred
/// thousand sockets for some ten milliseconds, so it does not belong on the engine's thread.
struct SocketSurvey: ~Copyable {
    /// The most sockets to check. The kernel reports only those on the path.
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
        // A program that serves both families has IPv4 connections on IPv6 sockets.
        let families = question.family == .ipv4 ? [AF_INET, AF_INET6] : [AF_INET6]
        var seen = 0
        for (number, family) in families.enumerated() {
            let sequence = UInt32(number + 1)
            try sendQuery(family, sequence: sequence)
            var (isComplete, isMoving) = (false, false)
            var errorNumber: Int32 = 0
            while !isComplete {
                let count = try socket.receive(into: buffer) { datagram in
                    for message in Messages(datagram) where message.sequence == sequence {
                        if let number = message.errorNumber { errorNumber = number }
                        if message.type == NLMSG_DONE { isComplete = true }
                        isMoving = isMoving || self.isMoving(message)
                        seen += 1
                    }
                }
                if count == 0 { throw .failed(call: "recvmmsg", errno: ETIMEDOUT) }
                if errorNumber != 0 { throw .refused(errno: errorNumber) }
                if isMoving { return .moving }
                if seen > Self.socketLimit { return .tooMany }
            }
        }
        return .still
    }

    private func sendQuery(_ family: CInt, sequence: UInt32) throws(NetlinkError) {
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
