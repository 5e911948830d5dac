internal import Glibc
internal import ReachCore
internal import ReachLoop
internal import ReachTransfer

/// One echo request by a ping socket, which needs no privilege but the group range that the administrator allows.
final class PingAttempt: ProbeAttempt {
    private let plan: ProbePlan
    private let runner: ProbeRunner
    private var completion: ProbeRunner.Completion?
    private let lookup: HostLookup
    private var socket: ProbeSocket?
    private var timer: TimerQueue.ID?
    private var phases = ProbePhases()
    private var address: IPAddress?
    private var sent: BootTime?

    /// SOL_IP and SOL_IPV6, which Glibc's module lacks.
    private static let levelIPv4: CInt = 0
    private static let levelIPv6: CInt = 41

    init(_ plan: ProbePlan, _ runner: ProbeRunner, _ completion: @escaping ProbeRunner.Completion) {
        self.plan = plan
        self.runner = runner
        self.completion = completion
        lookup = HostLookup(runner.resolver)
        timer = runner.loop.schedule(at: plan.deadline) { [weak self] in
            self?.timer = nil
            self?.finish(plan.timedOut)
        }
        // The completion comes later, whatever happens at once.
        runner.loop.afterEvents { [weak self] in self?.begin() }
    }

    func cancel() {
        completion = nil
        lookup.cancel()
        socket = nil
        timer.map(runner.loop.cancel)
        timer = nil
    }

    private func begin() {
        guard completion != nil, let host = plan.specification.target.host else { return }
        lookup.find(host, for: plan) { [weak self] answer in
            guard let self, completion != nil else { return }
            switch answer {
            case .success(let address): send(to: address)
            case .failure(let failure): finish(ProbeObservation.Ending(failure))
            }
        }
    }

    private func send(to address: IPAddress) {
        self.address = address
        phases[.resolve] = SystemClock.boot - plan.started.boot
        var random = SystemRandomNumberGenerator()
        let payload = (0..<EchoMessage.payloadCount).map { _ in UInt8.random(in: .min ... .max, using: &random) }
        let message = EchoMessage(sequence: plan.number, payload: payload)
        do throws(SystemError) {
            let socket = try ProbeSocket(runner.loop, address.family, binding: plan.binding)
            self.socket = socket
            // Otherwise what routers say in answer is not told.
            if address.family == .ipv4 { socket.set(Self.levelIPv4, IP_RECVERR, 1) }
            if address.family == .ipv6 { socket.set(Self.levelIPv6, IPV6_RECVERR, 1) }
            try socket.connect(
                to: SocketAddress(address: address, port: 0, scope: plan.specification.target.host?.scope ?? 0))
            try socket.watch(for: .readable) { [weak self] _ in self?.receive(message) }
            sent = SystemClock.boot
            try socket.send(message.request(address.family))
        } catch {
            finish(ending(of: error))
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
                phases[.processing] = sent.map { SystemClock.boot - $0 }
                return finish(.answered)
            }
        } catch {
            finish(ProbeObservation.Ending(systemError: error.number, "icmp"))
        }
    }

    private func finish(_ ending: ProbeObservation.Ending) {
        guard let completion else { return }
        cancel()
        var observation = plan.observation(ending, phases)
        observation.address = address
        completion(observation)
    }
}
