internal import ReachCore
internal import ReachLoop
internal import ReachQueue
internal import ReachTransfer

/// The uploads of requests that can be resumed.
extension QueueTransfers {
    /// An attempt of a resumable upload: several exchanges, of which the last one's answer is that of the request.
    final class UploadAttempt {
        /// The request as it was prepared; each exchange has its own method, URL, fields and part of the body.
        let template: TransferRequest
        let body: UploadBody
        var upload: ResumableUpload
        /// What the last answer means; `nil` if there is none.
        var decision: ResumableUpload.Decision?

        init(_ template: TransferRequest, _ body: UploadBody, _ upload: ResumableUpload) {
            (self.template, self.body, self.upload) = (template, body, upload)
        }

        /// Bytes before those of the running exchange.
        var base: UInt64 {
            if case .send(let range) = upload.exchange { range.lowerBound } else { upload.state.offset }
        }
    }

    func beginUpload(_ template: TransferRequest, _ attempt: Running, by engine: any TransferMaker) {
        let id = attempt.order.id
        uploads.open(template.body) { [weak self] result in
            guard let self, running[id] === attempt else { return }
            switch result {
            case .failure(let failure):
                removeRunning(id)
                send(.ended(id, .failed(AttemptFault(failure))))
            case .success(let body):
                var upload = ResumableUpload(
                    uploads[id], of: body.identity, to: template.url,
                    isCreation: attempt.specification.method == "POST")
                let first = upload.begin()
                attempt.upload = UploadAttempt(template, body, upload)
                guard case .next(let exchange) = first else {
                    removeRunning(id)
                    return send(.ended(id, .failed(AttemptFault(.file))))
                }
                begin(exchange, attempt, by: engine)
            }
        }
    }

    private func begin(_ exchange: ResumableUpload.Exchange, _ attempt: Running, by engine: any TransferMaker) {
        guard let current = attempt.upload else { return }
        let id = attempt.order.id
        attempt.progress = ByteProgress()
        uploads.record(current.upload.state, of: id, in: spool) { [weak self] in
            guard let self, running[id] === attempt else { return }
            var next = current.upload.request(exchange, from: current.template)
            host?.prepareExchange(&next, of: id)
            if case .send(let range) = exchange { next.body = current.body.part(range) }
            // The limit is one of the whole attempt.
            if let total = next.timeouts.total {
                next.timeouts.total = max(.milliseconds(1), total - (SystemClock.boot - attempt.began.boot))
            }
            begin(next, attempt, by: engine)
        }
    }

    /// Handles the end of an exchange.
    ///
    /// - Returns: Whether another exchange follows. If not, the attempt is over.
    func continueUpload(_ attempt: Running, after report: TransferReport, by engine: any TransferMaker) -> Bool {
        guard let current = attempt.upload else { return false }
        let id = attempt.order.id
        // 511 comes from a portal on the way.
        guard case .success(let head?) = report.outcome, head.status != 511 else {
            noteCutOff(attempt, after: report.sentBytes)
            return false
        }
        let decision = current.upload.handle(head, from: attempt.sent?.url)
        current.decision = decision
        uploads.note(current.upload.state, of: id)
        if current.upload.claimAdvance() { send(.uploadAdvanced(id)) }
        guard case .next(let exchange) = decision else {
            if decision != .complete { uploads.record(current.upload.state, of: id, in: spool) {} }
            return false
        }
        begin(exchange, attempt, by: engine)
        return true
    }

    /// Whether a request, to which a redirect leads, may be sent. Parts of an upload go to no other origin: the
    /// redirect is then the answer, which may be a portal's.
    func staysAtOrigin(_ next: TransferRequest, _ attempt: Running) -> Bool {
        attempt.upload.map { next.url.hasOrigin(of: $0.template.url) } ?? true
    }

    func noteCutOff(_ attempt: Running, after count: UInt64) {
        guard let current = attempt.upload else { return }
        current.upload.cutOff(after: count)
        uploads.note(current.upload.state, of: attempt.order.id)
    }

    /// How an attempt of an upload ended.
    func end(of attempt: Running, _ current: UploadAttempt, _ report: TransferReport) -> AttemptEnd {
        if case .failed(let fault) = current.decision { return .failed(fault) }
        // The next attempt begins again.
        if current.upload.isCreation, report.failure?.isOfShorterFile == true { return .failed(AttemptFault(.local)) }
        let statuses: [ClosedRange<Int>] =
            switch current.decision {
            case .complete: [100...599]
            case .refused: []
            default: attempt.terms.acceptedStatuses
            }
        let noted =
            current.upload.state.url.map { report.noting(finalURL: $0, of: attempt.specification.url) }
            ?? report
        return AttemptEnd(noted, accepting: statuses, answer: report.body.isEmpty ? .none : .inline(report.body))
    }
}

extension ResumableUpload {
    /// The request of an exchange, without its body.
    func request(_ exchange: Exchange, from template: TransferRequest) -> TransferRequest {
        var request = template
        request.body = .none
        // The answers are short; of an error page the beginning is enough.
        request.sink = .memory
        request.limit = ResponseLimit(bodyBytes: 64 << 10, action: .stop)
        request.acceptsEncodings = false
        request.headers.removeAll { field in
            if exchange == .create { return field.isNamed("Idempotency-Key") && state.restarts > 0 }
            return Self.ofCreation.contains { field.isNamed($0) }
        }
        request.headers.append(HeaderField("Tus-Resumable", "1.0.0"))
        switch exchange {
        case .create:
            request.method = "POST"
            request.headers.append(HeaderField("Upload-Length", "\(state.body.bytes)"))
        case .ask:
            request.method = "HEAD"
            request.url = state.url ?? request.url
        case .send(let range):
            request.method = "PATCH"
            request.url = state.url ?? request.url
            request.headers.append(HeaderField("Content-Type", "application/offset+octet-stream"))
            request.headers.append(HeaderField("Upload-Offset", "\(range.lowerBound)"))
        }
        return request
    }

    /// Fields that describe the file, or the making of the upload.
    private static let ofCreation = [
        "Content-Type", "Idempotency-Key", "Upload-Metadata", "Upload-Concat", "Upload-Defer-Length",
    ]
}
