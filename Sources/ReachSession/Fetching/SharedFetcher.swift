internal import ReachCore
internal import ReachLoop
internal import Synchronization

/// Fetches what several want at once only once, runs few requests at a time, and keeps what came in memory for a while:
/// AFImageDownloader, for anything.
///
///     let fetcher = SharedFetcher(session)
///     let receipt = fetcher.fetch("https://example.org/logo.png") { result in ... }
///
/// Requests are the same where their URLs are. What a success brought is kept up to the cache's capacity, and handed out
/// again without asking the server; failures are not kept. All members may be used from any thread. Blocks are called where
/// the session calls its completions.
public final class SharedFetcher: Sendable {
    /// What a block is called with.
    public typealias Completion = @Sendable (Result<RequestResponse, RequestError>) -> Void

    /// What one of those who fetch holds.
    public struct Receipt: Hashable, Sendable {
        /// What was fetched.
        public var url: String { receipt.key }
        let receipt: RequestCoalescer<String, Completion>.Receipt
    }

    private struct State {
        var coalescer: RequestCoalescer<String, Completion>
        var cache: PurgingCache<String, RequestResponse>
    }

    private let session: RequestSession
    private let options: RequestOptions
    private let state: Mutex<State>

    /// - Parameters:
    ///   - session: Sends the requests; kept alive.
    ///   - limit: So many run at a time: 4 in AFNetworking.
    ///   - order: Which of those that wait for their turn starts first.
    ///   - capacity: Of the cache, in bytes of bodies: 100 MiB in AFNetworking.
    ///   - preferredSize: What is left after a purge: 60 MiB in AFNetworking.
    ///   - options: Of the requests.
    public init(
        _ session: RequestSession, limit: Int = 4,
        order: RequestCoalescer<String, Completion>.Order = .firstInFirstOut, capacity: Int64 = 100 << 20,
        preferredSize: Int64 = 60 << 20, options: RequestOptions? = nil
    ) {
        self.session = session
        self.options = options ?? session.options.requests
        state = Mutex(
            State(
                coalescer: RequestCoalescer(limit: limit, order: order),
                cache: PurgingCache(capacity: capacity, preferredSize: preferredSize)))
    }

    /// Fetches a URL, joins those who do already, or finds it in the cache.
    ///
    /// - Parameters:
    ///   - url: A whole URL, or a reference that is joined to the session's base.
    ///   - completion: Called once.
    /// - Returns: What to cancel it by; `nil` where it was in the cache.
    /// - Throws: A ``RequestError`` where the URL cannot be used; then `completion` is not called.
    @discardableResult
    public func fetch(_ url: String, completion: @escaping Completion) throws(RequestError) -> Receipt? {
        // What is wrong is found before anybody joins.
        let key = try session.write("GET", url).address.description
        let found = state.withLock { state -> Found in
            if let cached = state.cache.value(for: key, at: SystemClock.boot) { return .cached(cached) }
            let (receipt, outcome) = state.coalescer.ask(key, completion)
            if case .start(let request) = outcome { return .first(receipt, request) }
            return .joined(receipt)
        }
        switch found {
        case .cached(let response):
            tell([completion], .success(response))
            return nil
        case .joined(let receipt): return Receipt(receipt: receipt)
        case .first(let receipt, let request):
            start(request)
            return Receipt(receipt: receipt)
        }
    }

    private enum Found {
        case cached(RequestResponse)
        case joined(RequestCoalescer<String, Completion>.Receipt)
        case first(RequestCoalescer<String, Completion>.Receipt, RequestCoalescer<String, Completion>.Request)
    }

    /// Fetches a URL, and waits for it. Cancelling the Swift task gives the receipt back.
    public func fetch(_ url: String) async throws(RequestError) -> RequestResponse {
        let waiting = FetchWaiting()
        let receipt = try fetch(url) { waiting.end($0) }
        return try await withTaskCancellationHandler {
            await waiting.wait()
        } onCancel: {
            if let receipt { cancel(receipt) }
        }.get()
    }

    /// Waits no more. The block is called with ``RequestError/Kind/cancelled``, unless it was called before. A request that
    /// has not started is dropped where nobody else waits for it; one that runs goes on, since its answer can be kept.
    public func cancel(_ receipt: Receipt) {
        let cancelled = state.withLock { $0.coalescer.cancel(receipt.receipt)?.waiter }
        if let cancelled { tell([cancelled], .failure(.cancelled)) }
    }

    /// Empties the cache, as when memory is short.
    public func removeAllCached() { state.withLock { _ = $0.cache.removeAll() } }

    /// How many bytes the cache holds.
    public var cachedBytes: Int64 { state.withLock { $0.cache.size } }

    private func start(_ request: RequestCoalescer<String, Completion>.Request) {
        do throws(RequestError) {
            let task = try session.get(request.key, options: options)
            task.whenComplete { self.finish(request, $0) }
            task.resume()
        } catch {
            finish(request, .failure(error))
        }
    }

    private func finish(
        _ request: RequestCoalescer<String, Completion>.Request, _ result: Result<RequestResponse, RequestError>
    ) {
        let (waiters, next) = state.withLock { state in
            if case .success(let response) = result {
                state.cache.insert(
                    response, for: request.key, bytes: Int64(response.body.count), at: SystemClock.boot)
            }
            return state.coalescer.finish(request)
        }
        tell(waiters, result)
        if let next { start(next) }
    }

    private func tell(_ waiters: [Completion], _ result: Result<RequestResponse, RequestError>) {
        for waiter in waiters { session.core.pump.append { waiter(result) } }
        session.core.deliver()
    }
}

/// One who awaits an answer that a block brings.
private final class FetchWaiting: Sendable {
    private struct State {
        var result: Result<RequestResponse, RequestError>?
        var continuation: CheckedContinuation<Result<RequestResponse, RequestError>, Never>?
    }

    private let state = Mutex(State())

    func end(_ result: Result<RequestResponse, RequestError>) {
        let continuation = state.withLock { state in
            state.result = result
            return state.continuation
        }
        continuation?.resume(returning: result)
    }

    func wait() async -> Result<RequestResponse, RequestError> {
        await withCheckedContinuation { continuation in
            let known: Result<RequestResponse, RequestError>? = state.withLock { state in
                if state.result == nil { state.continuation = continuation }
                return state.result
            }
            if let known { continuation.resume(returning: known) }
        }
    }
}
