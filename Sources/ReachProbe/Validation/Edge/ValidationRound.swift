internal import ReachCore
internal import ReachLoop
internal import ReachNetlink
internal import ReachTransfer

/// Asks all endpoints by one path, at the same time, and says what their answers amount to. Confined to the loop's
/// thread.
///
/// Names are asked for anew: what was answered before would hide that name servers are silent now.
final class ValidationRound {
    struct Outcome {
        let result: ValidationResult
        let bytes: Int
        let remotes: [TrafficQuestion.Remote]
    }

    private let loop: EventLoop
    private let resolver: NameService
    private var attempts: [EndpointAttempt] = []
    private var findings: [(finding: EndpointFinding, isSecure: Bool)] = []
    private var bytes = 0
    private var remotes: [TrafficQuestion.Remote] = []
    private var limit: TimerQueue.ID?
    private var completion: ((Outcome) -> Void)?

    /// - Parameters:
    ///   - resolver: The round's own, with nothing in its cache.
    ///   - limit: How long it may take, name servers included. Endpoints that have not answered then do not.
    ///   - completion: Called once, later, unless it is cancelled.
    init(
        _ endpoints: [ConnectivityEndpoint], by uplink: Uplink, within limit: Duration, transfers: TransferEngine,
        resolver: NameService, on loop: EventLoop, completion: @escaping (Outcome) -> Void
    ) {
        self.loop = loop
        self.completion = completion
        self.resolver = resolver
        let deadline = SystemClock.boot + limit
        for endpoint in endpoints {
            let attempt = EndpointAttempt(
                endpoint, by: uplink, until: deadline, resolver: resolver, transfers: transfers
            ) { [unowned self] outcome in take(outcome, from: endpoint) }
            attempts.append(attempt)
        }
        // Each attempt has the same limit; this one is for those that would overrun it.
        self.limit = loop.schedule(at: deadline + .milliseconds(20)) { [weak self] in self?.timeOut() }
        loop.afterEvents { [weak self] in self?.begin() }
    }

    deinit { cancel() }

    /// The completion is not called.
    func cancel() {
        completion = nil
        stop()
    }

    private func begin() {
        guard completion != nil else { return }
        if attempts.isEmpty { return end() }
        for attempt in attempts { attempt.begin() }
    }

    private func take(_ outcome: EndpointAttempt.Outcome, from endpoint: ConnectivityEndpoint) {
        findings.append((EndpointFinding(outcome.answer, from: endpoint), endpoint.isSecure))
        bytes += outcome.bytes
        if let remote = outcome.remote { remotes.append(remote) }
        if findings.count == attempts.count || ValidationResult.isDecided(by: findings) {
            // Not from within an attempt that ends: it would be released under its own feet.
            loop.afterEvents { [weak self] in self?.end() }
        }
    }

    private func timeOut() {
        limit = nil
        let missing = attempts.count - findings.count
        findings += Array(repeating: (.failure(.noAnswer), false), count: missing)
        end()
    }

    private func end() {
        guard let completion else { return }
        self.completion = nil
        stop()
        completion(Outcome(result: ValidationResult(findings), bytes: bytes, remotes: remotes))
    }

    private func stop() {
        if let limit { loop.cancel(limit) }
        limit = nil
        attempts.forEach { $0.cancel() }
    }
}
