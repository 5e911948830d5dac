internal import Glibc
internal import ReachCore
internal import ReachLoop

/// A connection of a metrics client, for one request and one response.
final class MetricsConnection {
    /// The connection's number, which increases with each connection.
    let number: UInt64
    private var hasRequest = false
    /// Whether the request is complete and the response is not yet sent.
    var isBeingAnswered: Bool { hasRequest && !isAnswered }
    private let descriptor: CInt
    private let loop: EventLoop
    private let loopReference = LoopReference<MetricsConnection>()
    private let source: MetricsSource
    private let client: ScrapeClient
    /// While an attempt runs.
    private var scrape: ScrapeTicket?
    private let onClose: () -> Void
    private var head = MetricsHead()
    private var unsent: [UInt8] = []
    private var written = 0
    private var isAnswered = false
    private var timer: TimerQueue.ID?
    private var isClosed = false

    /// The time limit of the request, the snapshot and the response together. Prometheus gives up after 10 s.
    private static let patience = Duration.seconds(10)

    /// The longest time limit of an attempt, and a little more.
    private static let longestScrape = Duration.seconds(310)

    init(
        _ descriptor: CInt, number: UInt64, of client: ScrapeClient, on loop: EventLoop, _ source: MetricsSource,
        onClose: @escaping () -> Void
    ) {
        self.number = number
        self.descriptor = descriptor
        self.loop = loop
        self.source = source
        self.client = client
        self.onClose = onClose
        loopReference.owner = self
        timer = loop.schedule(at: SystemClock.boot + Self.patience) { [weak self] in self?.close() }
        try? loop.watch(descriptor, for: .readable) { [weak self] readiness in self?.ready(readiness) }
    }

    deinit { loopReference.owner = nil }

    func close() {
        guard !isClosed else { return }
        isClosed = true
        timer.map(loop.cancel)
        scrape.map(source.end)
        loop.unwatch(descriptor)
        Glibc.close(descriptor)
        onClose()
    }

    private func ready(_ readiness: EventLoop.Interest) {
        // Whoever closed its half waits for no attempt, which would have a place for as long as it runs.
        if scrape != nil { close() } else if unsent.isEmpty { read() } else { write() }
    }

    private func read() {
        let request = withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 1) { buffer -> MetricsRequest? in
            let count = recv(descriptor, buffer.baseAddress, buffer.count, 0)
            if count < 0, errno == EAGAIN || errno == EINTR { return nil }
            guard count > 0 else {
                close()
                return nil
            }
            return isAnswered ? nil : head.append(buffer[..<count])
        }
        guard let request else { return }
        hasRequest = request != .incomplete
        switch request {
        case .incomplete: break
        case .metrics(let hasBody, let format): requestMetrics(hasBody, format)
        case .probe(let order): requestScrape(order)
        case .index: answer("200 OK", "text/plain", Array("reachd: see /metrics\n".utf8))
        case .notFound: answer("404 Not Found", "text/plain", Array("not found; see /metrics\n".utf8))
        case .badMethod: answer("405 Method Not Allowed", "text/plain", [], more: "Allow: GET, HEAD\r\n")
        case .bad: answer("400 Bad Request", "text/plain", [])
        }
    }

    private func requestMetrics(_ hasBody: Bool, _ format: MetricWriter.Format) {
        // Nothing more is read. A hangup is reported even without an interest.
        try? loop.change(descriptor, to: [])
        source.request { [loopReference] snapshot in
            loopReference.owner?.answer(
                "200 OK", format.mediaType, snapshot.text(format), hasBody: hasBody)
        }
    }

    private func requestScrape(_ order: ScrapeOrder) {
        try? loop.change(descriptor, to: .peerClosed)
        // The attempt has a limit of its own, by which the answer comes.
        timer.map(loop.cancel)
        timer = loop.schedule(at: SystemClock.boot + Self.longestScrape) { [weak self] in self?.close() }
        let ticket = ScrapeTicket(client)
        scrape = ticket
        source.scrape(order, ticket) { [loopReference] scraped in
            loopReference.owner?.answer(scraped.status, MetricWriter.Format.prometheus.mediaType, scraped.text)
        }
    }

    private func answer(_ status: String, _ type: String, _ body: [UInt8], hasBody: Bool = true, more: String = "") {
        guard !isClosed else { return }
        scrape = nil
        let head =
            "HTTP/1.1 \(status)\r\nContent-Type: \(type)\r\nContent-Length: \(body.count)\r\n"
            + "\(more)Connection: close\r\n\r\n"
        unsent = Array(head.utf8)
        if hasBody { unsent += body }
        try? loop.change(descriptor, to: .writable)
    }

    private func write() {
        let count = unsent[written...].withUnsafeBytes {
            send(descriptor, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL))
        }
        if count < 0, errno == EAGAIN || errno == EINTR { return }
        guard count > 0 else { return close() }
        written += count
        guard written == unsent.count else { return }
        // With unread input, close() would reset the connection and lose the response (RFC 9112, section 9.6).
        shutdown(descriptor, CInt(SHUT_WR))
        isAnswered = true
        unsent = []
        try? loop.change(descriptor, to: .readable)
    }
}
