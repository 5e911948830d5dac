internal import ReachCore
internal import ReachQueueRuntime
public import ReachSerialization
internal import ReachTransfer
public import Reachability

/// Sends HTTP requests when the network allows. Modelled on AFNetworking's AFHTTPSessionManager.
///
///     let session = try RequestSession(keeping: .directory("/var/lib/example/requests"))
///     let upload = try session.upload(file: "/var/log/example.log", to: "https://example.org/logs/1", when: .wifi)
///     let response = try await upload.response()
///
/// Requests are queued in this process. A request waits, without using the processor, until the network satisfies its
/// condition: in memory for a minute unless it is asked to wait longer (``RequestOptions/waitsForConnectivity``), with
/// a directory for 14 days (``RequestOptions/expiresAfter``). If it loses its path while it is sent, it is sent again,
/// if it is safe to repeat. ``RequestOptions`` says what each request waits for, and how often it may fail;
/// ``RequestTask/explanation()`` says why one is not running.
///
/// A session in memory loses its requests when it ends. A session with a directory stores them there. Once
/// ``RequestTask/stored()`` has returned, a later run sends the request even if this one crashes; there ``tasks()``
/// lists it.
///
/// Sessions in memory share one thread, which also observes the network; a hundred sessions cost little more than one.
/// A session that keeps requests, cookies or its cache in files has a thread of its own, from its first request until
/// it is closed. Sessions do not share connections. All members may be used from any thread. An unfinished task retains
/// its session; when no unfinished task is left, releasing the session closes it.
public final class RequestSession: Sendable {
    /// The storage of requests.
    public enum Keeping: Hashable, Sendable {
        /// In the memory of this process.
        case memory
        /// In a directory, which is created if its parent exists, and which one session at a time can use. Only its
        /// owner can read it: it holds headers and bodies.
        case directory(String)
    }

    let core: SessionCore
    /// The URL against which references are resolved; its path ends with a "/".
    public var baseURL: WebAddress? { core.base }
    /// The options with which the session was created.
    public var options: RequestSessionOptions { core.options }
    /// The cookies that servers have set, and that are sent with requests.
    public var cookies: CookieStorage { core.cookies }
    /// The stored responses of this session.
    public var cache: ResponseCache { core.cache }
    /// The activity of the session's requests; off until it is turned on.
    public var activity: RequestActivity { core.activity }
    /// A monitor of the base URL's host, or of the Internet if there is no base URL. The session does not start it;
    /// once started, it shares a thread with the program's other monitors.
    public let reachability: ReachabilityMonitor

    /// Creates a session. It sends nothing before a task is resumed; only the requests stored in its directory continue
    /// at once.
    ///
    /// - Parameters:
    ///   - keeping: The storage of requests.
    ///   - baseURL: The URL against which references are resolved (RFC 3986, 5.2): `foo` and `https://example.org/v1`
    ///     are `https://example.org/v1/foo`, and `/foo` is `https://example.org/foo`.
    ///   - options: All other options.
    /// - Throws: A ``RequestError``: of the kind `request` if the base URL is invalid, of the kind `notTaken` if the
    ///   directory, a file or libcurl is unusable.
    public init(
        keeping: Keeping = .memory, baseURL: String? = nil, options: RequestSessionOptions = RequestSessionOptions()
    ) throws(RequestError) {
        var base: WebAddress?
        if let baseURL { base = try Self.base(baseURL, options) }
        if options.stub == nil, let word = CurlRuntime.whyUnusable {
            throw RequestError(.notTaken, "unusable", word)
        }
        var directory: QueueDirectory?
        if case .directory(let path) = keeping {
            do throws(QueueStoreError) {
                directory = try QueueDirectory(path)
            } catch {
                throw RequestError(error)
            }
        }
        core = SessionCore(
            directory, base: base, options, try CookieStorage(options.cookies), try ResponseCache(options.cache))
        reachability = ReachabilityMonitor(
            base.flatMap { try? Target($0.withoutUserInformation.description) } ?? .internet)
        core.session = self
    }

    deinit { close() }

    private static func base(_ text: String, _ options: RequestSessionOptions) throws(RequestError) -> WebAddress {
        let base: WebAddress
        do throws(WebAddressError) {
            base = try WebAddress(text).asBase
        } catch {
            throw RequestError(RequestSerializationError.badAddress(error))
        }
        guard base.scheme == "https" || base.scheme == "http" else {
            throw RequestError(.request, "bad-url", "the base URL is neither http nor https")
        }
        // AFHTTPSessionManager refuses this too.
        guard !options.security.hasPins || base.scheme == "https" else {
            throw RequestError(.request, "bad-url", "pinning needs an https URL")
        }
        return base
    }

    // MARK: - All requests

    /// Holds all requests, including future ones, until ``resume()``: none starts, and running ones finish. A session
    /// with a directory stays held in later runs.
    ///
    /// Tasks that are suspended for another reason, by the program or by the network, stay so after ``resume()``. The
    /// reason of this suspension is `queue`.
    public func suspend() { holdAll(true) }

    /// Releases the requests that ``suspend()`` holds.
    public func resume() { holdAll(false) }

    private func holdAll(_ isHeld: Bool) {
        core.perform { sessionLoop in sessionLoop.whenOpen { [weak sessionLoop] in sessionLoop?.holdAll(isHeld) } }
    }

    // MARK: - The end

    /// Closes the session. Tasks that are not over fail with ``RequestError/Kind/closed``, and their completions are
    /// called; no task can be resumed after that. In a session with a directory the requests stay for the next run.
    ///
    /// Returns at once. Calling it again has no effect.
    public func close() { core.close(patience: .seconds(5)) }

    /// Closes the session, and waits until its data is written and the directory is free, for at most five seconds.
    ///
    /// - Returns: Whether all data was written.
    @discardableResult
    public func closeAndWait() async -> Bool {
        close()
        return await core.waitUntilClosed()
    }

    /// Calls a block when the session is closed, by ``close()`` or because it is released. If it is closed already, the
    /// call follows soon. The block is called after the completions of tasks, and on the same queue or executor.
    /// AFNetworking's counterpart is `URLSession:didBecomeInvalidWithError:`.
    ///
    /// - Parameter block: Receives whether all data was written.
    public func whenClosed(_ block: @escaping @Sendable (Bool) -> Void) { core.whenClosed(block) }

    // MARK: - Headers

    /// The headers of requests that are created from now on. They are added to the serializer's headers, and replace
    /// those with the same name. There are none at first.
    public var headers: Headers { core.headers.current }

    /// Changes the headers of requests that are created from now on, as AFHTTPRequestSerializer's
    /// `setValue:forHTTPHeaderField:` does. Requests that exist keep their headers, even if they have not been sent
    /// yet.
    ///
    ///     session.changeHeaders { $0["X-Token"] = nil }
    ///
    /// Headers are stored with requests. Use an interceptor for a token that may expire before the request is sent.
    ///
    /// - Parameter change: Runs under a lock: it must not use the session.
    public func changeHeaders<Failure: Error>(
        _ change: (inout Headers) throws(Failure) -> Void
    ) throws(Failure) { try core.headers.change(change) }

    // MARK: - Observers

    /// Adds a block that is called when tasks are resumed, suspended and complete. It is called after the task's own
    /// completions, and on the same queue or executor.
    ///
    /// It is called whether the program or the network suspends and resumes a task. An observer receives what happens
    /// after it was added.
    ///
    /// - Parameters:
    ///   - name: The notification to observe; all if `nil`.
    ///   - task: The task to observe; all if `nil`.
    ///   - block: Called until the observer is removed.
    /// - Returns: The observer, for ``removeObserver(_:)``. It need not be kept.
    @discardableResult
    public func addObserver(
        forName name: RequestNotification? = nil, task: RequestTask? = nil,
        using block: @escaping @Sendable (RequestEvent) -> Void
    ) -> RequestObserver {
        let observer = RequestObserver(name, task?.identifier, block)
        core.observers.add(observer)
        return observer
    }

    /// The events of tasks from now on. They are the same, and in the same order, as those that the block of
    /// ``addObserver(forName:task:using:)`` receives.
    ///
    ///     for await event in session.events(forName: .didComplete) { print(event.task.identifier) }
    ///
    /// The sequence ends when the Swift task that reads it is cancelled. It keeps the newest 1,024 unread events; if
    /// there are more, the oldest are lost.
    ///
    /// - Parameters:
    ///   - name: The notification to observe; all if `nil`.
    ///   - task: The task to observe; all if `nil`.
    public func events(
        forName name: RequestNotification? = nil, task: RequestTask? = nil
    ) -> AsyncStream<RequestEvent> {
        AsyncStream(bufferingPolicy: .bufferingNewest(1024)) { continuation in
            let observer = addObserver(forName: name, task: task) { continuation.yield($0) }
            continuation.onTermination = { [weak core = self.core] _ in core?.observers.remove(observer) }
        }
    }

    /// Removes an observer. It is not called again, except for a call that has already begun.
    public func removeObserver(_ observer: RequestObserver) { core.observers.remove(observer) }
}
