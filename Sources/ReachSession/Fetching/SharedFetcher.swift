internal import ReachCore
internal import ReachLoop
internal import Synchronization

/// Fetches each URL once for all callers that ask for it at the same time, limits how many requests run, and caches the
/// responses in memory: AFImageDownloader, for any content.
///
///     let fetcher = SharedFetcher(session)
///     let receipt = fetcher.fetch("https://example.org/logo.png") { result in ... }
///
/// Requests are equal if their URLs are. Successful responses are cached up to the cache's capacity, and returned again
/// without asking the server; failures are not cached. All members may be used from any thread. Blocks are called where
/// the session calls its completions.
public final class SharedFetcher: Sendable {
    /// A block that receives the result of a fetch.
    public typealias Completion = @Sendable (Result<RequestResponse, RequestError>) -> Void

    /// One caller's claim to a response, by which it can be cancelled.
    public struct Receipt: Hashable, Sendable {
        /// The URL that was requested.
        public var url: String { receipt.key }
        let receipt: RequestCoalescer<String, Completion>.Receipt
    }

    private struct State {
        var coalescer: RequestCoalescer<String, Completion>
        var cache: PurgingCache<String, RequestResponse>
        /// The tasks of running requests.
        var tasks: [RequestCoalescer<String, Completion>.Request: RequestTask] = [:]
    }

    private let session: RequestSession
    private let options: RequestOptions
    private let state: Mutex<State>

    /// Creates a fetcher with an empty cache.
    ///
    /// - Parameters:
    ///   - session: The session that sends the requests. The fetcher keeps it alive.
    ///   - limit: The maximum number of running requests: 4 in AFNetworking.
    ///   - order: The order in which queued requests start.
    ///   - capacity: The capacity of the cache, in bytes of bodies: 100 MiB in AFNetworking.
    ///   - preferredSize: The size to which a purge reduces the cache: 60 MiB in AFNetworking.
    ///   - options: The options of the requests; the session's by default.
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

    /// Fetches a URL, joins a fetch of it that is under way, or finds it in the cache.
    ///
    /// - Parameters:
    ///   - url: A complete URL, or a reference that is resolved against the session's base.
    ///   - completion: Called once.
    /// - Returns: The receipt by which to cancel; `nil` where the response was in the cache.
    /// - Throws: A ``RequestError`` if the URL is invalid. Then `completion` is not called.
    @discardableResult
    public func fetch(_ url: String, completion: @escaping Completion) throws(RequestError) -> Receipt? {
        // An invalid URL is reported before the caller joins a request.
        let key = try session.write("GET", url).url.description
        let found = state.withLock { state -> Found in
            if let cached = state.cache.value(for: key, at: SystemClock.boot) { return .cached(cached) }
            let (receipt, outcome) = state.coalescer.ask(key, completion)
            if case .start(let request) = outcome { return .first(receipt, request) }
            return .joined(receipt)
        }
        switch found {
        case .cached(let response):
            deliver([completion], .success(response))
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

    /// Fetches a URL and waits for the response. Cancelling the Swift task cancels the receipt.
    public func fetch(_ url: String) async throws(RequestError) -> RequestResponse {
        let waiting = FetchWaiting()
        let receipt = try fetch(url) { waiting.end($0) }
        return try await withTaskCancellationHandler {
            await waiting.wait()
        } onCancel: {
            if let receipt { cancel(receipt) }
        }.get()
    }

    /// Cancels a caller's wait. Its block is called with ``RequestError/Kind/cancelled``, unless it was called before.
    /// The request is cancelled if no other caller waits for it.
    public func cancel(_ receipt: Receipt) {
        let (cancelled, task) = state.withLock { state in
            let cancelled = state.coalescer.cancel(receipt.receipt)
            return (cancelled, cancelled?.dropped.flatMap { state.tasks.removeValue(forKey: $0) })
        }
        guard let cancelled else { return }
        deliver([cancelled.waiter], .failure(.cancelled))
        task?.cancel()
        if let next = cancelled.start { start(next) }
    }

    /// Empties the cache, for example when memory is short.
    public func removeAllCached() { state.withLock { _ = $0.cache.removeAll() } }

    /// The size of the cache in bytes.
    public var cachedBytes: Int64 { state.withLock { $0.cache.size } }

    private func start(_ request: RequestCoalescer<String, Completion>.Request) {
        do throws(RequestError) {
            let task = try session.get(request.key, options: options)
            let isWanted = state.withLock { state in
                // The last caller may have cancelled meanwhile.
                guard state.coalescer.isRunning(request) else { return false }
                state.tasks[request] = task
                return true
            }
            guard isWanted else { return }
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
            state.tasks[request] = nil
            if case .success(let response) = result {
                state.cache.insert(
                    response, for: request.key, bytes: Int64(response.body.count), at: SystemClock.boot)
            }
            return state.coalescer.finish(request)
        }
        deliver(waiters, result)
        if let next { start(next) }
    }

    private func deliver(_ waiters: [Completion], _ result: Result<RequestResponse, RequestError>) {
        for waiter in waiters { session.core.pump.append { waiter(result) } }
        session.core.deliver()
    }
}

/// Lets an async caller await the result that a block receives.
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
