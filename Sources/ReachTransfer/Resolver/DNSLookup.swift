internal import Glibc
internal import ReachCore
internal import ReachLoop

/// Asks the servers in turn about one name and type, until one can tell. Confined to the loop.
final class DNSLookup {
    enum Outcome {
        case answer(DNSAnswer)
        /// No server answered, in all rounds.
        case silent
        /// No server could be asked: `errno`.
        case notAsked(CInt)
    }

    let key: AnswerCache.Key
    private let loop: EventLoop
    private let servers: [ResolverConfiguration.Server]
    private let options: Resolver.Options
    private let completion: (Outcome) -> Void
    private var exchange: DNSExchange?
    private var timer: TimerQueue.ID?
    private var tries = 0
    private var hasExtensions = true
    private var lastError: CInt = 0
    private var wasSilent = false
    private var failure: DNSAnswer?

    /// - Parameter completion: Called once, later.
    init(
        _ key: AnswerCache.Key, servers: [ResolverConfiguration.Server], loop: EventLoop, options: Resolver.Options,
        completion: @escaping (Outcome) -> Void
    ) {
        self.key = key
        self.servers = servers
        self.loop = loop
        self.options = options
        self.completion = completion
        tryServer(.datagram)
    }

    deinit { stop() }

    /// The completion is not called.
    func stop() {
        exchange?.close()
        exchange = nil
        if let timer { loop.cancel(timer) }
        timer = nil
    }

    private func tryServer(_ transport: DNSExchange.Transport) {
        stop()
        let server = servers[tries % servers.count]
        let query = DNSQuery(
            id: .random(in: .min ... .max), name: key.name, type: key.type, hasExtensions: hasExtensions)
        exchange = DNSExchange(
            loop: loop, query: query, server: server, interface: key.interface, transport: transport
        ) { [weak self] in self?.ended($0, query, transport) }
        let round = tries / servers.count
        timer = loop.schedule(at: SystemClock.boot + options.patience * (1 << round)) { [weak self] in
            self?.wasSilent = true
            self?.next()
        }
    }

    private func ended(_ outcome: DNSExchange.Outcome, _ query: DNSQuery, _ transport: DNSExchange.Transport) {
        switch outcome {
        case .response(let response) where response.isTruncated && transport == .datagram: tryServer(.stream)
        case .response(let response) where response.code == DNSResponse.Code.formatError && query.hasExtensions:
            hasExtensions = false
            tryServer(transport)
        case .response(let response):
            let answer = DNSAnswer(response, to: query)
            if case .failure = answer {
                failure = answer
                next()
            } else {
                stop()
                completion(.answer(answer))
            }
        case .failed(let number):
            lastError = number
            next()
        }
    }

    private func next() {
        tries += 1
        if tries < servers.count * options.rounds {
            // Where all of a round refused at once, the next round would hear the same.
            guard tries % servers.count == 0, !wasSilent else { return tryServer(.datagram) }
        }
        stop()
        if let failure { return completion(.answer(failure)) }
        completion(wasSilent ? .silent : .notAsked(lastError))
    }
}
