package import ReachCore
internal import ReachLoop
internal import ReachSerialization
internal import Synchronization

/// Applies a credential, such as an access token, to each attempt, and refreshes it once for all requests that a server
/// refuses with the status 401. They wait for the new one, and are sent again. Alamofire's interceptor of this name.
///
///     let api = AuthenticationInterceptor<String> { token, attempt in
///         try? attempt.headers.set("Authorization", "Bearer \(token)")
///     } refresh: { _, session in
///         try await session.post("token", parameters: ["grant": "refresh"]).value()?.json?["token"]?.string ?? ""
///     }
///     session.setInterceptor(api, named: "api")
///
/// A request whose attempt had an older credential than the present one is sent again without a refresh. Without a
/// credential, or with one that `isValid` rejects, the first attempt refreshes before it is sent.
///
/// All members may be used from any thread.
public final class AuthenticationInterceptor<Credential: Sendable>: RequestInterceptor {
    /// Adds the credential to an attempt. It must change nothing where the attempt already has this credential: that is
    /// how an attempt with an older one is recognised.
    public typealias Apply = @Sendable (Credential, inout RequestAttempt) -> Void
    /// Gets another credential, in place of the present one, if there is one. It may send requests in the session; this
    /// interceptor is not called for those.
    public typealias Refresh = @Sendable (Credential?, RequestSession) async throws -> Credential

    private struct State: Sendable {
        var credential: Credential? { didSet { version += 1 } }
        /// How often the credential was set, by the program or by a refresh.
        private(set) var version = 0
        var refresh: Refreshing?
        /// How often the program has replaced the credential.
        var replacements = 0
        var window: RefreshWindow
    }

    /// A refresh that is under way.
    private struct Refreshing: Sendable {
        let task: Task<Credential, any Error>
        /// The credential that it replaces.
        let replaced: Credential?
        /// ``State/replacements`` at its beginning.
        let replacements: Int
    }

    private let state: Mutex<State>
    private let isValid: @Sendable (Credential) -> Bool
    private let apply: Apply
    private let refresh: Refresh

    /// Creates an interceptor.
    ///
    /// - Parameters:
    ///   - credential: The first credential, if there is one.
    ///   - window: How often it may be refreshed. One more refresh ends its requests with ``AuthenticationError``.
    ///   - isValid: Whether a credential can still be used; called before each attempt. By default it can until a
    ///     server refuses it.
    ///   - apply: Adds the credential to an attempt.
    ///   - refresh: Gets another credential. What it throws ends all requests that wait for it.
    public init(
        credential: Credential? = nil, window: RefreshWindow = RefreshWindow(),
        isValid: @escaping @Sendable (Credential) -> Bool = { _ in true }, apply: @escaping Apply,
        refresh: @escaping Refresh
    ) {
        state = Mutex(State(credential: credential, window: window))
        self.isValid = isValid
        self.apply = apply
        self.refresh = refresh
    }

    /// The present credential.
    public var credential: Credential? { state.withLock { $0.credential } }

    /// Replaces the credential, for attempts from now on, also of the requests that wait for a refresh under way. What
    /// that refresh returns is then used only where the same credential was set again.
    public func setCredential(_ credential: Credential?) {
        state.withLock { ($0.credential, $0.replacements) = (credential, $0.replacements + 1) }
    }

    /// Applies the credential, after a refresh if there is none that is valid.
    public func adapt(_ attempt: inout RequestAttempt) async throws {
        while true {
            let (present, seen) = state.withLock { ($0.credential, $0.version) }
            if let present, isValid(present) { return apply(present, &attempt) }
            if let credential = try await refreshed(for: attempt, seen: seen) { return apply(credential, &attempt) }
        }
    }

    /// Has the request sent again: at once if the credential has changed since the attempt, or after a refresh.
    public func retry(_ attempt: RequestAttempt, after response: RequestResponse) async -> RetryDecision {
        while true {
            let (present, seen) = state.withLock { ($0.credential, $0.version) }
            if let present, changes(present, attempt) { return .retry }
            do {
                if try await refreshed(for: attempt, seen: seen) != nil { return .retry }
            } catch {
                return .fail(error)
            }
        }
    }

    /// Whether an attempt has another credential than this one.
    private func changes(_ credential: Credential, _ attempt: RequestAttempt) -> Bool {
        var renewed = attempt
        apply(credential, &renewed)
        return renewed.headers != attempt.headers
    }

    /// Whether both make the same attempt of one.
    private func isSame(_ one: Credential?, _ other: Credential?, for attempt: RequestAttempt) -> Bool {
        guard let one, let other else { return one == nil && other == nil }
        var (first, second) = (attempt, attempt)
        apply(one, &first)
        apply(other, &second)
        return first.headers == second.headers
    }

    /// Waits for the refresh that is under way, or begins one.
    ///
    /// - Parameter seen: ``State/version`` when the credential was found to need one.
    /// - Returns: `nil` if the credential changed since: a refresh ended meanwhile, and another one would end what it
    ///   got where a token can be refreshed once.
    private func refreshed(for attempt: RequestAttempt, seen: Int) async throws -> Credential? {
        let now = SystemClock.boot
        // The program's block is called without the lock.
        let (present, running) = state.withLock { ($0.credential, $0.refresh) }
        // A refresh of a credential that the program has replaced by another one is not waited for.
        let isShared = running.map { isSame($0.replaced, present, for: attempt) } ?? false
        let refresh = try state.withLock { state throws(AuthenticationError) -> Refreshing? in
            if let current = state.refresh,
                current.replacements == state.replacements || isShared && current.replacements == running?.replacements
            {
                return current
            }
            guard state.version == seen else { return nil }
            guard state.window.admit(at: now) else { throw .tooManyRefreshes }
            let (present, replacements) = (state.credential, state.replacements)
            // Not the task of the request that is first: its cancellation must not end the others.
            let task = Task { try await self.result(of: present, for: attempt, after: replacements) }
            let refresh = Refreshing(task: task, replaced: present, replacements: replacements)
            state.refresh = refresh
            return refresh
        }
        guard let refresh else { return nil }
        let result = await refresh.task.result
        // What the program set meanwhile counts, whatever became of the refresh.
        let (credential, replacements) = state.withLock { ($0.credential, $0.replacements) }
        if replacements != refresh.replacements, let credential, isValid(credential),
            !isSame(credential, refresh.replaced, for: attempt)
        {
            return credential
        }
        return try result.get()
    }

    private func result(
        of present: Credential?, for attempt: RequestAttempt, after replacements: Int
    ) async throws -> Credential {
        let result: Result<Credential, any Error>
        do {
            result = .success(try await refresh(present, attempt.session))
        } catch {
            result = .failure(error)
        }
        let (now, count) = state.withLock { ($0.credential, $0.replacements) }
        let isWanted = count == replacements || isSame(now, present, for: attempt)
        state.withLock { state in
            if state.refresh?.replacements == replacements { state.refresh = nil }
            if isWanted, state.replacements == count, case .success(let credential) = result {
                state.credential = credential
            }
        }
        return try result.get()
    }
}

/// Why an ``AuthenticationInterceptor`` gives requests up.
public enum AuthenticationError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The server refuses each new credential: there were more refreshes than the ``RefreshWindow`` allows.
    case tooManyRefreshes

    /// A sentence for people.
    public var description: String {
        switch self {
        case .tooManyRefreshes: "the server refuses each new credential, so that it is not refreshed again for now"
        }
    }
}

/// How often a credential may be refreshed: a number of times within a length of time. A server that refuses every
/// credential must not make a program refresh without end.
public struct RefreshWindow: Hashable, Sendable {
    /// The number of refreshes in ``length``.
    public let count: Int
    /// The time in which they count.
    public let length: Duration
    private var times: [BootTime] = []

    /// By default 5 in 30 seconds, Alamofire's numbers.
    public init(count: Int = 5, length: Duration = .seconds(30)) {
        self.count = count
        self.length = length
    }

    /// Counts a refresh that begins now.
    ///
    /// - Returns: `false` if there were too many, and this one must not begin.
    package mutating func admit(at now: BootTime) -> Bool {
        times.removeAll { now - $0 >= length }
        guard times.count < count else { return false }
        times.append(now)
        return true
    }
}
