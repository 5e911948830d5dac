internal import Glibc
internal import ReachCore
internal import ReachLoop
internal import ReachTransfer

/// One echo request by a ping socket, which needs no privilege: only a group within net.ipv4.ping_group_range
/// (icmp(7)).
final class PingAttempt: ProbeAttempt {
    private let attempt: SocketAttempt
    private var socket: ProbeSocket?
    private var address: IPAddress?
    private var sent: BootTime?

    /// SOL_IP and SOL_IPV6, which Glibc's module lacks.
    private static let levelIPv4: CInt = 0
    private static let levelIPv6: CInt = 41

    init(_ plan: ProbePlan, _ runner: ProbeRunner, _ completion: @escaping ProbeRunner.Completion) {
        attempt = SocketAttempt(plan, runner, completion)
        attempt.begin { [weak self] observation in
            self?.socket = nil
            observation.address = self?.address
        } _: { [weak self] in
            guard let self, let host = plan.specification.target.host else { return }
            attempt.find(host) { [weak self] in self?.send(to: $0) }
        }
    }

    func cancel() {
        attempt.cancel()
        socket = nil
    }

    private func send(to address: IPAddress) {
        self.address = address
        let plan = attempt.plan
        var random = SystemRandomNumberGenerator()
        let payload = (0..<EchoMessage.payloadCount).map { _ in UInt8.random(in: .min ... .max, using: &random) }
        let message = EchoMessage(sequence: plan.number, payload: payload)
        do throws(SystemError) {
            let scope = try plan.specification.target.host?.scope ?? 0
            let socket = try ProbeSocket(attempt.runner.loop, address.family, binding: plan.binding)
            self.socket = socket
            // Without it the kernel does not report the ICMP errors that routers send back.
            if address.family == .ipv4 { socket.set(Self.levelIPv4, IP_RECVERR, 1) }
            if address.family == .ipv6 { socket.set(Self.levelIPv6, IPV6_RECVERR, 1) }
            try socket.connect(to: SocketAddress(address: address, port: 0, scope: scope))
            try socket.watch(for: .readable) { [weak self] _ in self?.receive(message) }
            sent = SystemClock.boot
            try socket.send(message.request(address.family))
        } catch {
            attempt.finish(ending(of: error))
        }
    }

    private func ending(of error: SystemError) -> ProbeObservation.Ending {
        guard error.call == "socket", error.number == EACCES || error.number == EPERM else {
            return ProbeObservation.Ending(systemError: error.number, error.call)
        }
        return .doubtful(
            .notPermitted,
            "ping sockets are not allowed: the sysctl net.ipv4.ping_group_range must include group \(getegid())")
    }

    private func receive(_ message: EchoMessage) {
        guard let socket, let address else { return }
        do throws(SystemError) {
            while let bytes = try socket.receive(2048) {
                guard message.isAnswered(by: bytes, address.family) else { continue }
                attempt.phases[.processing] = sent.map { SystemClock.boot - $0 }
                return attempt.finish(.answered)
            }
        } catch {
            attempt.finish(ProbeObservation.Ending(systemError: error.number, "icmp"))
        }
    }
}

/// An ICMP echo request (RFC 792, RFC 4443) as a ping socket sends it. The kernel fills in the identifier and the
/// checksum, and strips the IP header from the reply.
struct EchoMessage: Hashable {
    let sequence: UInt16
    let payload: [UInt8]

    /// Payload size in bytes: that of ping(8), so that networks treat these packets as they treat ping's.
    static let payloadCount = 56

    func request(_ family: IPAddress.Family) -> [UInt8] {
        let type: UInt8 = family == .ipv4 ? 8 : 128
        return [type, 0, 0, 0, 0, 0, UInt8(sequence >> 8), UInt8(truncatingIfNeeded: sequence)] + payload
    }

    /// Whether a datagram is the reply to this request, and not to an earlier one of the same socket.
    func isAnswered(by bytes: [UInt8], _ family: IPAddress.Family) -> Bool {
        let type: UInt8 = family == .ipv4 ? 0 : 129
        guard bytes.count >= 8, bytes[0] == type, bytes[1] == 0 else { return false }
        return UInt16(bytes[6]) << 8 | UInt16(bytes[7]) == sequence && bytes[8...].elementsEqual(payload)
    }
}
