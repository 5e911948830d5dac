internal import CReachLinux
internal import Glibc
internal import ReachCore
internal import ReachLoop
internal import ReachTransfer

/// One question to one name server, by UDP or by TCP alone.
final class NameServerAttempt: DiagnosisAttempt {
    private var channel: DNSChannel?

    /// In three rounds, each twice as long: a single lost datagram proves nothing. By TCP the kernel repeats.
    private static let patience = Duration.milliseconds(400)
    private static let streamPatience = Duration.milliseconds(3200)

    init(_ question: NameServerQuestion, _ loop: EventLoop, _ completion: @escaping (NameServerAnswer) -> Void) {
        let host = question.server.host
        channel = DNSChannel(
            loop: loop, question: DNSChannel.Question(name: question.name, type: DNSType(question.family)),
            servers: [ResolverConfiguration.Server(host.address, port: question.server.port, zone: host.zone)],
            interface: nil, patience: question.isByTCP ? Self.streamPatience : Self.patience,
            rounds: question.isByTCP ? 1 : 3, isByTCP: question.isByTCP
        ) { [weak self] outcome in
            // Hosts limit how many such errors they send, so that a later question may find silence.
            let isRefused = outcome == .silent && self?.channel?.lastError == ECONNREFUSED
            var answer = isRefused ? .refused : NameServerAnswer(outcome, question.family)
            if answer == .silent, self?.channel?.hasReceived == true { answer = .unusable }
            let mayBeBlocked = answer == .refused || answer == .silent
            completion(mayBeBlocked && !question.isByTCP && Self.isForbidden(question.server) ? .failed(EPERM) : answer)
        }
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

    deinit { channel?.stop() }
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
