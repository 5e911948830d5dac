internal import HTTPTypes
internal import Logging
internal import ReachCore
internal import ReachLoop
internal import ReachQueue
internal import ReachQueueRuntime
internal import ReachSerialization
internal import ReachTransfer
internal import Synchronization

/// The outcome of a request's last attempt, kept until the queue reports what it means for the request. Confined to the
/// loop.
final class AttemptNote {
    /// The server's answer.
    var answer: TaskAnswer?
    /// The reason why the last attempt has no answer.
    var failure: TransferFailure?
    /// The point from which a download can resume.
    var resumeData: ResumeData?
    /// The path to which a hook redirected the answer's body.
    var place: String?
    /// Redirects followed in this attempt.
    var redirects = 0
    /// Whether the server is asked if a stored response still holds.
    var isValidating = false
    /// The use of the cache that the answer made.
    var cacheUse: CacheUse?
    /// The cache's epoch when the attempt began.
    var cacheEpoch: UInt64?
    /// The answer for the cache, whose body is read from the queue's file later.
    var unread: CachedResponse?
    /// The error with which the request's interceptor ends it.
    var error: RequestError?
    var authentication = AttemptAuthentication()
    /// Whether the session handles the answer itself, so that no hook receives its body.
    var isPassedOver = false
    /// Where the pieces of an accepted answer go.
    var channel: ResponseChannel?
    /// Whether the reader of these pieces is over, while other tasks wait for the answer.
    var isUnread = false
    /// All pieces so far, for tasks of the same request that do not read them.
    var copy: [UInt8]?
    /// The body of an answer that is not accepted, of a request that is read in pieces.
    var rejectedBody: [UInt8] = []
    var rejectedBytes: Int64 = 0
}

/// The session's part in attempts: hooks, redirects, credentials, and destinations of downloads.
extension SessionLoop: AttemptHost {
    func prepare(_ transfer: inout TransferRequest, of id: RequestID) {
        let note = AttemptNote()
        if cache.isOn { note.cacheEpoch = cache.epoch }
        attempts[id] = note
        for task in tasks[id] ?? [] { task.state.withLock { $0.metrics.attempts += 1 } }
        interceptions.apply(to: &transfer, of: id)
        offerCredentials(&transfer, of: id)
        transfer.clientCertificate = options.clientCertificate
        prepareHop(&transfer, of: id)
        validate(&transfer, of: id)
        transfer.trustJudge = trustJudge
        // A hook may make a redirect the answer.
        if case .follow = options.redirects, options.hooks.redirect == nil { transfer.leavesRedirects = true }
        // A download can be resumed only as it is sent.
        let isDownload = if case .file(let sink) = transfer.sink { sink.memoryBytes == 0 } else { false }
        (transfer.acceptsEncodings, transfer.undoesEncodings) = (!isDownload, isDownload)
        prepareStream(&transfer, of: id)
        transfer.reportsBody = options.hooks.received != nil && !isDownload
        if let body = bodies.sent(of: id), transfer.body == .file(path: BodyPreparer.streamPath) {
            transfer.body = body
        }
        let first = tasks[id]?.first
        if let first {
            transfer.rates = TransferRates(
                sending: first.plan.options.maximumSendRate, receiving: first.plan.options.maximumReceiveRate)
            transfer.hasOwnKey =
                first.plan.options.idempotencyKey != nil
                || first.plan.queued.specification.headers.contains { $0.isNamed("Idempotency-Key") }
        }
        defer { announce(&transfer, of: id) }
        guard let resumeData = first?.plan.resumeData, case .file(let sink) = transfer.sink else { return }
        // An earlier attempt of this request may have gone on in the same file, or begun it again. Its record says how
        // far.
        let isFirst = first?.metrics.attempts == 1
        transfer.sink = .file(
            FileSink(part: resumeData.partialFile, resume: sink.resume ?? (isFirst ? resumeData.point : nil)))
    }

    func prepareExchange(_ transfer: inout TransferRequest, of id: RequestID) {
        prepareHop(&transfer, of: id)
        attempts[id]?.redirects = 0
        repeatCredentials(&transfer, of: id)
    }

    /// The note of a request's attempt, which begins with the first thing that is noted.
    func note(of id: RequestID) -> AttemptNote {
        if let note = attempts[id] { return note }
        let note = AttemptNote()
        attempts[id] = note
        return note
    }

    func proxy(for url: TransferURL) -> TransferProxy { options.proxies.proxy(for: url) }

    /// Sets what belongs to the URL of one hop.
    private func prepareHop(_ transfer: inout TransferRequest, of id: RequestID) {
        transfer.cookies = usesCookies(id) ? cookies.header(for: transfer.url) : nil
        transfer.proxy = proxy(for: transfer.url)
    }

    private func usesCookies(_ id: RequestID) -> Bool { tasks[id]?.first?.options.usesCookies ?? true }

    func received(_ head: ResponseHead, to sent: TransferRequest, of id: RequestID) -> String? {
        if usesCookies(id) { cookies.store(head, from: sent.url) }
        invalidate(head, to: sent)
        noteResumption(head, sent, id)
        // Most requests have neither a hook nor a reader, and need no copy of the head.
        // Of a resumable upload, most answers are not the request's.
        let choose = tasks[id]?.first?.destination
        guard options.hooks.disposition != nil || choose != nil || channel(of: id) != nil, !isPassedOver(head, id),
            tasks[id]?.first?.plan.queued.specification.uploadProtocol == nil,
            let response = WebResponse(head, from: sent.url), !interceptions.judges(RequestResponse(response), id)
        else { return nil }
        beginStream(response, of: id)
        let chosen = choose?(response).map { ResponseDisposition.becomeDownload(path: $0) } ?? .allow
        switch options.hooks.disposition?(tasks[id]?.first, response) ?? chosen {
        case .allow:
            guard case .becomeDownload(let path) = chosen else { return nil }
            return place(path, of: id)
        case .becomeDownload(let path): return place(path, of: id)
        case .cancel:
            if tasks[id] == nil { cancel(id) }
            for task in tasks[id] ?? [] { task.cancel() }
            return nil
        }
    }

    /// Reports a download that the server continues, and forgets whose body is reported next.
    private func noteResumption(_ head: ResponseHead, _ sent: TransferRequest, _ id: RequestID) {
        if options.hooks.received != nil { note(of: id).isPassedOver = isPassedOver(head, id) }
        guard head.status == 206, case .file(let sink) = sent.sink, let point = sink.resume else { return }
        for task in tasks[id] ?? [] { task.downloadResumed(at: Int64(clamping: point.offset)) }
    }

    private func place(_ path: String, of id: RequestID) -> String {
        if tasks[id]?.first?.options.createsDirectories == true { try? DirectoryMaker.makeParents(of: path) }
        note(of: id).place = path
        return path
    }

    /// Whether the session handles this answer itself, by sending a further request, so that no hook is asked about it.
    private func isPassedOver(_ head: ResponseHead, _ id: RequestID) -> Bool {
        if case .follow = options.redirects, Self.redirectStatuses.contains(head.status), head["location"] != nil {
            return true
        }
        if head.status == 304, attempts[id]?.isValidating == true { return true }
        return answersChallenge(head)
    }

    func next(after report: TransferReport, to sent: TransferRequest, of id: RequestID) -> TransferRequest? {
        noteExchange(report, by: sent.interface?.name, id)
        guard let head = report.response, var next = following(head, sent, id), hasBody(for: next, after: head, id)
        else {
            return nil
        }
        prepareHop(&next, of: id)
        attempts[id]?.rejectedBody = []
        attempts[id]?.rejectedBytes = 0
        let keeps = next.url == sent.url || attempts[id]?.isValidating != true
        if !keeps { next = withoutValidators(next, of: id) }
        announce(&next, of: id)
        return next
    }

    /// Reports a request to those who follow it, as it is sent.
    private func announce(_ transfer: inout TransferRequest, of id: RequestID) {
        for task in tasks[id] ?? [] {
            for field in options.instruments.flatMap({ $0.willSend(transfer.method, for: task) }) {
                transfer.headers.removeAll { $0.isNamed(field.name) }
                transfer.headers.append(field)
            }
            task.willSend(transfer)
        }
    }

    private func noteExchange(_ report: TransferReport, by interface: String?, _ id: RequestID) {
        guard let tasks = tasks[id] else { return }
        let exchange = report.hops.last.flatMap { address(of: $0.url, id) }
            .flatMap { TaskMetrics.Exchange(report, by: interface, $0, at: SystemClock.now) }
        for task in tasks {
            if let exchange { task.state.withLock { $0.metrics.add(exchange) } }
            for instrument in options.instruments {
                instrument.ended(exchange, report.failure?.reason.rawValue, of: task)
            }
        }
    }

    /// Whether the body of a further request can be sent; if not, the request ends with an error that says so.
    private func hasBody(for next: TransferRequest, after head: ResponseHead, _ id: RequestID) -> Bool {
        guard case .arriving = next.body, let upload = bodies.upload(of: id), !upload.canBeSent else { return true }
        let purpose = head.status == 401 ? "an answer to a challenge" : "a redirect"
        note(of: id).error = .bodyConsumed(for: "\(purpose) (\(head.status))")
        return false
    }

    private func following(
        _ head: ResponseHead, _ sent: TransferRequest, _ id: RequestID
    ) -> TransferRequest? {
        if isMistaken(head, id) { return withoutValidators(sent, of: id) }
        noteAccepted(head, to: sent, of: id)
        if Self.redirectStatuses.contains(head.status) {
            return WebResponse(head, from: sent.url).flatMap { redirected($0, to: head["location"], from: sent, id) }
        }
        guard head.status == 401, let challenge = ServerChallenge(head) else { return nil }
        return WebResponse(head, from: sent.url).flatMap { answered(challenge, $0, sent, id) }
    }

    func ended(_ report: inout TransferReport, sent: TransferRequest, of id: RequestID) {
        settle(&report, sent, of: id)
        if let failure = report.failure {
            options.logger?.debug(
                "an attempt failed",
                metadata: ["request": "\(id.rawValue)", "host": "\(sent.url.host)", "error": "\(failure)"])
        }
        guard let tasks = tasks[id] else { return attempts[id] = nil }
        let note = note(of: id)
        note.failure = report.failure
        note.answer = nil
        note.resumeData = nil
        if report.failure != nil, let error = bodies.upload(of: id)?.failure { note.error = error }
        let destination = note.place ?? tasks.first?.plan.queued.specification.outputPath
        if let point = report.resume, let destination, case .file(let sink) = sent.sink {
            note.resumeData = ResumeData(
                url: sent.url.description, destination: destination, partialFile: sink.path, point: point)
        }
        guard let head = report.response,
            let address = address(of: sent.url, id),
            let response = WebResponse(address, status: head.status, fieldsMemo.read(head.fields))
        else { return }
        // A long answer is in the queue's spool, and is read from there.
        let isDownload = report.fileBytes != nil
        if isDownload, destination == nil, engine?.spool != nil { return }
        let body = report.body.isEmpty ? note.copy ?? note.rejectedBody : report.body
        note.answer = TaskAnswer(
            response: response, body: body, path: isDownload ? destination : nil, cacheUse: note.cacheUse)
    }

    /// The address of a hop. Mostly it is the request's own, which was read when the task was created.
    private func address(of url: TransferURL, _ id: RequestID) -> WebAddress? {
        if let task = tasks[id]?.first, task.plan.queued.specification.url == url.description {
            return task.plan.request.url
        }
        return try? WebAddress(received: url.description)
    }

    private static let redirectStatuses: Set<Int> = [301, 302, 303, 307, 308]

    /// Interrupts a download's attempt, and replies with the point from which it can resume. The caller then cancels
    /// the task.
    func interrupt(_ task: RequestTask, reply: @escaping (ResumeData?) -> Void) {
        guard let id = task.requestID, let engine, let path = task.plan.queued.specification.outputPath else {
            return reply(nil)
        }
        let destination = attempts[id]?.place ?? path
        engine.interrupt(id, task.plan.queued) { found in
            reply(
                found.map {
                    ResumeData(
                        url: task.plan.queued.specification.url, destination: destination, partialFile: $0.file,
                        point: $0.point)
                })
        }
    }

    // MARK: - Redirects

    /// - Throws: Why the redirect is not followed.
    private func next(
        _ response: WebResponse, to location: String?, from sent: TransferRequest, _ number: Int, _ limit: Int
    ) throws(RequestError) -> (Redirect, WebAddress) {
        let status = response.statusCode
        guard let location else {
            throw RequestError(.response, "no-location", "the server redirects (\(status)) without a place to go to")
        }
        guard number <= limit else {
            throw RequestError(
                .response, "too-many-redirects",
                "more than \(limit) redirects, the last to \(DisplayText.excerpt(location))")
        }
        let redirect: Redirect
        do throws(TransferFailure) {
            redirect = try sent.redirect(to: location, status: status)
        } catch {
            throw RequestError(.response, error.reason.rawValue, "the redirect is not followed: \(error.message)")
        }
        do throws(WebAddressError) {
            return (redirect, try WebAddress(received: redirect.to.description))
        } catch {
            throw RequestError(.response, "bad-url", "the redirect is not followed: \(error.description)")
        }
    }

    private func redirected(
        _ response: WebResponse, to location: String?, from sent: TransferRequest, _ id: RequestID
    ) -> TransferRequest? {
        let number = (attempts[id]?.redirects ?? 0) + 1
        guard case .follow(let limit) = options.redirects else { return nil }
        let redirect: Redirect
        let destination: WebAddress
        do throws(RequestError) {
            (redirect, destination) = try next(response, to: location, from: sent, number, limit)
        } catch {
            var error = error
            error.response = RequestResponse(response)
            // A request may want the redirect itself.
            let accepted = tasks[id]?.first?.plan.queued.specification.acceptedStatuses ?? []
            if !accepted.contains(where: { $0.contains(response.statusCode) }) { note(of: id).error = error }
            return nil
        }
        note(of: id).redirects = number
        for task in tasks[id] ?? [] { task.state.withLock { $0.metrics.redirects += 1 } }
        var next = sent
        let proposed = ProposedRedirect(
            response: response, destination: destination, method: redirect.method, number: number)
        switch options.hooks.redirect?(tasks[id]?.first, proposed) ?? .follow {
        case .stay: return nil
        case .follow: next.follow(redirect)
        case .followAdding(let headers):
            next.follow(redirect)
            guard let added = try? [HeaderField](headers) else { return nil }
            next.headers.removeAll { old in added.contains { $0.isNamed(old.name) } }
            next.headers += added
        case .followAs(let method):
            guard let changed = redirect.with(method: method) else {
                note(of: id).error = RequestError(RequestSerializationError.badMethod(method))
                return nil
            }
            next.follow(changed, keepsBody: !["GET", "HEAD"].contains(method))
        case .goTo(let other):
            guard let changed = try? sent.redirect(to: other.description, status: response.statusCode) else {
                return nil
            }
            next.follow(changed)
        }
        withdrawSecrets(from: &next, meantFor: sent.url, id)
        return next
    }

    private func withdrawSecrets(from next: inout TransferRequest, meantFor sent: TransferURL, _ id: RequestID) {
        // Also where only the port differs.
        if !next.url.hasOrigin(of: sent) {
            interceptions.withdraw(from: &next, of: id)
            attempts[id]?.authentication.sent = nil
        } else if attempts[id]?.authentication.sent?.isBasic == false {
            // A Digest answer is for one URL and method (RFC 7616, 3.4.3).
            next.headers.removeAll { $0.isNamed("Authorization") }
            attempts[id]?.authentication.sent = nil
        }
    }
}
