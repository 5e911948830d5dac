internal import ReachCore
internal import ReachQueue
package import ReachTransfer

extension TransferRequest {
    /// The attempt that an order asks for: by its path and by no other.
    ///
    /// Redirects are not followed: a redirect is an answer, and a request that is repeated must not end up elsewhere.
    ///
    /// - Parameter lastURL: That of the last request, mostly of the same server.
    /// - Throws: Where the URL is none for libcurl.
    init(
        _ attempt: QueueTransfers.Running, _ options: QueueTransfers.Options, spool: QueueSpool?, resume: ResumePoint?,
        keptFree: KeptSpace? = nil, lastURL: TransferURL? = nil
    ) throws(TransferURL.ValidationError) {
        let (order, specification, terms) = (attempt.order, attempt.specification, attempt.terms)
        var values = TransferRequest.Values(
            method: specification.method, url: try TransferURL(specification.url, like: lastURL))
        values.headers = specification.headers
        if !values.headers.contains(where: { $0.isNamed("User-Agent") }) {
            values.headers.append(HeaderField("User-Agent", options.userAgent))
        }
        values.body = TransferBody(specification.body, spool: spool)
        values.isSentOnce = terms.idempotency == .never
        values.connectionTerms.owner = .user(attempt.request.owner)
        values.connectionTerms.interface = InterfaceBinding(
            name: order.path.interface, index: order.path.interfaceIndex)
        values.family = order.family
        values.timeouts = options.timeouts
        if terms.followsRedirects { values.redirects = .follow(limit: Self.redirectLimit) }
        values.acceptsEncodings = terms.isCompressed
        if let wanted = terms.timeouts {
            (values.timeouts.connect, values.timeouts.idle, values.timeouts.total) = (
                wanted.connect, wanted.idle, wanted.total
            )
        }
        values.limit = ResponseLimit(bodyBytes: options.answerBytes, action: .fail)
        values.connectionTerms.security = options.security
        if let path = terms.outputPath {
            values.limit.bodyBytes = options.downloadBytes
            var sink = FileSink(downloadTo: path, order.id, resume: resume)
            sink.keptFree = keptFree
            values.sink = .file(sink)
        } else if let spool {
            var sink = FileSink(path: spool.path(QueueDirectory.answerName(order.id)), resume: resume)
            sink.recordSuffix = QueueDirectory.recordSuffix
            sink.memoryBytes = options.memoryBytes
            sink.permissions = 0o600
            sink.keptFree = keptFree
            values.sink = .file(sink)
        }
        self.init(values)
    }
}

extension TransferRequest {
    /// How many redirects one attempt follows, as browsers and sessions do.
    static let redirectLimit = 20

    /// The same request for the whole answer.
    var fromStart: TransferRequest {
        var copy = self
        if case .file(var sink) = self.sink {
            sink.resume = nil
            copy.sink = .file(sink)
        }
        return copy
    }

    /// Where it resumes a file.
    var resumePoint: ResumePoint? {
        if case .file(let sink) = self.sink { sink.resume } else { nil }
    }
}

extension FileSink {
    /// For a download to a client's place.
    init(downloadTo path: String, _ id: RequestID, resume: ResumePoint?) {
        self.init(part: QueueDownloads.part(of: path, id), resume: resume)
    }

    /// For a download to this file, until it is whole.
    package init(part: String, resume: ResumePoint?) {
        self.init(path: part, resume: resume)
        recordSuffix = QueueDownloads.recordSuffix
    }
}

extension TransferBody {
    fileprivate init(_ body: RequestBody, spool: QueueSpool?) {
        switch body {
        case .none: self = .none
        case .inline(let bytes): self = .bytes(bytes)
        case .file(let path, _): self = .file(path: path)
        case .spooled(let name, _): self = .file(path: spool?.path(name) ?? name)
        }
    }
}
