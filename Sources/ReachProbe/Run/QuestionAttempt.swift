internal import Glibc
internal import ReachCore
internal import ReachLoop
internal import ReachTransfer

/// One question to one name server, by a datagram, and by TCP where the answer does not fit into one. Nothing is asked twice:
/// that a datagram was lost is what a probe is to find out.
final class QuestionAttempt: ProbeAttempt {
    private let plan: ProbePlan
    private let question: ProbeTarget.Question
    private let runner: ProbeRunner
    private var completion: ProbeRunner.Completion?
    private let lookup: HostLookup
    private var exchange: DNSExchange?
    private var timer: TimerQueue.ID?
    private var phases = ProbePhases()
    private var server: ResolverConfiguration.Server?
    private var asked: BootTime?

    init(
        _ plan: ProbePlan, _ question: ProbeTarget.Question, _ runner: ProbeRunner,
        _ completion: @escaping ProbeRunner.Completion
    ) {
        self.plan = plan
        self.question = question
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
        exchange?.close()
        exchange = nil
        timer.map(runner.loop.cancel)
        timer = nil
    }

    private func begin() {
        guard completion != nil else { return }
        let target = plan.specification.target
        guard let host = target.host else {
            return runner.resolver.findServers { [weak self] servers in
                guard let self, completion != nil, let first = servers.first else { return }
                ask(first)
            }
        }
        lookup.find(host, for: plan) { [weak self] answer in
            guard let self, completion != nil else { return }
            switch answer {
            case .success(let address):
                var zone: String?
                if case .address(_, let named) = host { zone = named }
                phases[.resolve] = SystemClock.boot - plan.started.boot
                ask(ResolverConfiguration.Server(address, port: target.port, zone: zone))
            case .failure(let failure): finish(ProbeObservation.Ending(failure))
            }
        }
    }

    private func ask(_ server: ResolverConfiguration.Server) {
        guard let name = DNSName(question.name) else {
            return finish(.failed(.protocolError, "'\(question.name)' is no name"))
        }
        self.server = server
        asked = SystemClock.boot
        let query = DNSQuery(id: .random(in: .min ... .max), name: name, type: question.type.number)
        send(query, to: server, by: .datagram)
    }

    private func send(_ query: DNSQuery, to server: ResolverConfiguration.Server, by transport: DNSExchange.Transport) {
        exchange = DNSExchange(
            loop: runner.loop, query: query, server: server, interface: plan.binding, transport: transport
        ) { [weak self] outcome in
            guard let self else { return }
            switch outcome {
            case .failed(let number): finish(ProbeObservation.Ending(systemError: number, "\(server.address)"))
            case .response(let response):
                guard !response.isTruncated || transport == .stream else {
                    return send(query, to: server, by: .stream)
                }
                finish(.answered, response)
            }
        }
    }

    private func finish(_ ending: ProbeObservation.Ending, _ response: DNSResponse? = nil) {
        guard let completion else { return }
        if response != nil { phases[.processing] = asked.map { SystemClock.boot - $0 } }
        cancel()
        var observation = plan.observation(ending, phases)
        observation.address = server?.address
        observation.responseCode = response?.code
        let type = question.type.number
        observation.answers = response?.answers.filter { $0.type == type }.map(\.text) ?? []
        completion(observation)
    }
}
