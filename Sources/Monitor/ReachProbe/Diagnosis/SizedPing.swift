internal import Glibc
internal import ReachCore
internal import ReachLoop
internal import ReachRecords
internal import ReachTransfer

/// Echo requests of one size, of which one answer is enough. A large one fills the path's first link and must not be
/// split.
final class SizedPing: DiagnosisAttempt {
    private let host: HostAddress
    private let loop: EventLoop
    private let completion: (PingAnswer) -> Void
    private var socket: ProbeSocket?
    private var timers: [TimerQueue.ID] = []

    /// The sizes of the headers of IP and ICMP.
    private static let headers: (ipv4: Int, ipv6: Int) = (28, 48)
    private static let repetition = Duration.milliseconds(500)

    init(_ host: HostAddress, isLarge: Bool, _ loop: EventLoop, _ completion: @escaping (PingAnswer) -> Void) {
        self.host = host
        self.loop = loop
        self.completion = completion
        do throws(SystemError) {
            let socket = try ProbeSocket(loop, host.family, binding: nil)
            self.socket = socket
            prepare(socket)
            try socket.connect(to: host.socketAddress(0))
            let message = EchoMessage(
                sequence: 1,
                payload: [UInt8](repeating: 0x72, count: isLarge ? largest(socket) : EchoMessage.payloadCount))
            try socket.watch(for: .readable) { [weak self] _ in self?.receive() }
            try socket.send(message.request(host.family))
            let again = loop.schedule(at: SystemClock.boot + Self.repetition) { [weak socket] in
                try? socket?.send(message.request(host.family))
            }
            let deadline = loop.schedule(at: SystemClock.boot + DiagnosisRunner.Limit.ping) { [weak self] in
                self?.end(.silent)
            }
            timers = [again, deadline]
        } catch {
            let answer = PingAnswer(error)
            loop.afterEvents { [weak self] in self?.end(answer) }
        }
    }

    deinit { timers.forEach(loop.cancel) }

    private func prepare(_ socket: ProbeSocket) {
        let level = host.family.socketLevel
        if host.family == .ipv4 {
            socket.set(level, IP_RECVERR, 1)
            // Sets "do not fragment", and ignores what the kernel has learnt about the path.
            socket.set(level, IP_MTU_DISCOVER, IP_PMTUDISC_PROBE)
        } else {
            socket.set(level, IPV6_RECVERR, 1)
            socket.set(level, IPV6_MTU_DISCOVER, IPV6_PMTUDISC_PROBE)
        }
    }

    /// The payload that fills the first link; at most that of Ethernet, since larger frames are no one's business.
    private func largest(_ socket: ProbeSocket) -> Int {
        var bytes: CInt = 1500
        var length = socklen_t(MemoryLayout<CInt>.size)
        let isIPv4 = host.family == .ipv4
        getsockopt(socket.descriptor, host.family.socketLevel, isIPv4 ? IP_MTU : IPV6_MTU, &bytes, &length)
        return min(1500, max(576, Int(bytes))) - (isIPv4 ? Self.headers.ipv4 : Self.headers.ipv6)
    }

    private func receive() {
        guard let socket else { return }
        do throws(SystemError) {
            while let bytes = try socket.receive(2048) {
                // Some servers cut long payloads, so only the type and the number count.
                if EchoMessage.sequence(ofReply: bytes, host.family) == 1 { return end(.answered) }
            }
        } catch {
            end(PingAnswer(error))
        }
    }

    private func end(_ answer: PingAnswer) {
        guard socket != nil || timers.isEmpty else { return }
        socket = nil
        completion(answer)
    }
}

extension PingAnswer {
    fileprivate init(_ error: SystemError) {
        switch error.number {
        case EMSGSIZE: self = .tooLarge
        case EACCES where error.call == "socket", EPERM where error.call == "socket": self = .notPermitted
        case EHOSTUNREACH, ENETUNREACH, ECONNREFUSED, EACCES: self = .unreachable(error.number)
        default: self = .failed(error.number)
        }
    }
}
