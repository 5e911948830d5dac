internal import HTTPTypes
internal import ReachCore
internal import ReachLoop
internal import ReachQueue
internal import ReachQueueRuntime
internal import ReachSerialization
internal import ReachTransfer

/// A stored response that a task may yet be answered with, while its request is queued.
struct HeldResponse {
    let response: CachedResponse
    /// Whether the server is asked if it still holds.
    let validates: Bool
    /// The cache's epoch when it was found: after another removal of everything it is not used.
    let epoch: UInt64
}

/// Answers of the cache: before a request is queued, instead of waiting for a network, and after a failure.
extension SessionLoop {
    /// Answers a task with a stored response, or calls `send`.
    func findStored(for task: RequestTask, send: @escaping () -> Void) {
        let policy = task.options.cachePolicy
        guard cache.isOn || policy == .returnCacheDontLoad else { return send() }
        guard let query = CacheQuery(task.plan, cookies, options.credentials),
            let url = try? TransferURL(task.plan.queued.specification.url)
        else {
            return policy == .returnCacheDontLoad ? refuse(task, .notCached) : send()
        }
        let epoch = cache.epoch
        guard cache.isOn, policy != .reload else { return decide(task, nil, epoch, query, send) }
        cache.find(
            url,
            reply: replies.expect { [weak self] (found: CachedResponse?) in
                guard let self else { return }
                decide(task, cache.epoch == epoch ? found : nil, epoch, query, send)
            })
    }

    private func decide(
        _ task: RequestTask, _ found: CachedResponse?, _ epoch: UInt64, _ query: CacheQuery, _ send: () -> Void
    ) {
        // Cancelled meanwhile.
        guard !task.requestState.isFinal else { return reportStored(task, nil) }
        let decision = CacheDecision(task.options.cachePolicy, found, query, at: SystemClock.now.wall)
        switch decision {
        // A user who suspended the task meanwhile wants no answer now.
        case .answer(let use) where !task.suspensionReasons.contains(.user):
            if let found { answer(task, found, use) }
        case .unavailable: refuse(task, .notCached)
        case .send, .validate, .answer:
            if let found, found.answers(query) { hold(found, epoch, validates: decision == .validate, for: task) }
            send()
        }
    }

    /// Keeps a response while its task's request is queued, unless too much is kept already.
    private func hold(_ response: CachedResponse, _ epoch: UInt64, validates: Bool, for task: RequestTask) {
        guard held.count < 256, held.values.reduce(response.bytes, { $0 + $1.response.bytes }) <= 64 << 20 else {
            return
        }
        // The answer to a validation is stored with the request, which a queue on disk limits.
        let fits = engine?.spool == nil || response.body.count <= QueueLimits().inlineBodyBytes
        held[task.identifier] = HeldResponse(response: response, validates: validates && fits, epoch: epoch)
    }

    /// The response that is kept for a task, unless everything was removed since.
    private func heldResponse(for task: RequestTask) -> HeldResponse? {
        held[task.identifier].flatMap { $0.epoch == cache.epoch ? $0 : nil }
    }

    private func answer(_ task: RequestTask, _ response: CachedResponse, _ use: CacheUse) {
        held[task.identifier] = nil
        guard let url = try? TransferURL(response.url),
            let head = WebResponse(ResponseHead(response, aged: use), from: url)
        else { return refuse(task, .notCached) }
        var answer = TaskAnswer(
            response: head, body: task.plan.queued.specification.method == "HEAD" ? [] : response.body)
        answer.cacheUse = use
        task.end(with: answer, error: nil)
        reportStored(task, nil)
    }

    /// Answers a request with what is stored, instead of letting it wait for a network or another attempt, if its
    /// policy says so.
    ///
    /// - Returns: `false` where the request has to wait.
    func answerWhenOffline(_ id: RequestID) -> Bool {
        guard let task = tasks[id]?.first, task.options.cachePolicy == .returnCacheWhenOffline,
            !task.suspensionReasons.contains(.user),
            let response = heldResponse(for: task)?.response
        else { return false }
        answer(task, response, response.use(at: SystemClock.now.wall))
        cancel(task)
        return true
    }

    /// Answers a task with what is stored instead of a failure, if the server or the task's policy allows it.
    func answerFailure(_ task: RequestTask, _ death: DeathReason, status: Int?) -> Bool {
        defer { held[task.identifier] = nil }
        guard let response = heldResponse(for: task)?.response else { return false }
        let now = SystemClock.now.wall
        let isFailure = status.map(CachedResponse.failures.contains) ?? [.exhausted, .expired].contains(death)
        let isOffline = status == nil && task.options.cachePolicy == .returnCacheWhenOffline
        guard isFailure, isOffline || response.mayReplaceFailure(at: now) else { return false }
        answer(task, response, response.use(at: now))
        return true
    }
}

/// The cache's part in attempts.
extension SessionLoop {
    /// Asks the server whether what is stored still holds.
    func validate(_ transfer: inout TransferRequest, of id: RequestID) {
        guard let task = tasks[id]?.first, let held = heldResponse(for: task), held.validates else { return }
        transfer.headers += held.response.validators
        attempts[id]?.isValidating = !held.response.validators.isEmpty
    }

    /// Removes what the answer to an unsafe method makes invalid (RFC 9111, 4.4).
    func invalidate(_ head: ResponseHead, to sent: TransferRequest) {
        guard cache.isOn, CacheRules.invalidates(sent.method, status: head.status) else { return }
        cache.remove(sent.url)
        for name in ["location", "content-location"] {
            if let other = head[name].flatMap({ try? sent.url.resolving($0) }), other.hasOrigin(of: sent.url) {
                cache.remove(other)
            }
        }
    }

    /// The request without the validators that the cache added, where they no longer fit: after a redirect, and where
    /// the server confirmed another response than the stored one.
    func withoutValidators(_ request: TransferRequest, of id: RequestID) -> TransferRequest {
        attempts[id]?.isValidating = false
        var request = request
        request.headers.removeAll { $0.isNamed("If-None-Match") || $0.isNamed("If-Modified-Since") }
        return request
    }

    /// Whether a 304 confirms another response than the stored one, or one that was removed since.
    func isMistaken(_ head: ResponseHead, _ id: RequestID) -> Bool {
        guard head.status == 304, attempts[id]?.isValidating == true else { return false }
        return !(heldResponse(of: id)?.isConfirmed(by: head.fields) ?? false)
    }

    private func heldResponse(of id: RequestID) -> CachedResponse? {
        tasks[id]?.first.flatMap { heldResponse(for: $0)?.response }
    }

    /// Replaces a 304 by the stored response that it confirms, and stores any other answer that may be stored.
    func settle(_ report: inout TransferReport, _ sent: TransferRequest, of id: RequestID) {
        guard cache.isOn, let task = tasks[id]?.first, let head = report.response else { return }
        let isValidating = attempts[id]?.isValidating ?? false
        let times = Self.times(report)
        if head.status == 304, isValidating, var response = heldResponse(of: id) {
            response.update(by: head.fields, requested: times.requested, received: times.received)
            cache.store(response, since: attempts[id]?.cacheEpoch)
            let now = SystemClock.now.wall
            let use = CacheUse(age: response.use(at: now).age, isStale: false, isValidated: true)
            report.outcome = .success(ResponseHead(response, aged: use))
            report.body = response.body
            attempts[id]?.cacheUse = use
            return
        }
        // The body of a stream went to its reader.
        guard channel(of: id) == nil else { return }
        store(report, head, isValidating ? withoutValidators(sent, of: id) : sent, times, task.plan, id)
    }

    private func store(
        _ report: TransferReport, _ head: ResponseHead, _ sent: TransferRequest,
        _ times: (requested: Timestamp, received: Timestamp), _ plan: TaskPlan, _ id: RequestID
    ) {
        guard sent.method == "GET", CacheQuery.isFor(plan), let user = user(of: sent, plan, id) else { return }
        let query = CacheQuery(fields: sent.sentFields, authorization: user.digest)
        guard CacheRules.mayStore(query, status: head.status, fields: head.fields) else {
            if 200..<300 ~= head.status, !query.isConditional { cache.remove(sent.url) }
            return
        }
        var response = CachedResponse(
            url: sent.url.description, status: head.status, version: head.version,
            fields: CacheRules.storable(head.fields), body: report.body, requested: times.requested,
            received: times.received, selecting: CacheRules.selecting(query, by: head.fields),
            authorization: query.authorization)
        if report.fileBytes == nil {
            storeIfWanted(response, for: tasks[id]?.first, since: attempts[id]?.cacheEpoch)
        } else if attempts[id]?.place == nil {
            // Stored when it is read from the queue's file.
            response.body = []
            attempts[id]?.unread = response
        }
    }

    /// Who an answer is for, as a digest; `nil` if the credentials of the storage have changed since they were sent.
    private func user(of sent: TransferRequest, _ plan: TaskPlan, _ id: RequestID) -> CacheUser? {
        if let digest = CacheQuery.callersDigest(plan) { return CacheUser(digest: digest) }
        guard let storage = options.credentials, let address = try? WebAddress(received: sent.url.description) else {
            return CacheUser(digest: nil)
        }
        if let last = attempts[id]?.authentication.sent,
            storage.credentials(for: address, realm: last.realm) != last.credentials
        {
            return nil
        }
        return CacheUser(digest: storage.users(of: address).flatMap(MessageDigest.sha256.hexadecimal))
    }

    /// Stores a response unless the hook refuses it.
    ///
    /// - Parameter epoch: The cache's epoch when the attempt began.
    func storeIfWanted(_ response: CachedResponse, for task: RequestTask?, since epoch: UInt64?) {
        guard let ask = options.hooks.caching, let url = try? WebAddress(received: response.url) else {
            return cache.store(response, since: epoch)
        }
        let head = HTTPResponse(status: .init(code: response.status), headerFields: HTTPFields(response.fields))
        switch ask(task, WebResponse(url: url, head: head), response.body) {
        case .store: cache.store(response, since: epoch)
        case .doNotStore: cache.remove(url)
        case .storeAs(let fields, let body):
            guard let fields = try? [HeaderField](fields) else { return cache.remove(url) }
            var changed = response
            changed.fields = fields
            changed.body = body
            cache.store(changed, since: epoch)
        }
    }

    /// When the request was sent, and when the answer began, on the wall clock.
    private static func times(_ report: TransferReport) -> (requested: Timestamp, received: Timestamp) {
        let (now, phases) = (SystemClock.now, report.hops.last?.phases)
        func wall(_ time: BootTime?) -> Timestamp {
            let since = time.map { now.boot - $0 } ?? .zero
            return Timestamp(nanosecondsSince1970: now.wall.nanosecondsSince1970 - max(since, .zero).nanoseconds)
        }
        return (wall(phases?.requestStarted), wall(phases?.firstByte))
    }
}

/// Whom an answer is for.
private struct CacheUser {
    /// `nil` for anybody.
    let digest: String?
}

extension CacheQuery {
    /// - Returns: `nil` for requests that the cache has no part in: other methods than GET and HEAD, downloads to
    ///   files, and requests with a name or an order among others.
    init?(_ plan: TaskPlan, _ cookies: CookieStorage, _ credentials: CredentialStorage?) {
        guard Self.isFor(plan) else { return nil }
        let request = plan.queued.specification
        var fields = request.headers
        if !fields.contains(where: { $0.isNamed("User-Agent") }) {
            fields.append(HeaderField("User-Agent", QueueTransfers.Options().userAgent))
        }
        if !fields.contains(where: { $0.isNamed("Cookie") }), let url = try? TransferURL(request.url),
            let value = cookies.header(for: url)
        {
            fields.append(HeaderField("Cookie", value))
        }
        let users = credentials?.users(of: plan.request.url)
        self.init(
            isHead: request.method == "HEAD", fields: fields,
            authorization: Self.callersDigest(plan) ?? users.flatMap(MessageDigest.sha256.hexadecimal))
    }

    /// Whether the cache has a part in a request.
    static func isFor(_ plan: TaskPlan) -> Bool {
        let request = plan.queued.specification
        return plan.kind == .data && (request.method == "GET" || request.method == "HEAD") && request.outputPath == nil
            && request.orderKey == nil && plan.options.uniqueness == .none
    }

    /// The digest of the Authorization field that the caller gave the request.
    static func callersDigest(_ plan: TaskPlan) -> String? {
        plan.queued.specification.headers.first { $0.isNamed("Authorization") }
            .flatMap { MessageDigest.sha256.hexadecimal($0.value) }
    }
}

extension ResponseHead {
    /// The head of a stored response, with its age (RFC 9111, 4).
    init(_ response: CachedResponse, aged use: CacheUse) {
        self.init(
            status: response.status, version: response.version,
            fields: response.fields.filter { !$0.isNamed("Age") }
                + [HeaderField("Age", "\(use.age.components.seconds)")],
            contentLength: UInt64(response.body.count))
    }
}

extension RequestError {
    /// The counterpart of the status 504 that RFC 9111 (5.2.1.7) has for `only-if-cached`.
    static let notCached = RequestError(
        .destination, "not-cached", "no stored response answers it, and it may not be sent")
}
