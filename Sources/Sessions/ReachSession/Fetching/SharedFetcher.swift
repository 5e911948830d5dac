public import HTTPTypes
internal import ReachCore
internal import ReachQueue
public import ReachSerialization
internal import Synchronization

/// Fetches the same thing once for all callers that ask for it at the same time, limits how many requests run, and
/// caches the responses: AFImageDownloader, for any content.
///
///     let fetcher = SharedFetcher(session)
///     let receipt = fetcher.fetch("https://example.org/logo.png") { result in ... }
///
/// Fetches are equal if their ``FetchKey``s are. Successful responses are cached, and returned again without asking the
/// server; failures are not cached. All members may be used from any thread. Blocks are called where the session calls
/// its completions.
public final class SharedFetcher: Sendable {
    /// A block that receives the result of a fetch.
    public typealias Completion = @Sendable (Result<RequestResponse, RequestError>) -> Void

    typealias Coalescer = RequestCoalescer<FetchKey, Completion>

    /// One caller's claim to a response, by which it can be cancelled.
    public struct Receipt: Hashable, Sendable {
        /// What was requested.
        public var key: FetchKey { receipt.key }
        /// The URL that was requested.
        public var url: String { receipt.key.url.description }
        let receipt: Coalescer.Receipt
    }

    private struct State {
        var coalescer: Coalescer
        /// The tasks of running requests.
        var tasks: [Coalescer.Request: RequestTask] = [:]
        /// The requests that ask the server in any case.
        var reloads: Set<Coalescer.Request> = []
    }

    /// The cache of responses; `nil` for none. Its responses may be added and removed at any time.
    public let cache: (any FetchCache)?
    /// The maximum number of running requests.
    public let limit: Int
    private let session: RequestSession
    private let options: RequestOptions
    private let shouldCache: @Sendable (RequestResponse, FetchKey) -> Bool
    private let state: Mutex<State>

    /// Creates a fetcher with an empty cache in memory.
    ///
    /// - Parameters:
    ///   - session: The session that sends the requests. The fetcher keeps it alive.
    ///   - limit: The maximum number of running requests: 4 in AFNetworking.
    ///   - order: The order in which queued requests start.
    ///   - capacity: The capacity of the cache, in bytes of bodies: 100 MiB in AFNetworking.
    ///   - preferredSize: The size to which a purge reduces the cache: 60 MiB in AFNetworking.
    ///   - options: The options of the requests; the session's by default.
    public convenience init(
        _ session: RequestSession, limit: Int = 4, order: FetchOrder = .firstInFirstOut, capacity: Int64 = 100 << 20,
        preferredSize: Int64 = 60 << 20, options: RequestOptions? = nil
    ) {
        self.init(
            session, limit: limit, order: order,
            cache: AutoPurgingCache<FetchKey, RequestResponse>(capacity: capacity, preferredSize: preferredSize),
            options: options)
    }

    /// Creates a fetcher with a cache of the caller's. Several fetchers may share one.
    ///
    /// - Parameters:
    ///   - session: The session that sends the requests. The fetcher keeps it alive.
    ///   - limit: The maximum number of running requests: 4 in AFNetworking.
    ///   - order: The order in which queued requests start.
    ///   - cache: The cache; `nil` for none.
    ///   - options: The options of the requests; the session's by default.
    ///   - shouldCache: Whether to cache a successful response; asked before the cache itself.
    public init(
        _ session: RequestSession, limit: Int = 4, order: FetchOrder = .firstInFirstOut, cache: (any FetchCache)?,
        options: RequestOptions? = nil,
        shouldCache: @escaping @Sendable (RequestResponse, FetchKey) -> Bool = { _, _ in true }
    ) {
        self.session = session
        self.options = options ?? session.options.requests
        self.cache = cache
        self.shouldCache = shouldCache
        let coalescer = Coalescer(limit: limit, order: order)
        self.limit = coalescer.limit
        state = Mutex(State(coalescer: coalescer))
    }

    /// The order in which queued requests start. A change concerns requests that are queued later.
    public var order: FetchOrder {
        get { state.withLock { $0.coalescer.order } }
        set { state.withLock { $0.coalescer.order = newValue } }
    }

    // MARK: - Fetching

    /// Fetches a URL by GET, joins an equal fetch that is under way, or finds the response in the cache.
    ///
    /// - Parameters:
    ///   - url: A complete URL, or a reference that is resolved against the session's base.
    ///   - headers: Header fields, which replace those of the session's serializer.
    ///   - reloading: Whether to ask the server in any case, past the session's cache too, and to replace what is
    ///     cached. A fetch that is under way is joined all the same.
    ///   - completion: Called once.
    /// - Returns: The receipt by which to cancel; `nil` where the response was in the cache.
    /// - Throws: A ``RequestError`` if the URL or a header is invalid. Then `completion` is not called.
    @discardableResult
    public func fetch(
        _ url: some URLConvertible, headers: Headers = [:], reloading: Bool = false, completion: @escaping Completion
    ) throws(RequestError) -> Receipt? {
        try fetch(request(url.urlText, headers), reloading: reloading, completion: completion)
    }

    /// Fetches by a whole request, as ``fetch(_:headers:reloading:completion:)`` does. Only the session's own header
    /// fields are added to it, as ``RequestSession/task(for:when:options:completion:)`` adds them.
    ///
    /// - Throws: A ``RequestError`` if a header is invalid, or the body is a file or a form.
    @discardableResult
    public func fetch(
        _ request: WebRequest, reloading: Bool = false, completion: @escaping Completion
    ) throws(RequestError) -> Receipt? {
        var request = request
        request.headers.complete(from: try session.core.headers.current.sent)
        // What is invalid is reported before the caller joins a request.
        let fields = request.headers.lazy.filter { $0.name != .contentLength }
        if let fault = RequestFieldFault.first(in: fields.map { HeaderField($0.name.rawName, $0.value) }) {
            throw RequestError(RequestValidationError(.header, fault.description))
        }
        let key = try FetchKey(request)
        if !reloading, deliverCached(key, [completion]) { return nil }
        let (receipt, outcome) = state.withLock { state in
            let asked = state.coalescer.ask(key, completion)
            if reloading { state.reloads.insert(asked.outcome.request) }
            return asked
        }
        if case .start(let request) = outcome {
            // An equal fetch may have ended since the look into the cache.
            if !reloading, let cached = cache?.response(for: key) {
                finish(request, .success(cached), isCached: true)
            } else {
                start(request)
            }
        }
        return Receipt(receipt: receipt)
    }

    /// Fetches by a whole request of HTTPTypes, as ``fetch(_:headers:reloading:completion:)`` does: scheme, authority
    /// and path are the complete URL.
    ///
    /// - Parameter body: The body's bytes; `nil` for none.
    /// - Throws: A ``RequestError`` if the URL or a header is invalid.
    @discardableResult
    public func fetch(
        _ request: HTTPRequest, body: [UInt8]? = nil, reloading: Bool = false, completion: @escaping Completion
    ) throws(RequestError) -> Receipt? {
        try fetch(Self.request(request, body), reloading: reloading, completion: completion)
    }

    /// Fetches a URL by GET and waits for the response. Cancelling the Swift task cancels the receipt.
    public func fetch(
        _ url: some URLConvertible, headers: Headers = [:], reloading: Bool = false
    ) async throws(RequestError) -> RequestResponse {
        try await fetch(request(url.urlText, headers), reloading: reloading)
    }

    /// Fetches by a whole request of HTTPTypes and waits for the response. Cancelling the Swift task cancels the
    /// receipt.
    public func fetch(
        _ request: HTTPRequest, body: [UInt8]? = nil, reloading: Bool = false
    ) async throws(RequestError) -> RequestResponse {
        try await fetch(Self.request(request, body), reloading: reloading)
    }

    /// Fetches by a whole request and waits for the response. Cancelling the Swift task cancels the receipt.
    public func fetch(_ request: WebRequest, reloading: Bool = false) async throws(RequestError) -> RequestResponse {
        let waiting = FetchWaiting()
        let receipt = try fetch(request, reloading: reloading) { waiting.end($0) }
        return try await withTaskCancellationHandler {
            await waiting.wait()
        } onCancel: {
            if let receipt { cancel(receipt) }
        }.get()
    }

    private func request(_ url: String, _ headers: Headers) throws(RequestError) -> WebRequest {
        var request = try session.write("GET", url)
        request.headers.replace(with: try headers.sent)
        return request
    }

    private static func request(_ head: HTTPRequest, _ body: [UInt8]?) throws(RequestError) -> WebRequest {
        do throws(RequestSerializationError) {
            return try WebRequest(head, body: body.map { .bytes($0) } ?? .none)
        } catch {
            throw RequestError(error)
        }
    }

    /// The key of what ``fetch(_:headers:reloading:completion:)`` would fetch, to look it up in the cache or to add a
    /// response.
    public func key(_ url: some URLConvertible, headers: Headers = [:]) throws(RequestError) -> FetchKey {
        try FetchKey(request(url.urlText, headers))
    }

    // MARK: - Receipts

    /// Adds a caller to the fetch of a receipt.
    ///
    /// - Parameter completion: Called once.
    /// - Returns: The caller's own receipt; `nil` if the fetch is over, or the receipt was cancelled. Then `completion`
    ///   is not called.
    public func add(to receipt: Receipt, completion: @escaping Completion) -> Receipt? {
        state.withLock { $0.coalescer.add(completion, to: receipt.receipt) }.map(Receipt.init)
    }

    /// Removes a caller without calling its block. The request is cancelled if no other caller waits for it.
    ///
    /// - Returns: Whether the caller was waiting.
    @discardableResult
    public func remove(_ receipt: Receipt) -> Bool { drop(receipt) { _ in } }

    /// Cancels a caller's wait. Its block is called with ``RequestError/Kind/cancelled``, unless it was called before.
    /// The request is cancelled if no other caller waits for it.
    public func cancel(_ receipt: Receipt) { drop(receipt) { deliver([$0], .failure(.cancelled)) } }

    @discardableResult
    private func drop(_ receipt: Receipt, _ notify: (@escaping Completion) -> Void) -> Bool {
        let (cancelled, task) = state.withLock { state in
            let cancelled = state.coalescer.cancel(receipt.receipt)
            guard let dropped = cancelled?.dropped else { return (cancelled, nil as RequestTask?) }
            state.reloads.remove(dropped)
            return (cancelled, state.tasks.removeValue(forKey: dropped))
        }
        guard let cancelled else { return false }
        notify(cancelled.waiter)
        task?.cancel()
        if let next = cancelled.start { start(next) }
        return true
    }

    /// The task that runs for a receipt; `nil` while the fetch is queued, and when it is over.
    public func task(of receipt: Receipt) -> RequestTask? {
        state.withLock { state in state.coalescer.request(of: receipt.receipt).flatMap { state.tasks[$0] } }
    }

    // MARK: - The cache

    /// Empties the cache, for example when memory is short.
    public func removeAllCached() { cache?.removeAll() }

    /// The size of the cache in bytes.
    public var cachedBytes: Int64 { cache?.totalBytes ?? 0 }

    private func deliverCached(_ key: FetchKey, _ waiters: [Completion]) -> Bool {
        guard let cached = cache?.response(for: key) else { return false }
        deliver(waiters, .success(cached))
        return true
    }

    // MARK: - Requests

    private func start(_ request: Coalescer.Request) {
        do throws(RequestError) {
            var options = options
            if state.withLock({ $0.reloads.contains(request) }) { options.cachePolicy = .reload }
            let task = try session.task(request.key.request, [:], nil, options, nil)
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
        _ request: Coalescer.Request, _ result: Result<RequestResponse, RequestError>, isCached: Bool = false
    ) {
        // The response is in the cache before the request is over, so that no caller misses both.
        if !isCached, case .success(let response) = result { store(response, for: request.key) }
        let (waiters, next) = state.withLock { state in
            state.tasks[request] = nil
            state.reloads.remove(request)
            return state.coalescer.finish(request)
        }
        deliver(waiters, result)
        if let next { start(next) }
    }

    private func store(_ response: RequestResponse, for key: FetchKey) {
        guard let cache, shouldCache(response, key), cache.shouldCache(response, for: key) else { return }
        cache.add(response, for: key)
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
            let result: Result<RequestResponse, RequestError>? = state.withLock { state in
                if state.result == nil { state.continuation = continuation }
                return state.result
            }
            if let result { continuation.resume(returning: result) }
        }
    }
}
