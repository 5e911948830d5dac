internal import Glibc
internal import ReachCore
internal import ReachLoop
internal import ReachTransfer

/// One question to one name server, by a datagram, and by TCP where the answer does not fit into one. Nothing is asked twice:
/// that a datagram was lost is what a probe is to find out.
final class QuestionAttempt: ProbeAttempt {
    private let course: AttemptCourse
    private let question: ProbeTarget.Question
    private var exchange: DNSExchange?
    private var server: ResolverConfiguration.Server?
    private var asked: BootTime?
    private var response: DNSResponse?

    init(
        _ plan: ProbePlan, _ question: ProbeTarget.Question, _ runner: ProbeRunner,
        _ completion: @escaping ProbeRunner.Completion
    ) {
        self.question = question
        course = AttemptCourse(plan, runner, completion)
        course.begin { [weak self] in
            self?.settle(&$0)
        } _: { [weak self] in
            self?.begin()
        }
    }

    func cancel() {
        course.cancel()
        close()
    }

    private func close() {
        exchange?.close()
        exchange = nil
    }

    private func begin() {
        let target = course.plan.specification.target
        guard let host = target.host else {
            return course.runner.resolver.findServers { [weak self] servers in
                guard let self, !course.isOver, let first = servers.first else { return }
                ask(first)
            }
        }
        course.find(host) { [weak self] address in
            var zone: String?
            if case .address(_, let named) = host { zone = named }
            self?.ask(ResolverConfiguration.Server(address, port: target.port, zone: zone))
        }
    }

    private func ask(_ server: ResolverConfiguration.Server) {
        guard let name = DNSName(question.name) else {
            return course.finish(.failed(.protocolError, "'\(question.name)' is no name"))
        }
        self.server = server
        asked = SystemClock.boot
        let query = DNSQuery(id: .random(in: .min ... .max), name: name, type: question.type.number)
        send(query, to: server, by: .datagram)
    }

    private func send(_ query: DNSQuery, to server: ResolverConfiguration.Server, by transport: DNSExchange.Transport) {
        exchange = DNSExchange(
            loop: course.runner.loop, query: query, server: server, interface: course.plan.binding, transport: transport
        ) { [weak self] outcome in
            guard let self else { return }
            switch outcome {
            case .failed(let number): course.finish(ProbeObservation.Ending(systemError: number, "\(server.address)"))
            case .response(let response):
                guard !response.isTruncated || transport == .stream else {
                    return send(query, to: server, by: .stream)
                }
                self.response = response
                course.phases[.processing] = asked.map { SystemClock.boot - $0 }
                course.finish(.answered)
            }
        }
    }

    private func settle(_ observation: inout ProbeObservation) {
        close()
        observation.address = server?.address
        observation.responseCode = response?.code
        let type = question.type.number
        observation.answers = response?.answers.filter { $0.type == type }.map(\.text) ?? []
    }
}
