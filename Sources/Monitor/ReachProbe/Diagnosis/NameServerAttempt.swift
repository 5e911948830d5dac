internal import CReachLinux
internal import Glibc
internal import ReachCore
internal import ReachLoop
internal import ReachRecords
internal import ReachTransfer

/// One question to one name server, by UDP or by TCP alone, and the same again while nothing comes.
final class NameServerAttempt: DiagnosisAttempt {
    private let question: NameServerQuestion
    private let loop: EventLoop
    private let completion: (NameServerAnswer) -> Void
    private var channels: [DNSChannel] = []
    private var timers: [TimerQueue.ID] = []
    private var endedCount = 0
    private var isOver = false

    /// The C library waits five seconds for a server (resolv.conf(5)).
    private static let patience = Duration.milliseconds(4700)
    /// A single lost datagram proves nothing. Each repetition has a port of its own, since each flow may take another
    /// of several ways; the earlier ones wait on, since a late answer is an answer.
    private static let repetitions = [Duration.zero, .milliseconds(400), .milliseconds(1200)]

    init(_ question: NameServerQuestion, _ loop: EventLoop, _ completion: @escaping (NameServerAnswer) -> Void) {
        self.question = question
        self.loop = loop
        self.completion = completion
        let started = SystemClock.boot
        timers = Self.repetitions.map { delay in
            loop.schedule(at: started + delay) { [weak self] in self?.ask(Self.patience - delay) }
        }
    }

    deinit {
        timers.forEach(loop.cancel)
        channels.forEach { $0.stop() }
    }

    private func ask(_ patience: Duration) {
        guard !isOver else { return }
        let host = question.server.host
        let place = channels.count
        let channel = DNSChannel(
            loop: loop, question: DNSChannel.Question(name: question.name, type: DNSType(question.family)),
            servers: [ResolverConfiguration.Server(host.address, port: question.server.port, zone: host.zone)],
            interface: nil, patience: patience, rounds: 1, isByTCP: question.isByTCP
        ) { [weak self] outcome in self?.end(outcome, ofPlace: place) }
        channels.append(channel)
    }

    private func end(_ outcome: DNSChannel.Outcome, ofPlace place: Int) {
        guard !isOver else { return }
        endedCount += 1
        // Hosts limit how many such errors they send, so that a later question may find silence.
        let isRefused = outcome == .silent && channels[place].lastError == ECONNREFUSED
        var answer = isRefused ? .refused : NameServerAnswer(outcome, question.family)
        guard answer != .silent || endedCount == Self.repetitions.count else { return }
        if answer == .silent, channels.contains(where: \.hasReceived) { answer = .unusable }
        let mayBeBlocked = answer == .refused || answer == .silent
        isOver = true
        let isOwn = mayBeBlocked && !question.isByTCP && Self.isForbidden(question.server)
        completion(isOwn ? .failed(EPERM) : answer)
    }

    /// Whether a firewall of this machine forbids questions to a server: sending a datagram fails then, whatever it
    /// reports in the server's name. An empty one says so as well.
    private static func isForbidden(_ server: NameServerAddress) -> Bool {
        let socket = reach_datagram_socket(server.host.family == .ipv4 ? AF_INET : AF_INET6)
        guard socket >= 0 else { return false }
        defer { close(socket) }
        let count = server.host.socketAddress(server.port).withPointer {
            sendto(socket, "", 0, CInt(MSG_NOSIGNAL), $0.assumingMemoryBound(to: sockaddr.self), $1)
        }
        return count < 0 && errno == EPERM
    }
}

extension NameServerAnswer {
    fileprivate init(_ outcome: DNSChannel.Outcome, _ family: IPAddress.Family) {
        switch outcome {
        case .reply(let reply):
            switch DNSAnswer(reply, family: family) {
            case .addresses(let addresses, _): self = .addresses(addresses)
            case .none: self = .noAddress
            case .noSuchName: self = .noSuchName
            case .failure(let code): self = .failure(code: code)
            }
        case .notAName: self = .noSuchName
        case .refused(let code): self = .failure(code: code)
        case .silent, .notAsked(0), .notAsked(EHOSTUNREACH), .notAsked(ETIMEDOUT): self = .silent
        case .notAsked(ECONNREFUSED), .notAsked(ECONNRESET): self = .refused
        case .notAsked(let number): self = .failed(number)
        }
    }
}
