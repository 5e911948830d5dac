internal import Glibc
internal import ReachCore
internal import ReachLoop
internal import ReachTransfer

/// One echo request by a ping socket, which needs no privilege: only a group within net.ipv4.ping_group_range
/// (icmp(7)). If a host has several addresses, the next one gets a request where the one before has not answered yet
/// (``TransferTimeouts/nextAddressDelay``), or has failed; the first reply counts.
final class PingAttempt: ProbeAttempt {
    /// A request that was sent and not answered.
    private struct Echo {
        let way: TransferWay
        let socket: ProbeSocket
        let message: EchoMessage
        var sent = SystemClock.boot
    }

    private let attempt: SocketAttempt
    private var echoes: [Echo] = []
    /// The addresses that have got no request.
    private var others: [TransferWay] = []
    private var timer: TimerQueue.ID?
    /// The address of the last event.
    private var address: IPAddress?

    /// SOL_IP and SOL_IPV6, which Glibc's module lacks.
    private static let levelIPv4: CInt = 0
    private static let levelIPv6: CInt = 41
    /// More addresses than this get no request.
    private static let addressLimit = 8

    init(_ plan: ProbePlan, _ runner: ProbeRunner, _ completion: @escaping ProbeRunner.Completion) {
        attempt = SocketAttempt(plan, runner, completion)
        attempt.begin { [weak self] observation in
            self?.close()
            observation.address = self?.address
        } _: { [weak self] in
            guard let self, let host = plan.specification.target.host else { return }
            attempt.findAll(host) { [weak self] ways in
                self?.others = Array(ways.prefix(Self.addressLimit))
                self?.sendNext()
            }
        }
    }

    deinit { stopTimer() }

    func cancel() {
        attempt.cancel()
        close()
    }

    private func close() {
        echoes = []
        others = []
        stopTimer()
    }

    private func stopTimer() {
        if let timer { attempt.runner.loop.cancel(timer) }
        timer = nil
    }

    private func sendNext() {
        stopTimer()
        guard !others.isEmpty else { return }
        let way = others.removeFirst()
        if echoes.isEmpty { note(way) }
        do throws(SystemError) {
            echoes.append(try send(by: way))
        } catch {
            return fail(ending(of: error), at: way)
        }
        guard !others.isEmpty else { return }
        timer = attempt.runner.loop.schedule(at: SystemClock.boot + TransferTimeouts.nextAddressDelay) { [weak self] in
            self?.timer = nil
            self?.sendNext()
        }
    }

    private func note(_ way: TransferWay) {
        address = way.address
        attempt.use(way)
    }

    private func send(by way: TransferWay) throws(SystemError) -> Echo {
        let (plan, family) = (attempt.plan, way.address.family)
        let message = EchoMessage.unguessable(plan.number)
        let scope = try plan.specification.target.host?.scope ?? 0
        let socket = try ProbeSocket(attempt.runner.loop, family, binding: way.interface)
        // Without it the kernel does not report the ICMP errors that routers send back.
        if family == .ipv4 { socket.set(Self.levelIPv4, IP_RECVERR, 1) }
        if family == .ipv6 { socket.set(Self.levelIPv6, IPV6_RECVERR, 1) }
        try socket.connect(to: SocketAddress(address: way.address, port: 0, scope: scope))
        try socket.watch(for: .readable) { [weak self] _ in self?.receive(from: way) }
        let sent = SystemClock.boot
        try socket.send(message.request(family))
        return Echo(way: way, socket: socket, message: message, sent: sent)
    }

    private func ending(of error: SystemError) -> ProbeObservation.Ending {
        guard error.call == "socket", error.number == EACCES || error.number == EPERM else {
            return ProbeObservation.Ending(systemError: error.number, error.call)
        }
        return .doubtful(
            .notPermitted,
            "ping sockets are not allowed: the sysctl net.ipv4.ping_group_range must include group \(getegid())")
    }

    private func receive(from way: TransferWay) {
        guard let echo = echoes.first(where: { $0.way == way }) else { return }
        do throws(SystemError) {
            while let bytes = try echo.socket.receive(2048) {
                guard echo.message.isAnswered(by: bytes, way.address.family) else { continue }
                attempt.phases[.processing] = SystemClock.boot - echo.sent
                note(way)
                return attempt.finish(.answered)
            }
        } catch {
            fail(ProbeObservation.Ending(systemError: error.number, "icmp"), at: way)
        }
    }

    /// Tries the next address, or ends the attempt if this was the last one.
    private func fail(_ ending: ProbeObservation.Ending, at way: TransferWay) {
        echoes.removeAll { $0.way == way }
        if !others.isEmpty { return sendNext() }
        guard echoes.isEmpty else { return }
        note(way)
        attempt.finish(ending)
    }
}
