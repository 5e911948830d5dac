internal import Glibc
internal import ReachCore
internal import ReachLoop
internal import ReachTransfer

/// One echo request by a ping socket, which needs no privilege: only a group within net.ipv4.ping_group_range
/// (icmp(7)). If a host has several addresses, the next one gets a request where the one before has not answered yet
/// (``TransferTimeouts/nextAddressDelay``), or has failed; the first reply counts. The other
/// requests of a burst go to the address that replied.
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
    /// The requests to the address that was chosen, where one attempt sends several.
    private var burst: EchoBurst?
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
            self?.addFindings(to: &observation)
            self?.close()
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

    private func addFindings(to observation: inout ProbeObservation) {
        observation.address = address
        guard attempt.plan.specification.burst != nil else { return }
        let figures = burst?.figures ?? ProbeBurst(sent: echoes.count, answers: [])
        observation.burst = figures
        guard let median = figures.trips?.median else { return }
        // The time limit may end it, with answers and without.
        observation.ending = .answered
        observation.phases[.processing] = median
        observation.duration = (observation.phases[.resolve] ?? .zero) + median
    }

    private func close() {
        echoes = []
        burst = nil
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
        guard !others.isEmpty else { return beginBurst() }
        timer = attempt.runner.loop.schedule(at: SystemClock.boot + TransferTimeouts.nextAddressDelay) { [weak self] in
            self?.timer = nil
            self?.sendNext()
        }
    }

    /// Sends the other requests once one address is left.
    private func beginBurst() {
        guard others.isEmpty, echoes.count == 1, burst == nil, let count = attempt.plan.specification.burst else {
            return
        }
        let echo = echoes[0]
        burst = EchoBurst(
            echo.message, sent: echo.sent, by: echo.way, on: echo.socket, count: count, attempt.runner.loop
        ) { [weak self] in self?.attempt.finish(.answered) }
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
                if let burst {
                    burst.handle(bytes)
                    guard !attempt.isOver else { return }
                    continue
                }
                guard echo.message.isAnswered(by: bytes, way.address.family) else { continue }
                note(way)
                guard attempt.plan.specification.burst == nil else {
                    (others, echoes) = ([], [echo])
                    stopTimer()
                    beginBurst()
                    burst?.handle(bytes)
                    guard !attempt.isOver else { return }
                    continue
                }
                attempt.phases[.processing] = SystemClock.boot - echo.sent
                return attempt.finish(.answered)
            }
        } catch {
            // One lost request of several that are answered.
            if burst?.isAnswered == true { return }
            fail(ProbeObservation.Ending(systemError: error.number, "icmp"), at: way)
        }
    }

    /// Tries the next address, or ends the attempt if this was the last one.
    private func fail(_ ending: ProbeObservation.Ending, at way: TransferWay) {
        echoes.removeAll { $0.way == way }
        if !others.isEmpty { return sendNext() }
        guard echoes.isEmpty else { return beginBurst() }
        note(way)
        attempt.finish(ending)
    }
}
