internal import ReachCore
internal import ReachKernel
internal import ReachLoop
internal import ReachTransfer

/// One question to the API of a portal, by one path: over HTTPS, by the link's own name servers, without redirections.
/// Confined to the loop's thread.
final class PortalQuestion {
    typealias Completion = (Outcome) -> Void

    struct Outcome {
        let result: Result<PortalAnswer, PortalTrouble>
        /// Bytes sent and received, if known.
        let bytes: Int?
        let remote: TrafficQuestion.Remote?
    }

    private let loop: EventLoop
    private var attempt: EndpointAttempt?
    private var limit: TimerQueue.ID?
    private var completion: Completion?

    /// - Parameters:
    ///   - resolver: A resolver for this question only, with an empty cache.
    ///   - limit: Time for name resolution, connection and answer together.
    ///   - completion: Called once, after this returns, unless the question is cancelled.
    init(
        _ api: ConnectivityEndpoint, by route: DefaultRoute, within limit: Duration, transfers: TransferEngine,
        resolver: NameService, on loop: EventLoop, completion: @escaping Completion
    ) {
        self.loop = loop
        self.completion = completion
        let deadline = SystemClock.boot + limit
        attempt = EndpointAttempt(
            api, .portal, by: route, until: deadline, resolver: resolver, transfers: transfers
        ) { [unowned self] outcome in
            // Deferred, since ending the question here would release the attempt that is calling.
            loop.afterEvents { [weak self] in
                self?.end(
                    Outcome(result: Self.result(of: outcome.answer), bytes: outcome.bytes, remote: outcome.remote))
            }
        }
        self.limit = loop.schedule(at: deadline + .milliseconds(20)) { [weak self] in
            self?.limit = nil
            self?.end(Outcome(result: .failure(.noAnswer), bytes: nil, remote: nil))
        }
        loop.afterEvents { [weak self] in self?.attempt?.begin() }
    }

    deinit { cancel() }

    /// Ends the question without calling its completion.
    func cancel() {
        completion = nil
        if let limit { loop.cancel(limit) }
        limit = nil
        attempt?.cancel()
    }

    private func end(_ outcome: Outcome) {
        guard let completion else { return }
        cancel()
        completion(outcome)
    }

    private static func result(of answer: EndpointAnswer) -> Result<PortalAnswer, PortalTrouble> {
        do throws(PortalTrouble) {
            return .success(try PortalAnswer(answer))
        } catch {
            return .failure(error)
        }
    }
}
