internal import Glibc
package import ReachCore
package import ReachLoop

/// Resolves names to addresses without blocking.
///
/// ``NamePlan`` decides what is queried: the machine's files, the system's resolver on its threads, or name servers by
/// c-ares over the interface that a question is bound to. Answers are cached for their time to live, and only within
/// one epoch of the network. Confined to the loop's thread.
package final class NameService {
    package struct Options: Sendable {
        /// The longest time for a server's answer in the first round; it doubles in each round.
        package var patience: Duration = .seconds(1)
        /// How often each silent server is queried; `nil` until it had the time that resolv.conf(5) gives it.
        package var rounds: Int?
        /// How long the other family's answer is awaited once one family has an address (RFC 8305 section 3).
        package var resolutionDelay: Duration = .milliseconds(50)
        package var configurationPath = "/etc/resolv.conf"
        package var hostsPath = "/etc/hosts"
        package var servicesPath = "/etc/nsswitch.conf"
        /// Replaces the files; the system's resolver, which reads the files, is then not used.
        package var configuration: ResolverConfiguration?

        package init() {}
    }

    package typealias Completion = (Result<[IPAddress], NameFailure>) -> Void

    /// Chooses the interface for queries to a server, of a question that is bound to an interface: `nil` leaves it to
    /// routing. Throws where the server must not be queried.
    package typealias ServerRoute =
        (_ server: ResolverConfiguration.Server, _ bound: InterfaceBinding) throws(SystemError) -> InterfaceBinding?

    package struct ID: Hashable, Sendable {
        let rawValue: UInt64
    }

    /// A caller's question, and the outcomes so far.
    private final class Waiter {
        let question: NameQuestion
        let completion: Completion
        var limit: TimerQueue.ID?
        /// The running lookups.
        var keys: Set<AnswerCache.Key> = []
        /// The names that the servers are asked for, once they are asked, by these settings.
        var search: NameSearch?
        var configuration: ResolverConfiguration?
        /// What the servers answered about the present name.
        var outcomes: [FamilyOutcome] = []
        /// What the system answered.
        var systemOutcome: AddressLookupOutcome?
        var delay: TimerQueue.ID?
        /// Whether the name servers are queried, too: because the system failed, and they give the reason; or because
        /// it is busy or slow, and they may know the name.
        var asksServers = false
        /// Ends the patience with the system.
        var hedge: TimerQueue.ID?

        /// Whether an answer of servers about the present name is awaited.
        var awaitsServers: Bool { keys.contains { $0.type != nil } }

        /// The settings and the present name are another network's.
        func reset() {
            (keys, outcomes, search, configuration, systemOutcome) = ([], [], nil, nil, nil)
            asksServers = false
        }

        init(_ question: NameQuestion, _ completion: @escaping Completion) {
            self.question = question
            self.completion = completion
        }
    }

    /// How long the system's resolver is awaited before the name servers are queried, too. The C library waits for the
    /// answers about both families: with a server that never answers about one of them, for 10 s by default.
    private static let systemPatience = Duration.milliseconds(400)
    /// Whether the files have changed is looked at again when this much time has passed: a burst of questions needs one
    /// look, and who tries again after a failure has the next.
    private static let configurationLifetime = Duration.milliseconds(100)

    /// `nil` sends the queries of a bound question by its interface.
    package var route: ServerRoute?
    private let loop: EventLoop
    private let options: Options
    private let files = SerialThread.files
    private let system = SystemResolver()
    private let replies: LoopReplies
    private var configuration: (value: ResolverConfiguration, stamps: ResolverFiles.Stamps?, checkedAt: BootTime)?
    private var isReading = false
    private var waiters: [ID: Waiter] = [:]
    /// Questions that wait for the files.
    private var unstarted: [ID] = []
    private var lookups: [AnswerCache.Key: any AddressLookup] = [:]
    private var cache = AnswerCache()
    private var lastID: UInt64 = 0
    /// The server with which the next question begins, where the settings say so.
    private var rotation = Int.random(in: 0..<3)

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
    ///   - limit: How long it may take, with all servers.
    ///   - completion: Called once, later, unless it is cancelled: with at least one address, IPv6 and IPv4 in turn.
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
        unstarted.append(id)
        loop.afterEvents { [weak self] in self?.startPending() }
        return id
    }

    /// Cancels a question; its completion is not called.
    package func cancel(_ id: ID) {
        guard let waiter = waiters.removeValue(forKey: id) else { return }
        cancelTimers(of: waiter)
        stopUnwanted(waiter.keys)
    }

    /// Starts an epoch, on another network: drops the cache, and reads the files again.
    package func newEpoch() {
        cache.removeAll()
        configuration = nil
        // Open questions are answered by the new network.
        lookups.values.forEach { $0.stop() }
        lookups = [:]
        for (id, waiter) in waiters where !waiter.keys.isEmpty {
            waiter.reset()
            if let hedge = waiter.hedge { loop.cancel(hedge) }
            waiter.hedge = nil
            unstarted.append(id)
        }
        if !unstarted.isEmpty { loop.afterEvents { [weak self] in self?.startPending() } }
    }

    /// Reads the machine's name servers, in the order in which they are queried. Always calls back, later.
    package func findServers(_ completion: @escaping ([ResolverConfiguration.Server]) -> Void) {
        if let known = options.configuration { return loop.afterEvents { completion(known.servers) } }
        let reply = replies.expect { (value: ResolverConfiguration) in completion(value.servers) }
        files.run { [options] in
            reply(ResolverConfiguration(resolv: SmallFile.text(options.configurationPath) ?? "", hosts: ""))
        }
    }

    // MARK: - Configuration

    private func startPending() {
        guard !unstarted.isEmpty else { return }
        let now = SystemClock.boot
        let known =
            options.configuration
            ?? configuration.flatMap { configuration in
                now - configuration.checkedAt < Self.configurationLifetime ? configuration.value : nil
            }
        guard let known else { return readFiles() }
        let ids = unstarted
        unstarted = []
        for id in ids { ask(id, known) }
    }

    private func readFiles() {
        guard !isReading else { return }
        isReading = true
        let known = configuration
        let reply = replies.expect {
            [weak self] (read: (value: ResolverConfiguration, stamps: ResolverFiles.Stamps?)?) in
            guard let self else { return }
            isReading = false
            let now = SystemClock.boot
            if let read {
                configuration = (read.value, read.stamps, now)
            } else if let known {
                configuration = (known.value, known.stamps, now)
            }
            startPending()
        }
        files.run { [options, stamps = known?.stamps] in
            reply(
                ResolverFiles(
                    resolv: options.configurationPath, hosts: options.hostsPath, services: options.servicesPath
                ).read(unlike: stamps))
        }
    }

    // MARK: - Questions

    private func ask(_ id: ID, _ configuration: ResolverConfiguration) {
        guard let waiter = waiters[id] else { return }
        let question = waiter.question
        switch NamePlan(question, configuration) {
        case .known(let addresses): return finish(id, Self.result(addresses, question))
        case .system(let servesAlone) where !waiter.asksServers && options.configuration == nil:
            // Names with silent servers may occupy all its threads; other names do not wait for them.
            waiter.asksServers = !servesAlone && system.isBusy(for: question.owner)
            startLookup(question.host, nil, for: waiter, configuration)
            if waiter.asksServers {
                searchServers(for: waiter, configuration)
            } else if !servesAlone {
                waiter.hedge = loop.schedule(at: SystemClock.boot + Self.systemPatience) { [weak self] in
                    self?.askServers(id)
                }
            }
        case .system, .servers:
            guard !configuration.servers.isEmpty else {
                return finish(id, .failure(.serverFailure("\(question.host): no name server is configured")))
            }
            searchServers(for: waiter, configuration)
        }
        finishIfDecided(id, waiter)
    }

    /// Asks the servers for the first of the names that stand for the host.
    private func searchServers(for waiter: Waiter, _ configuration: ResolverConfiguration) {
        var settings = configuration
        if settings.options.rotates, !settings.servers.isEmpty {
            rotation = (rotation + 1) % settings.servers.count
            settings.servers = Array(settings.servers[rotation...] + settings.servers[..<rotation])
        }
        waiter.configuration = settings
        let host = waiter.question.host
        waiter.search = NameSearch(host, names: settings.candidates(for: host))
        askServers(for: waiter)
    }

    /// Asks the servers for the present name of a search.
    private func askServers(for waiter: Waiter) {
        guard let search = waiter.search, let configuration = waiter.configuration else { return }
        waiter.outcomes = []
        for family in waiter.question.families {
            if family == .ipv6, configuration.options.isWithoutIPv6 {
                note(.answer(.none(seconds: 0)), in: .ipv6, waiter)
            } else {
                startLookup(search.name, family, for: waiter, configuration)
            }
        }
    }

    /// Starts a lookup for a family, or, for `nil`, one of the system's resolver.
    private func startLookup(
        _ name: String, _ family: IPAddress.Family?, for waiter: Waiter, _ configuration: ResolverConfiguration
    ) {
        let key = AnswerCache.Key(
            name: name.lowercased(), type: family.map { DNSType($0) },
            interface: family == nil ? nil : waiter.question.interface)
        if let answer = cache.answer(for: key, at: SystemClock.boot) {
            return note(.answer(answer), in: family, waiter)
        }
        waiter.keys.insert(key)
        if lookups[key] == nil { lookups[key] = lookup(key, family, waiter.question, configuration) }
    }

    /// - Parameter family: `nil` for the system's answer.
    private func note(_ outcome: AddressLookupOutcome, in family: IPAddress.Family?, _ waiter: Waiter) {
        guard let family else { return waiter.systemOutcome = outcome }
        waiter.outcomes.append(FamilyOutcome(family: family, outcome: outcome))
    }

    private func lookup(
        _ key: AnswerCache.Key, _ family: IPAddress.Family?, _ question: NameQuestion,
        _ configuration: ResolverConfiguration
    ) -> any AddressLookup {
        guard let family else {
            return SystemLookup(key.name, for: question.owner, resolver: system, replies: replies) { [weak self] in
                self?.lookupEnded(key, $0)
            }
        }
        return ServerLookup(
            key.name, family, key.interface, servers: configuration.servers, configuration.options, route: route,
            loop: loop, options: options
        ) { [weak self] in self?.lookupEnded(key, $0) }
    }

    private func lookupEnded(_ key: AnswerCache.Key, _ outcome: AddressLookupOutcome) {
        lookups[key] = nil
        if case .answer(let answer) = outcome { cache.add(answer, for: key, at: SystemClock.boot) }
        for (id, waiter) in waiters where waiter.keys.remove(key) != nil {
            if key.type == nil, case .silent = outcome, !waiter.asksServers, mayAskServers(waiter.question) {
                waiter.asksServers = true
                unstarted.append(id)
            } else {
                note(outcome, in: key.type.map { $0 == .aaaa ? .ipv6 : .ipv4 }, waiter)
                finishIfDecided(id, waiter)
            }
        }
        startPending()
    }

    /// Queries the name servers of a name for which the system takes long.
    private func askServers(_ id: ID) {
        guard let waiter = waiters[id], !waiter.asksServers, mayAskServers(waiter.question) else { return }
        waiter.hedge = nil
        waiter.asksServers = true
        unstarted.append(id)
        startPending()
    }

    private func mayAskServers(_ question: NameQuestion) -> Bool {
        guard let configuration = configuration?.value else { return false }
        return NamePlan(question, configuration) == .system(servesAlone: false)
    }

    /// Finishes a question where its outcomes suffice, and otherwise asks the servers for the next name.
    private func finishIfDecided(_ id: ID, _ waiter: Waiter) {
        let system = waiter.systemOutcome.map { [$0] } ?? []
        var verdict = NameVerdict(system + waiter.outcomes.map(\.outcome))
        while verdict.addresses.isEmpty, advance(waiter) {
            verdict = NameVerdict(system + waiter.outcomes.map(\.outcome))
        }
        guard waiter.keys.isEmpty || !verdict.addresses.isEmpty else { return }
        if waiter.keys.isEmpty {
            if verdict.addresses.isEmpty { verdict = NameVerdict(system + (waiter.search?.outcomes ?? [])) }
            return finish(id, Self.result(verdict, waiter.question))
        }
        guard waiter.delay == nil else { return }
        waiter.delay = loop.schedule(at: SystemClock.boot + options.resolutionDelay) { [weak self] in
            self?.finish(id, Self.result(verdict, waiter.question))
        }
    }

    /// Goes to the next name where the servers have no address of the present one.
    ///
    /// - Returns: Whether there is one. Its answers may already be known.
    private func advance(_ waiter: Waiter) -> Bool {
        guard !waiter.awaitsServers, var search = waiter.search else { return false }
        let hasNext = search.advance(after: waiter.outcomes)
        waiter.search = search
        // The system has tried all names itself.
        if case .answer? = waiter.systemOutcome { return false }
        if hasNext { askServers(for: waiter) }
        return hasNext
    }

    private func finish(_ id: ID, _ result: Result<[IPAddress], NameFailure>) {
        guard let waiter = waiters.removeValue(forKey: id) else { return }
        cancelTimers(of: waiter)
        stopUnwanted(waiter.keys)
        waiter.completion(result)
    }

    private func cancelTimers(of waiter: Waiter) {
        for timer in [waiter.limit, waiter.delay, waiter.hedge] {
            if let timer { loop.cancel(timer) }
        }
    }

    private func stopUnwanted(_ keys: Set<AnswerCache.Key>) {
        for key in keys where !waiters.values.contains(where: { $0.keys.contains(key) }) {
            lookups.removeValue(forKey: key)?.stop()
        }
    }
}
