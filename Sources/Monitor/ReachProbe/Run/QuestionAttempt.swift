internal import Glibc
internal import ReachCore
internal import ReachLoop
internal import ReachTransfer

/// One question to one name server: by UDP, and by TCP if the answer is too long for a datagram. It is never repeated,
/// since a lost datagram is what a probe has to detect.
final class QuestionAttempt: ProbeAttempt {
    private let attempt: SocketAttempt
    private let question: ProbeTarget.Question
    private var channel: DNSChannel?
    private var server: ResolverConfiguration.Server?
    private var reply: DNSReply?

    init(
        _ plan: ProbePlan, _ question: ProbeTarget.Question, _ runner: ProbeRunner,
        _ completion: @escaping ProbeRunner.Completion
    ) {
        self.question = question
        attempt = SocketAttempt(plan, runner, completion)
        attempt.begin { [weak self] in
            self?.complete(&$0)
        } _: { [weak self] in
            self?.begin()
        }
    }

    func cancel() {
        attempt.cancel()
        close()
    }

    private func close() {
        channel?.stop()
        channel = nil
    }

    private func begin() {
        let target = attempt.plan.specification.target
        guard let host = target.host else {
            return attempt.runner.resolver.findServers { [weak self] servers in
                guard let self, !attempt.isOver, let first = servers.first else { return }
                ask(first, route: attempt.runner.resolver.route)
            }
        }
        attempt.find(host) { [weak self] address in
            var zone: String?
            if case .address(_, let named) = host { zone = named }
            self?.ask(ResolverConfiguration.Server(address, port: target.port, zone: zone))
        }
    }

    /// - Parameter route: `nil` where the server itself is the target.
    private func ask(_ server: ResolverConfiguration.Server, route: NameService.ServerRoute? = nil) {
        self.server = server
        let started = SystemClock.boot
        channel = DNSChannel(
            loop: attempt.runner.loop,
            question: DNSChannel.Question(name: question.name, type: question.type.number), servers: [server],
            interface: attempt.plan.binding, route: route, patience: attempt.plan.specification.effectiveTimeout,
            rounds: 1
        ) { [weak self] outcome in
            guard let self else { return }
            switch outcome {
            case .reply(let reply):
                self.reply = reply
                attempt.phases[.processing] = SystemClock.boot - started
                attempt.finish(.answered)
            case .notAName: attempt.finish(.failed(.protocolError, "'\(question.name)' is no name"))
            case .notAsked(let number):
                attempt.finish(ProbeObservation.Ending(systemError: number, "\(server.address)"))
            // Never `.refused` here: a refusal by the only server arrives as a reply.
            case .silent, .refused: attempt.finish(attempt.plan.timedOut)
            }
        }
    }

    private func complete(_ observation: inout ProbeObservation) {
        close()
        observation.address = server?.address
        observation.responseCode = reply?.code
        observation.answers = reply?.texts(question.type.number) ?? []
    }
}

extension DNSRecordType {
    fileprivate var number: DNSType {
        switch self {
        case .a: .a
        case .aaaa: .aaaa
        case .cname: .cname
        case .mx: .mx
        case .ns: .ns
        case .ptr: .ptr
        case .srv: .srv
        case .txt: .txt
        }
    }
}
