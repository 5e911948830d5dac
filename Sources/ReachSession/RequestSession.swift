internal import ReachCore
internal import ReachQueueRuntime
public import ReachSerialization
internal import ReachTransfer
public import Reachability

/// Sends HTTP requests when the network allows: AFHTTPSessionManager for a machine without a screen.
///
///     let session = try RequestSession(keeping: .directory("/var/lib/example/requests"))
///     let upload = try session.upload(file: "/var/log/example.log", to: "https://example.org/logs/1", when: .wifi)
///     let response = try await upload.response()
///
/// Requests stand in a queue of this process. One that the network does not allow waits, at no cost, and starts when it
/// does; one whose way is lost while it is sent is made again, as far as that may be done twice. ``RequestOptions`` says
/// what each waits for, and how often it may fail; ``RequestTask/explanation()`` says why one is not on its way.
///
/// A session in memory forgets its requests with its end. One with a directory keeps them there: what was
/// ``RequestTask/stored()`` is sent by a later run, whatever happened to this one, and ``tasks()`` lists it.
///
/// Each session has a thread of its own, from its first request to its end, and its own sockets. All members may be used
/// from any thread. Releasing a session closes it.
public final class RequestSession: Sendable {
    /// Where requests are kept.
    public enum Keeping: Hashable, Sendable {
        /// In this process.
        case memory
        /// In a directory, which is made if its parent is there, and which one session at a time can use. Only its owner
        /// can read it: it holds headers and bodies.
        case directory(String)
    }

    let core: SessionCore
    /// What references are joined to; its path ends with a "/".
    public var baseURL: WebAddress? { core.base }
    /// What it was made with.
    public var options: RequestSessionOptions { core.options }
    /// Whether its requests are on their way; off until it is turned on.
    public var activity: RequestActivity { core.activity }
    /// Tells whether the host of the base URL, or else the Internet, can be reached. Not started; started, it has a thread
    /// that it shares with the program's other monitors.
    public let reachability: ReachabilityMonitor

    /// A session, which sends nothing before a task is resumed; one with a directory goes on with what is there.
    ///
    /// - Parameters:
    ///   - keeping: Where requests are kept.
    ///   - baseURL: What URLs are joined to as RFC 3986, 5.2, has it: `foo` and `https://example.org/v1` are
    ///     `https://example.org/v1/foo`, and `/foo` is `https://example.org/foo`.
    ///   - options: The rest.
    /// - Throws: A ``RequestError``: of the kind `request` where the base URL cannot be used, of the kind `notTaken` where
    ///   the directory cannot be, or libcurl.
    public init(
        keeping: Keeping = .memory, baseURL: String? = nil, options: RequestSessionOptions = RequestSessionOptions()
    ) throws(RequestError) {
        var base: WebAddress?
        if let baseURL { base = try Self.base(baseURL, options) }
        if let word = CurlRuntime.whyUnusable { throw RequestError(.notTaken, "unusable", word) }
        var directory: QueueDirectory?
        if case .directory(let path) = keeping {
            do throws(QueueStoreError) {
                directory = try QueueDirectory(path)
            } catch {
                throw RequestError(error)
            }
        }
        core = SessionCore(directory, base: base, options)
        reachability = ReachabilityMonitor(base.flatMap { try? Target($0.description) } ?? .internet)
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
        // As AFHTTPSessionManager refuses it.
        guard !options.security.hasPins || base.scheme == "https" else {
            throw RequestError(.request, "bad-url", "pinning needs an https URL")
        }
        return base
    }

    // MARK: - All at once

    /// Holds all requests, those to come too, until ``resume()``: nothing starts, and what is on its way is let finish. A
    /// session with a directory stays held in later runs.
    ///
    /// It is a reason of its own (`queue`): it neither clears nor sets what users and the network do to single tasks.
    public func suspend() { core.perform { desk in desk.whenOpen { [weak desk] in desk?.holdAll(true) } } }

    /// Ends ``suspend()``.
    public func resume() { core.perform { desk in desk.whenOpen { [weak desk] in desk?.holdAll(false) } } }

    // MARK: - The end

    /// Ends all that runs. Tasks that are not over fail with ``RequestError/Kind/closed``, and their completions are called;
    /// nothing can be resumed any more. In a session with a directory requests stay for the next run.
    ///
    /// Does not wait; again does no harm.
    public func close() { core.close(patience: .seconds(5)) }

    /// Closes it, and waits until what there was to write is written, for five seconds at most, and the directory is free.
    ///
    /// - Returns: Whether all was written.
    @discardableResult
    public func closeAndWait() async -> Bool {
        close()
        return await core.waitUntilClosed()
    }

    // MARK: - Who is told

    /// Has a block called when tasks are resumed, suspended and complete, after the task's own completions and where these
    /// are called.
    ///
    /// A task is told to be suspended and resumed when its state changes, whoever is the reason: its user or the network.
    ///
    /// - Parameters:
    ///   - name: What is wanted; all if `nil`.
    ///   - task: Whose; all tasks' if `nil`.
    ///   - block: What to call, until the observer is removed.
    /// - Returns: What to remove it by. It need not be kept.
    @discardableResult
    public func addObserver(
        forName name: RequestNotification? = nil, task: RequestTask? = nil,
        using block: @escaping @Sendable (RequestEvent) -> Void
    ) -> RequestObserver {
        let observer = RequestObserver(name, task?.identifier, block)
        core.observers.add(observer)
        return observer
    }

    /// The observer is not called any more, but for a call that has begun.
    public func removeObserver(_ observer: RequestObserver) { core.observers.remove(observer) }
}
