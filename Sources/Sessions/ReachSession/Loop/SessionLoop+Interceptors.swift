internal import HTTPTypes
internal import ReachCore
internal import ReachLoop
internal import ReachQueue
internal import ReachQueueRuntime
internal import ReachSerialization
internal import ReachTransfer

/// Calls interceptors on Swift's concurrent executor, and passes their decisions to the queue. The queue's scheduler
/// says when: a request is adapted before it has a slot, and its answer is judged after it has given its slot back.
extension SessionLoop {
    func setInterceptor(_ interceptor: any RequestInterceptor, _ name: String, of core: SessionCore) {
        interceptedCore = core
        interceptions.set(interceptor, name)
        engine?.driver.send(.interceptors(interceptions.names))
    }

    // MARK: - Before an attempt

    func intercept(_ id: RequestID, reply: @escaping (Bool) -> Void) {
        let number = interceptions.begin(id)
        if let request = tasks[id]?.first?.plan.queued { return adapt(id, number, request, reply) }
        engine?.driver.record(of: id) { [weak self] found in
            guard let self, case .success(let record?) = found else { return }
            adapt(id, number, record.request, reply)
        }
    }

    private func adapt(
        _ id: RequestID, _ number: UInt64, _ request: QueuedRequest, _ reply: @escaping (Bool) -> Void
    ) {
        // Without a session everything ends in a moment.
        guard let core = interceptedCore, let session = core.session, let name = request.specification.interceptor,
            let interceptor = interceptions.interceptors[name], let url = try? WebAddress(request.specification.url)
        else { return }
        let attempt = RequestAttempt(
            session: session, task: tasks[id]?.first, method: request.specification.method, url: url,
            retryCount: interceptions.retryCount(of: id), headers: HTTPFields(request.specification.headers))
        let answer = replies.expect { [weak self] (result: Result<Adaptation, RequestError>) in
            guard let self, interceptions.end(number, of: id) else { return }
            adapted(id, result, reply)
        }
        call(InterceptorCall(name, of: core), id, number) {
            answer(
                await Self.adapted(attempt, by: interceptor).flatMap { adapted in
                    do throws(RequestError) {
                        return .success(try Adaptation(name, adapted, of: request))
                    } catch {
                        return .failure(error)
                    }
                })
        }
    }

    /// Adapts an attempt, again and again where the interceptor wants that after its own failures.
    private static func adapted(
        _ attempt: RequestAttempt, by interceptor: any RequestInterceptor
    ) async -> Result<RequestAttempt, RequestError> {
        var attempt = attempt
        while true {
            do {
                var adapted = attempt
                try await interceptor.adapt(&adapted)
                return .success(adapted)
            } catch {
                let failure = RequestError(ofInterceptor: error)
                guard !Task.isCancelled, interceptor.judges(failure) else { return .failure(failure) }
                let wait: Duration
                switch await interceptor.retry(attempt, afterFailure: failure) {
                case .retry: wait = RetryDecision.wait(beforeRetry: attempt.retryCount + 1)
                case .retryAfter(let time): wait = min(max(time, .zero), longestWait)
                case .doNotRetry: return .failure(failure)
                case .fail(let error): return .failure(RequestError(ofInterceptor: error))
                }
                try? await Task.sleep(for: wait)
                if Task.isCancelled { return .failure(failure) }
                attempt.retryCount += 1
            }
        }
    }

    private func adapted(_ id: RequestID, _ result: Result<Adaptation, RequestError>, _ reply: (Bool) -> Void) {
        switch result {
        case .success(let adaptation):
            interceptions.set(adaptation, for: id)
            reply(true)
        case .failure(let error):
            fail(id, with: error)
            reply(false)
        }
    }

    // MARK: - After an attempt

    func judge(
        _ end: AttemptEnd, _ report: TransferReport, to sent: TransferRequest, of id: RequestID,
        reply: @escaping (InterceptorVerdict) -> Void
    ) -> Bool {
        guard let core = interceptedCore, let session = core.session,
            let adaptation = interceptions.adaptation(of: id),
            let interceptor = interceptions.interceptors[adaptation.name],
            let outcome = outcome(end, report, to: sent, of: id)
        else { return false }
        switch outcome {
        case .success(let response): if !interceptor.judges(response) { return false }
        case .failure(let error): if !interceptor.judges(error) { return false }
        }
        let attempt = RequestAttempt(
            session: session, task: tasks[id]?.first, method: adaptation.method, url: adaptation.url,
            retryCount: interceptions.retryCount(of: id), headers: adaptation.headers)
        let number = interceptions.begin(id)
        let answer = replies.expect { [weak self] (decision: RetryDecision) in
            guard let self, interceptions.end(number, of: id) else { return }
            reply(verdict(decision, end, try? outcome.get(), id))
        }
        call(InterceptorCall(adaptation.name, of: core), id, number) {
            switch outcome {
            case .success(let response): answer(await interceptor.retry(attempt, after: response))
            case .failure(let error): answer(await interceptor.retry(attempt, afterFailure: error))
            }
        }
        return true
    }

    /// What an interceptor may judge: an answer, or a failure of the destination; `nil` for neither.
    private func outcome(
        _ end: AttemptEnd, _ report: TransferReport, to sent: TransferRequest, of id: RequestID
    ) -> Result<RequestResponse, RequestError>? {
        switch end {
        case .answered:
            return report.response.flatMap { WebResponse($0, from: sent.url) }
                .map { .success(RequestResponse($0, body: report.body)) }
        case .failed:
            guard let failure = report.failure else { return nil }
            let mayHaveArrived = report.hops.contains { $0.phases.requestStarted != nil }
            if sent.isSentOnce, mayHaveArrived { return nil }
            // Pieces of an answer that were read cannot be taken back, nor can a body that was read be sent again.
            if let channel = channel(of: id), channel.hasBegun { return nil }
            if let upload = bodies.upload(of: id), !upload.canBeSent { return nil }
            return .failure(RequestError(.exhausted, failure))
        case .answeredElsewhere: return nil
        }
    }

    private func verdict(
        _ decision: RetryDecision, _ end: AttemptEnd, _ response: RequestResponse?, _ id: RequestID
    ) -> InterceptorVerdict {
        switch decision {
        case .retry:
            interceptions.countRetry(id)
            return .again(after: RetryDecision.wait(beforeRetry: interceptions.retryCount(of: id)))
        case .retryAfter(let wait):
            interceptions.countRetry(id)
            return .again(after: min(max(wait, .zero), Self.longestWait))
        case .doNotRetry: return .stands(end)
        case .fail(let error):
            var error = RequestError(ofInterceptor: error)
            if error.response == nil { error.response = response }
            fail(id, with: error)
            if case .answered(let result, _) = end { return .refused(result) }
            return .refused(nil)
        }
    }

    /// A month is more than a request lives.
    private static let longestWait = Duration.seconds(30 * 86_400)

    // MARK: - Both

    func abandon(_ id: RequestID) { interceptions.abandon(id) }

    private func call(
        _ call: InterceptorCall, _ id: RequestID, _ number: UInt64, _ work: @escaping @Sendable () async -> Void
    ) {
        let task = Task { await InterceptorCall.$current.withValue([call]) { await work() } }
        interceptions.running(task, number, of: id)
    }

    /// Keeps the error for the request's tasks, until the queue reports its end.
    private func fail(_ id: RequestID, with error: RequestError) {
        if tasks[id] != nil { note(of: id).error = error }
    }
}
