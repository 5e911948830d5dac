internal import ReachCore
internal import ReachLoop
internal import ReachKernel
internal import ReachTransfer

/// One check of a path: sends requests to all endpoints at the same time, and combines the answers. Confined to the
/// loop's thread.
///
/// Names are resolved again each time, since cached answers would hide that name servers are silent now.
final class ValidationRound {
    struct Outcome {
        let result: ValidationResult
        /// Whether HTTPS proved the Internet.
        let isSecure: Bool
        let bytes: Int
        let remotes: [TrafficQuestion.Remote]
        /// Where endpoints gave the expected answer, by their URL.
        let pages: [String: IPAddress]
        /// Whether an endpoint whose name was not resolved answered at the address that it had before.
        let isAnswered: Bool
        /// The shortest time in which a server answered the first packet; `nil` if none did.
        let roundTrip: Duration?
        /// The shortest time in which a name server answered; `nil` if none did.
        let nameTime: Duration?
    }

    private let loop: EventLoop
    private let resolver: NameService
    private var attempts: [EndpointAttempt] = []
    /// The endpoints that have not answered yet.
    private var awaited: [ConnectivityEndpoint]
    private var findings: [(finding: EndpointFinding, isSecure: Bool)] = []
    private var bytes = 0
    private var remotes: [TrafficQuestion.Remote] = []
    private var pages: [String: IPAddress] = [:]
    private var isAnswered = false
    private var roundTrip: Duration?
    private var nameTime: Duration?
    private var limit: TimerQueue.ID?
    private var patience: TimerQueue.ID?
    private var completion: ((Outcome) -> Void)?

    /// - Parameters:
    ///   - known: Where endpoints gave the expected answer before, by their URL.
    ///   - resolverOptions: Options of the round's own resolver, whose cache is empty.
    ///   - limit: Time for the round, name resolution included. Endpoints that have not answered by then count as
    ///     silent.
    ///   - completion: Called once, after this returns, unless the round is cancelled.
    init(
        _ endpoints: [ConnectivityEndpoint], by route: DefaultRoute, _ proxies: TransferProxies,
        known: [String: IPAddress], within limit: Duration, transfers: TransferEngine,
        resolverOptions: NameService.Options, on loop: EventLoop, completion: @escaping (Outcome) -> Void
    ) {
        self.loop = loop
        self.completion = completion
        awaited = endpoints
        resolver = NameService(loop: loop, options: resolverOptions.hastened(within: limit))
        resolver.route = transfers.resolver.route
        let deadline = SystemClock.boot + limit
        for endpoint in endpoints {
            let attempt = EndpointAttempt(
                endpoint, by: route, until: deadline, proxy: proxies.proxy(for: endpoint), known: known[endpoint.url],
                resolver: resolver, transfers: transfers
            ) { [unowned self] outcome in receive(outcome, from: endpoint) }
            attempts.append(attempt)
        }
        // Silent name servers may take the whole time.
        if !known.isEmpty {
            patience = loop.schedule(at: SystemClock.boot + limit / 2) { [weak self] in
                self?.patience = nil
                self?.attempts.forEach { $0.tryKnownAddress() }
            }
        }
        // Each attempt has the same limit. This timer ends those that overrun it.
        self.limit = loop.schedule(at: deadline + .milliseconds(20)) { [weak self] in self?.timeOut() }
        loop.afterEvents { [weak self] in self?.begin() }
    }

    deinit { cancel() }

    /// Ends the round without calling its completion.
    func cancel() {
        completion = nil
        stop()
    }

    private func begin() {
        guard completion != nil else { return }
        if attempts.isEmpty { return end() }
        for attempt in attempts { attempt.begin() }
    }

    private func receive(_ outcome: EndpointAttempt.Outcome, from endpoint: ConnectivityEndpoint) {
        if let place = awaited.firstIndex(of: endpoint) { awaited.remove(at: place) }
        let finding = EndpointFinding(outcome.answer, from: endpoint)
        findings.append((finding, endpoint.isSecure))
        if finding == .proof, let remote = outcome.remote { pages[endpoint.url] = remote.address }
        if outcome.isAnsweredWithoutName { isAnswered = true }
        bytes += outcome.bytes
        roundTrip = [roundTrip, outcome.roundTrip].compactMap(\.self).min()
        nameTime = [nameTime, outcome.nameTime].compactMap(\.self).min()
        if let remote = outcome.remote { remotes.append(remote) }
        if findings.count == attempts.count || ValidationResult.isDecided(by: findings) {
            // Deferred, since ending the round here would release the attempt that is calling.
            loop.afterEvents { [weak self] in self?.end() }
        }
    }

    private func timeOut() {
        limit = nil
        findings += awaited.map { (.failure(.noAnswer), $0.isSecure) }
        end()
    }

    private func end() {
        guard let completion else { return }
        self.completion = nil
        stop()
        completion(
            Outcome(
                result: ValidationResult(findings), isSecure: ValidationResult.isDecided(by: findings), bytes: bytes,
                remotes: remotes, pages: pages, isAnswered: isAnswered, roundTrip: roundTrip, nameTime: nameTime))
    }

    private func stop() {
        [limit, patience].compactMap(\.self).forEach(loop.cancel)
        (limit, patience) = (nil, nil)
        attempts.forEach { $0.cancel() }
    }
}

extension TransferProxies {
    fileprivate func proxy(for endpoint: ConnectivityEndpoint) -> TransferProxy {
        (try? TransferURL(endpoint.url)).map { proxy(for: $0) } ?? .none
    }
}

extension NameService.Options {
    /// Most name servers answer within this time, also when they have to ask others.
    private static let leastPatience: Duration = .milliseconds(250)

    /// Options with which a lost query is repeated several times within a check, so that a path which loses packets
    /// does not look like one without name servers.
    func hastened(within limit: Duration) -> NameService.Options {
        var options = self
        options.patience = min(patience, max(Self.leastPatience, limit / 8))
        options.rounds = max(rounds ?? 0, 4)
        return options
    }
}
