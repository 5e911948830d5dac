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
            let socket = try ProbeSocket(attempt.runner.loop, address.family, binding: plan.binding)
            self.socket = socket
            // Without it the kernel does not report the ICMP errors that routers send back.
            if address.family == .ipv4 { socket.set(Self.levelIPv4, IP_RECVERR, 1) }
            if address.family == .ipv6 { socket.set(Self.levelIPv6, IPV6_RECVERR, 1) }
            try socket.connect(
                to: SocketAddress(address: address, port: 0, scope: plan.specification.target.host?.scope ?? 0))
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
