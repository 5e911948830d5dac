internal import Glibc
internal import ReachCore
internal import ReachLoop
internal import ReachTransfer

/// One question to one name server, by a datagram, and by TCP where the answer does not fit into one. Nothing is asked twice:
/// that a datagram was lost is what a probe is to find out.
final class QuestionAttempt: ProbeAttempt {
    private let course: AttemptCourse
    private let question: ProbeTarget.Question
    private var channel: DNSChannel?
    private var server: ResolverConfiguration.Server?
    private var reply: DNSReply?

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
        channel?.stop()
        channel = nil
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
        self.server = server
        let started = SystemClock.boot
        channel = DNSChannel(
            loop: course.runner.loop,
            question: DNSChannel.Question(name: question.name, type: question.type.number), servers: [server],
            interface: course.plan.binding, patience: course.plan.specification.effectiveTimeout, rounds: 1
        ) { [weak self] outcome in
            guard let self else { return }
            switch outcome {
            case .reply(let reply):
                self.reply = reply
                course.phases[.processing] = SystemClock.boot - started
                course.finish(.answered)
            case .notAName: course.finish(.failed(.protocolError, "'\(question.name)' is no name"))
            case .notAsked(let number): course.finish(ProbeObservation.Ending(systemError: number, "\(server.address)"))
            // A single server's refusal is a reply.
            case .silent, .refused: course.finish(course.plan.timedOut)
            }
        }
    }

    private func settle(_ observation: inout ProbeObservation) {
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
