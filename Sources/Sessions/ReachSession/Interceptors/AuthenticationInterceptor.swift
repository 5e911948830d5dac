internal import ReachCore
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
        var credential: Credential?
        var refresh: Task<Credential, any Error>?
        /// How often the program has replaced the credential.
        var replacements = 0
        var window: RefreshWindow
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
    ///   - isValid: Whether a credential can still be used; called before each attempt. By default it can until a server
    ///     refuses it.
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

    /// Replaces the credential, for attempts from now on.
    ///
    /// What a refresh under way returns goes to the requests that wait for it, and to no others.
    public func setCredential(_ credential: Credential?) {
        state.withLock { ($0.credential, $0.refresh, $0.replacements) = (credential, nil, $0.replacements + 1) }
    }

    /// Applies the credential, after a refresh if there is none that is valid.
    public func adapt(_ attempt: inout RequestAttempt) async throws {
        let credential: Credential
        if let present = self.credential, isValid(present) {
            credential = present
        } else {
            credential = try await refreshed(in: attempt.session)
        }
        apply(credential, &attempt)
    }

    /// Has the request sent again: at once if the credential has changed since the attempt, or after a refresh.
    public func retry(_ attempt: RequestAttempt, after response: RequestResponse) async -> RetryDecision {
        if let present = credential {
            var renewed = attempt
            apply(present, &renewed)
            if renewed.headers != attempt.headers { return .retry }
        }
        do {
            _ = try await refreshed(in: attempt.session)
            return .retry
        } catch {
            return .fail(error)
        }
    }

    /// Waits for the refresh that is under way, or begins one.
    private func refreshed(in session: RequestSession) async throws -> Credential {
        let now = SystemClock.boot
        let task: Task<Credential, any Error>? = state.withLock { state in
            if let running = state.refresh { return running }
            guard state.window.admit(at: now) else { return nil }
            let (present, replacements) = (state.credential, state.replacements)
            // Not the task of the request that is first: its cancellation must not end the others.
            let task = Task { try await self.result(of: present, session, after: replacements) }
            state.refresh = task
            return task
        }
        guard let task else { throw AuthenticationError.tooManyRefreshes }
        return try await task.value
    }

    private func result(
        of present: Credential?, _ session: RequestSession, after replacements: Int
    ) async throws -> Credential {
        do {
            let credential = try await refresh(present, session)
            state.withLock { state in
                guard state.replacements == replacements else { return }
                (state.credential, state.refresh) = (credential, nil)
            }
            return credential
        } catch {
            state.withLock { if $0.replacements == replacements { $0.refresh = nil } }
            throw error
        }
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
