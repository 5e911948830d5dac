internal import ReachCore
internal import ReachQueue
internal import ReachTransfer

extension TransferRequest {
    /// The attempt that an order asks for: by its path and by no other.
    ///
    /// Redirects are not followed: a redirect is an answer, and a request that is repeated must not end up elsewhere.
    ///
    /// - Throws: Where the URL is none for libcurl.
    init(
        _ order: AttemptOrder, _ queued: QueuedRequest, _ options: QueueTransfers.Options, spool: QueueSpool?,
        resume: ResumePoint?
    ) throws(TransferURL.Mistake) {
        self.init(queued.method, url: try TransferURL(queued.url))
        headers = queued.headers.map { HTTPField($0.name, $0.value) }
        if !queued.headers.contains(where: { $0.name.lowercased() == "user-agent" }) {
            headers.append(HTTPField("User-Agent", options.userAgent))
        }
        body = TransferBody(queued.body, spool: spool)
        interface = InterfaceBinding(name: order.path.interface, index: order.path.interfaceIndex)
        family = order.family ?? (order.path.families.count == 1 ? order.path.families.first : nil)
        timeouts = options.timeouts
        limit = ResponseLimit(bodyBytes: options.answerBytes, action: .fail)
        security = options.security
        if let path = queued.outputPath {
            limit.bodyBytes = options.downloadBytes
            sink = .file(FileSink(path: Self.part(of: path, order.id), resume: resume))
            return
        }
        guard let spool else { return }
        var sink = FileSink(path: spool.path(QueueSpool.answerName(order.id)), resume: resume)
        sink.memoryBytes = options.memoryBytes
        sink.permissions = 0o600
        self.sink = .file(sink)
    }

    /// Where a download to a client's place is until it is whole: the same for each attempt.
    static func part(of path: String, _ id: RequestID) -> String { "\(path).part-\(id)" }
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
