internal import ReachCore
internal import ReachLoop

/// One running lookup, whose outcome many callers may await. Confined to the loop.
protocol AddressLookup: AnyObject {
    /// Stops it; its completion is not called.
    func stop()
}

enum AddressLookupOutcome {
    case answer(DNSAnswer)
    /// Not a valid DNS name.
    case notAName
    /// No server answered, in all rounds.
    case silent
    /// No server could be queried: `errno`.
    case notAsked(CInt)
}

/// Queries name servers for a family's addresses. As the C library does, it asks all again where all that answered
/// failed.
final class ServerLookup: AddressLookup {
    private var channel: DNSChannel?
    private let open: (@escaping (DNSChannel.Outcome) -> Void) -> DNSChannel
    private let family: IPAddress.Family
    private let completion: (AddressLookupOutcome) -> Void
    private var attempts: Int

    init(
        _ name: String, _ family: IPAddress.Family, _ interface: InterfaceBinding?,
        servers: [ResolverConfiguration.Server], _ resolver: ResolverConfiguration.Options,
        route: NameService.ServerRoute?, loop: EventLoop, options: NameService.Options,
        completion: @escaping (AddressLookupOutcome) -> Void
    ) {
        let rounds = options.rounds.map { (patience: options.patience, count: $0) }
        // By TCP the kernel repeats, and c-ares asks each server once.
        let total = (patience: resolver.timeout * resolver.attempts, count: 1)
        let plan = rounds ?? (resolver.isByTCP ? total : resolver.rounds(longest: options.patience))
        open = { ended in
            DNSChannel(
                loop: loop, question: DNSChannel.Question(name: name, type: DNSType(family)), servers: servers,
                interface: interface, route: route, patience: plan.patience, rounds: plan.count,
                isByTCP: resolver.isByTCP, hasExtensions: resolver.hasExtensions, completion: ended)
        }
        (self.family, self.completion) = (family, completion)
        attempts = resolver.attempts
        ask()
    }

    func stop() { channel?.stop() }

    private func ask() {
        attempts -= 1
        channel = open { [unowned self] in end($0) }
    }

    private func end(_ outcome: DNSChannel.Outcome) {
        switch outcome {
        case .reply(let reply) where reply.isFailure && attempts > 0: ask()
        case .refused where attempts > 0 && channel?.isRefusedByAll == true: ask()
        case .reply(let reply): completion(.answer(DNSAnswer(reply, family: family)))
        case .refused(let code): completion(.answer(.failure(code: code)))
        case .notAName: completion(.notAName)
        case .silent: completion(.silent)
        case .notAsked(let number): completion(.notAsked(number))
        }
    }
}

/// Queries the system's resolver for the addresses of both families.
final class SystemLookup: AddressLookup {
    /// How long its answers are kept: the system gives no time to live. Enough for a burst of requests to one host.
    private static let seconds: UInt32 = 5

    private let resolver: SystemResolver
    private var id: SystemResolver.ID?
    private var completion: ((AddressLookupOutcome) -> Void)?

    init(
        _ name: String, for owner: UInt32?, resolver: SystemResolver, replies: LoopReplies,
        completion: @escaping (AddressLookupOutcome) -> Void
    ) {
        self.resolver = resolver
        self.completion = completion
        let reply = replies.expect { [weak self] (answer: NameAnswer) in self?.end(answer) }
        id = resolver.resolve(name, for: owner, completion: reply)
    }

    func stop() {
        completion = nil
        if let id { resolver.cancel(id) }
        id = nil
    }

    private func end(_ answer: NameAnswer) {
        id = nil
        let completion = completion
        self.completion = nil
        switch answer {
        case .addresses(let found): completion?(.answer(.addresses(found, seconds: Self.seconds)))
        case .noAddress: completion?(.answer(.noSuchName(seconds: 0)))
        case .notAsked: completion?(.silent)
        }
    }
}
