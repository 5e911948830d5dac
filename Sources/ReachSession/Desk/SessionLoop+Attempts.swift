internal import HTTPTypes
internal import Logging
internal import ReachCore
internal import ReachQueue
internal import ReachQueueRuntime
internal import ReachSerialization
internal import ReachTransfer

/// The outcome of a request's last attempt, kept until the queue reports what it means for the request.
struct AttemptNote {
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
    var refusedCredentials = 0
    var hasCredentials = false
}

/// The session's part in attempts: hooks, redirects, credentials, and destinations of downloads.
extension SessionLoop: AttemptHost {
    func prepare(_ transfer: inout TransferRequest, of id: RequestID) {
        attempts[id] = AttemptNote()
        transfer.clientCertificate = options.clientCertificate
        // A download can be resumed only as it is sent.
        transfer.acceptsEncodings = if case .file(let sink) = transfer.sink { sink.memoryBytes > 0 } else { true }
        let plan = tasks[id]?.first?.plan
        if let plan, case .multipart(let body) = plan.request.body,
            transfer.body == .file(path: BodyPreparer.streamPath)
        {
            transfer.body = .stream(StreamedBody(body))
        }
        guard let resumeData = plan?.resumeData, case .file(var sink) = transfer.sink else { return }
        // Bytes that an earlier attempt of this request received take precedence: they are in the same file.
        sink.goOn(with: resumeData.partialFile, from: resumeData.point)
        transfer.sink = .file(sink)
    }

    func received(_ head: ResponseHead, to sent: TransferRequest, of id: RequestID) -> String? {
        guard let ask = options.hooks.disposition, !isPassedOver(head, id),
            let response = WebResponse(head, from: sent.url)
        else { return nil }
        switch ask(tasks[id]?.first, response) {
        case .allow: return nil
        case .becomeDownload(let path):
            attempts[id, default: AttemptNote()].place = path
            return path
        case .cancel:
            if tasks[id] == nil { cancel(id) }
            for task in tasks[id] ?? [] { task.cancel() }
            return nil
        }
    }

    /// Whether the session handles this answer itself, by sending a further request, so that no hook is asked about it.
    private func isPassedOver(_ head: ResponseHead, _ id: RequestID) -> Bool {
        if case .follow = options.redirects, Self.redirectStatuses.contains(head.status), head["location"] != nil {
            return true
        }
        return head.status == 401 && options.hooks.challenge != nil && BasicChallenge(head) != nil
    }

    func next(after report: TransferReport, to sent: TransferRequest, of id: RequestID) -> TransferRequest? {
        guard let head = report.response, let response = WebResponse(head, from: sent.url) else { return nil }
        if Self.redirectStatuses.contains(head.status), let location = head["location"] {
            return redirected(response, to: location, from: sent, id)
        }
        if head.status == 401, let challenge = BasicChallenge(head) { return answered(challenge, response, sent, id) }
        return nil
    }

    func ended(_ report: TransferReport, sent: TransferRequest, of id: RequestID) {
        if let failure = report.failure {
            options.logger?.debug(
                "an attempt failed",
                metadata: ["request": "\(id.rawValue)", "host": "\(sent.url.host)", "error": "\(failure)"])
        }
        guard tasks[id] != nil else { return attempts[id] = nil }
        attempts[id, default: AttemptNote()].failure = report.failure
        attempts[id]?.answer = nil
        attempts[id]?.resumeData = nil
        let destination = tasks[id]?.first?.plan.queued.outputPath ?? attempts[id]?.place
        if let point = report.resume, let destination, case .file(let sink) = sent.sink {
            attempts[id]?.resumeData = ResumeData(
                url: sent.url.description, destination: destination, partialFile: sink.path, point: point)
        }
        guard let head = report.response, let response = WebResponse(head, from: sent.url) else { return }
        // A long answer is in the queue's spool, and is read from there.
        let isDownload = report.fileBytes != nil
        if isDownload, destination == nil, engine?.spool != nil { return }
        attempts[id]?.answer = TaskAnswer(response: response, body: report.body, path: isDownload ? destination : nil)
    }

    private static let redirectStatuses: Set<Int> = [301, 302, 303, 307, 308]

    /// Interrupts a download's attempt, and replies with the point from which it can resume. The caller then cancels
    /// the task.
    func interrupt(_ task: RequestTask, reply: @escaping (ResumeData?) -> Void) {
        guard let id = numbers[task.identifier], let engine, let path = task.plan.queued.outputPath else {
            return reply(nil)
        }
        let partialFile = task.plan.resumeData?.partialFile ?? engine.partialFile(of: path, id)
        engine.interrupt(id, task.plan.queued) { point in
            reply(
                point.map {
                    ResumeData(url: task.plan.queued.url, destination: path, partialFile: partialFile, point: $0)
                })
        }
    }

    // MARK: - Redirects

    private func redirected(
        _ response: WebResponse, to location: String, from sent: TransferRequest, _ id: RequestID
    ) -> TransferRequest? {
        let number = (attempts[id]?.redirects ?? 0) + 1
        guard case .follow(let limit) = options.redirects, number <= limit,
            let redirect = try? sent.redirect(to: location, status: response.statusCode),
            let destination = try? WebAddress(redirect.to.description)
        else { return nil }
        attempts[id, default: AttemptNote()].redirects = number
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
        case .goTo(let other):
            guard let changed = try? sent.redirect(to: other.description, status: response.statusCode) else {
                return nil
            }
            next.follow(changed)
        }
        return next
    }

    // MARK: - Credentials

    private func answered(
        _ challenge: BasicChallenge, _ response: WebResponse, _ sent: TransferRequest, _ id: RequestID
    ) -> TransferRequest? {
        guard let ask = options.hooks.challenge else { return nil }
        var note = attempts[id] ?? AttemptNote()
        if note.hasCredentials { note.refusedCredentials += 1 }
        attempts[id] = note
        let question = AuthenticationChallenge(
            response: response, realm: challenge.realm, failureCount: note.refusedCredentials)
        var headers = HTTPFields()
        guard note.refusedCredentials < Self.credentialLimit, let credentials = ask(tasks[id]?.first, question),
            headers.setBasicAuthorization(user: credentials.user, password: credentials.password),
            let value = headers[.authorization]
        else { return nil }
        attempts[id]?.hasCredentials = true
        var next = sent
        next.headers.removeAll { $0.name.lowercased() == "authorization" }
        next.headers.append(HeaderField("Authorization", value))
        return next
    }

    /// How many refused credentials end the attempt: a hook that always returns the same ones would be asked
    /// indefinitely.
    private static let credentialLimit = 5
}
