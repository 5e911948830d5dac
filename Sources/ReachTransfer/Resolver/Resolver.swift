internal import Glibc
package import ReachCore
package import ReachLoop

/// Asks name servers for addresses, from one interface where that is wanted, and never waits for them.
///
/// The system's resolver is not used: getaddrinfo(3) blocks a thread for each name, asks over whatever interface routing
/// prefers, and cannot be cancelled. /etc/hosts and the servers of /etc/resolv.conf are read; NSS modules, search lists
/// and multicast DNS are not used. Confined to the loop's thread.
package final class Resolver {
    package struct Options: Sendable {
        /// How long a server has for its answer in the first round; twice that in the second, and so on.
        package var patience: Duration = .seconds(1)
        /// How often each server is asked.
        package var rounds = 3
        package var configurationPath = "/etc/resolv.conf"
        package var hostsPath = "/etc/hosts"
        /// These instead of what the files say.
        package var configuration: ResolverConfiguration?

        package init() {}
    }

    package typealias Completion = (Result<[IPAddress], NameFailure>) -> Void

    package struct ID: Hashable, Sendable {
        let rawValue: UInt64
    }

    /// Somebody who asked, and the answers that are there so far.
    private final class Waiter {
        let question: NameQuestion
        let completion: Completion
        var limit: TimerQueue.ID?
        /// What is still asked for.
        var keys: Set<AnswerCache.Key> = []
        var outcomes: [DNSLookup.Outcome] = []
        var delay: TimerQueue.ID?

        init(_ question: NameQuestion, _ completion: @escaping Completion) {
            self.question = question
            self.completion = completion
        }
    }

    /// An IPv6 address is waited for so long where there is an IPv4 one, and the other way round (RFC 8305 section 3).
    private static let resolutionDelay = Duration.milliseconds(50)
    /// What the files say is read again when it is this old.
    private static let configurationLifetime = Duration.seconds(5)

    private let loop: EventLoop
    private let options: Options
    private let files = FileThread()
    private let replies: LoopReplies
    private var configuration: (value: ResolverConfiguration, readAt: BootTime)?
    private var isReading = false
    private var waiters: [ID: Waiter] = [:]
    /// Those that wait for the files.
    private var unasked: [ID] = []
    private var lookups: [AnswerCache.Key: DNSLookup] = [:]
    private var cache = AnswerCache()
    private var lastID: UInt64 = 0

    package init(loop: EventLoop, options: Options = Options()) {
        self.loop = loop
        self.options = options
        replies = LoopReplies(loop: loop)
    }

    deinit {
        for waiter in waiters.values { cancelTimers(of: waiter) }
        lookups.values.forEach { $0.stop() }
    }

    /// - Parameters:
    ///   - limit: How long it may take, all servers together.
    ///   - completion: Called once, later, unless it is cancelled: with one address at least, IPv6 and IPv4 in turn.
    package func resolve(
        _ question: NameQuestion, within limit: Duration, completion: @escaping Completion
    ) -> ID {
        lastID += 1
        let id = ID(rawValue: lastID)
        let waiter = Waiter(question, completion)
        waiter.limit = loop.schedule(at: SystemClock.boot + limit) { [weak self] in
            self?.finish(id, .failure(.silent("\(question.host): no name server answered in time")))
        }
        waiters[id] = waiter
        unasked.append(id)
        loop.afterEvents { [weak self] in self?.askUnasked() }
        return id
    }

    /// Its completion is not called.
    package func cancel(_ id: ID) {
        guard let waiter = waiters.removeValue(forKey: id) else { return }
        cancelTimers(of: waiter)
        stopUnwanted(waiter.keys)
    }

    /// What was answered before does not hold any more, and the files are read again.
    package func newEpoch() {
        cache.removeAll()
        configuration = nil
        // Whoever waits, waits for an answer of the new network.
        lookups.values.forEach { $0.stop() }
        lookups = [:]
        for (id, waiter) in waiters where !waiter.keys.isEmpty {
            waiter.keys = []
            waiter.outcomes = []
            unasked.append(id)
        }
        if !unasked.isEmpty { loop.afterEvents { [weak self] in self?.askUnasked() } }
    }

    /// Tells which name servers the machine has, in the order in which they are asked: later, and never not at all.
    package func findServers(_ completion: @escaping ([ResolverConfiguration.Server]) -> Void) {
        if let known = options.configuration { return loop.afterEvents { completion(known.servers) } }
        let reply = replies.expect { (value: ResolverConfiguration) in completion(value.servers) }
        files.run { [options] in
            reply(ResolverConfiguration(resolv: SmallFile.text(options.configurationPath), hosts: ""))
        }
    }

    // MARK: - Configuration

    private func askUnasked() {
        guard !unasked.isEmpty else { return }
        let now = SystemClock.boot
        let known =
            options.configuration
            ?? configuration.flatMap { configuration in
                now - configuration.readAt < Self.configurationLifetime ? configuration.value : nil
            }
        guard let known else { return readFiles() }
        let ids = unasked
        unasked = []
        for id in ids { ask(id, known) }
    }

    private func readFiles() {
        guard !isReading else { return }
        isReading = true
        let reply = replies.expect { [weak self] (value: ResolverConfiguration) in
            guard let self else { return }
            isReading = false
            configuration = (value, SystemClock.boot)
            askUnasked()
        }
        files.run { [options] in
            reply(
                ResolverConfiguration(
                    resolv: SmallFile.text(options.configurationPath), hosts: SmallFile.text(options.hostsPath)))
        }
    }

    // MARK: - Questions

    private func ask(_ id: ID, _ configuration: ResolverConfiguration) {
        guard let waiter = waiters[id] else { return }
        let question = waiter.question
        let families = question.family.map { [$0] } ?? [.ipv6, .ipv4]
        if let known = configuration.addresses(of: question.host) {
            return finish(id, Self.result(known.filter { families.contains($0.family) }, question))
        }
        guard let name = DNSName(question.host), !name.labels.isEmpty else {
            return finish(id, .failure(.notFound("'\(question.host)' is not a name")))
        }
        guard !configuration.servers.isEmpty else {
            return finish(id, .failure(.serverFailure("\(question.host): no name server is configured")))
        }
        let now = SystemClock.boot
        for family in families {
            let key = AnswerCache.Key(name: name, type: DNSType(family), interface: question.interface)
            if let answer = cache.answer(for: key, at: now) {
                waiter.outcomes.append(.answer(answer))
            } else {
                waiter.keys.insert(key)
            }
        }
        for key in waiter.keys where lookups[key] == nil {
            lookups[key] = DNSLookup(key, servers: configuration.servers, loop: loop, options: options) {
                [weak self] in self?.ended(key, $0)
            }
        }
        judge(id, waiter)
    }

    private func ended(_ key: AnswerCache.Key, _ outcome: DNSLookup.Outcome) {
        lookups[key] = nil
        if case .answer(let answer) = outcome { cache.add(answer, for: key, at: SystemClock.boot) }
        for (id, waiter) in waiters where waiter.keys.remove(key) != nil {
            waiter.outcomes.append(outcome)
            judge(id, waiter)
        }
    }

    /// Finishes a question when it can be.
    private func judge(_ id: ID, _ waiter: Waiter) {
        let verdict = NameVerdict(waiter.outcomes)
        if waiter.keys.isEmpty || verdict.isFinal { return finish(id, Self.result(verdict, waiter.question)) }
        guard !verdict.addresses.isEmpty, waiter.delay == nil else { return }
        waiter.delay = loop.schedule(at: SystemClock.boot + Self.resolutionDelay) { [weak self] in
            self?.finish(id, Self.result(verdict, waiter.question))
        }
    }

    private func finish(_ id: ID, _ result: Result<[IPAddress], NameFailure>) {
        guard let waiter = waiters.removeValue(forKey: id) else { return }
        cancelTimers(of: waiter)
        stopUnwanted(waiter.keys)
        waiter.completion(result)
    }

    private func cancelTimers(of waiter: Waiter) {
        for timer in [waiter.limit, waiter.delay] {
            if let timer { loop.cancel(timer) }
        }
    }

    private func stopUnwanted(_ keys: Set<AnswerCache.Key>) {
        for key in keys where !waiters.values.contains(where: { $0.keys.contains(key) }) {
            lookups.removeValue(forKey: key)?.stop()
        }
    }
}
