internal import CReachLinux
internal import Glibc
internal import ReachCore
internal import ReachLoop
internal import ReachRecords
internal import ReachTransfer

/// Echo requests handed to another neighbour than the gateway: an answer shows that it passes packets on. It takes
/// CAP_NET_RAW.
final class ForwardAttempt: DiagnosisAttempt {
    private let loop: EventLoop
    private let completion: (PingAnswer) -> Void
    private var socket: ProbeSocket?
    private var timers: [TimerQueue.ID] = []
    private var isOver = false

    private static let rounds = [Duration.zero, .milliseconds(150), .milliseconds(400)]
    private static let patience = Duration.milliseconds(900)

    init(
        _ hop: FirstHop, _ owner: HardwareAddress, _ host: HostAddress, from source: IPAddress?, _ loop: EventLoop,
        _ completion: @escaping (PingAnswer) -> Void
    ) {
        self.loop = loop
        self.completion = completion
        do throws(SystemError) {
            let family = host.family
            guard let source, source.family == family else { throw SystemError(call: "send", number: EINVAL) }
            let socket = try ProbeSocket(loop, family, binding: nil)
            self.socket = socket
            let identifier = reach_ping_identifier(socket.descriptor)
            try socket.watch(for: .readable) { [weak self] _ in self?.receive(family) }
            timers = Self.rounds.map { delay in
                loop.schedule(at: SystemClock.boot + delay) {
                    _ = reach_echo_by(
                        CInt(hop.interfaceIndex), owner.bytes, family == .ipv6 ? 1 : 0, source.bytes,
                        host.address.bytes,
                        identifier)
                }
            }
            timers.append(loop.schedule(at: SystemClock.boot + Self.patience) { [weak self] in self?.end(.silent) })
        } catch {
            let number = error.number
            loop.afterEvents { [weak self] in self?.end(.failed(number)) }
        }
    }

    deinit { timers.forEach(loop.cancel) }

    private func receive(_ family: IPAddress.Family) {
        while let bytes = try? socket?.receive(256) {
            if EchoMessage.sequence(ofReply: bytes, family) != nil { return end(.answered) }
        }
    }

    private func end(_ answer: PingAnswer) {
        guard !isOver else { return }
        isOver = true
        socket = nil
        completion(answer)
    }
}
