/// An interceptor of blocks: Alamofire's `Adapter`, `Retrier` and `Interceptor`.
///
///     session.setInterceptor(ClosureInterceptor { $0.headers[.userAgent] = "example/1" }, named: "agent")
///
/// A block that waits delays its request alone: one that sleeps until a date is NSURLSessionTask's `earliestBeginDate`.
public struct ClosureInterceptor: RequestInterceptor {
    /// Changes an attempt; see ``RequestInterceptor/adapt(_:)``.
    public typealias Adapt = @Sendable (inout RequestAttempt) async throws -> Void
    /// Decides what an answer means; see ``RequestInterceptor/retry(_:after:)``.
    public typealias Retry = @Sendable (RequestAttempt, RequestResponse) async -> RetryDecision

    /// Decides about a failure without an answer; see ``RequestInterceptor/retry(_:afterFailure:)``.
    public typealias RetryFailure = @Sendable (RequestAttempt, RequestError) async -> RetryDecision

    private let adaptation: Adapt
    private let judgement: @Sendable (RequestResponse) -> Bool
    private let decision: Retry
    private let failureDecision: RetryFailure?

    /// Creates an interceptor. A block that is left out does what ``RequestInterceptor``'s default does.
    ///
    /// - Parameters:
    ///   - adapt: Changes an attempt before it is sent.
    ///   - judges: Whether `retry` is asked about an answer; by default about those with the status 401.
    ///   - retry: Decides what an answer means.
    ///   - retryFailure: Decides about attempts that failed without an answer: refused connections, timeouts, and
    ///     adaptations that throw.
    public init(
        adapt: @escaping Adapt = { _ in },
        judges: @escaping @Sendable (RequestResponse) -> Bool = { $0.statusCode == 401 },
        retry: @escaping Retry = { _, _ in .doNotRetry },
        retryFailure: RetryFailure? = nil
    ) {
        adaptation = adapt
        judgement = judges
        decision = retry
        failureDecision = retryFailure
    }

    /// Calls the block for attempts.
    public func adapt(_ attempt: inout RequestAttempt) async throws { try await adaptation(&attempt) }

    /// Calls the block that chooses answers.
    public func judges(_ response: RequestResponse) -> Bool { judgement(response) }

    /// Calls the block for answers.
    public func retry(_ attempt: RequestAttempt, after response: RequestResponse) async -> RetryDecision {
        await decision(attempt, response)
    }

    /// Whether there is a block for failures.
    public func judges(_ error: RequestError) -> Bool { failureDecision != nil }

    /// Calls the block for failures.
    public func retry(_ attempt: RequestAttempt, afterFailure error: RequestError) async -> RetryDecision {
        await failureDecision?(attempt, error) ?? .doNotRetry
    }
}

/// Several interceptors as one: Alamofire's `Interceptor` with lists.
///
/// Each one adapts an attempt as the one before it left it. The first one that has an answer sent again, or ends its
/// request, decides; those that do not judge the answer are not asked.
public struct InterceptorChain: RequestInterceptor {
    /// The interceptors, in the order in which they are called.
    public let interceptors: [any RequestInterceptor]

    /// Joins interceptors.
    public init(_ interceptors: [any RequestInterceptor]) { self.interceptors = interceptors }

    /// Lets each interceptor change the attempt.
    public func adapt(_ attempt: inout RequestAttempt) async throws {
        for interceptor in interceptors { try await interceptor.adapt(&attempt) }
    }

    /// Whether any of the interceptors judges the answer.
    public func judges(_ response: RequestResponse) -> Bool { interceptors.contains { $0.judges(response) } }

    /// Asks the interceptors until one of them decides.
    public func retry(_ attempt: RequestAttempt, after response: RequestResponse) async -> RetryDecision {
        await decision(where: { $0.judges(response) }) { await $0.retry(attempt, after: response) }
    }

    /// Whether any of the interceptors judges the failure.
    public func judges(_ error: RequestError) -> Bool { interceptors.contains { $0.judges(error) } }

    /// Asks the interceptors until one of them decides.
    public func retry(_ attempt: RequestAttempt, afterFailure error: RequestError) async -> RetryDecision {
        await decision(where: { $0.judges(error) }) { await $0.retry(attempt, afterFailure: error) }
    }

    private func decision(
        where judges: (any RequestInterceptor) -> Bool, _ ask: (any RequestInterceptor) async -> RetryDecision
    ) async -> RetryDecision {
        for interceptor in interceptors where judges(interceptor) {
            let decision = await ask(interceptor)
            if case .doNotRetry = decision { continue }
            return decision
        }
        return .doNotRetry
    }
}
