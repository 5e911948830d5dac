internal import CHTTPServer
internal import Glibc
internal import ReachCore
internal import ReachFleet
internal import ReachLoop
internal import Synchronization

/// Serves the page, its figures and its news over HTTP, read-only.
///
/// libmicrohttpd's thread asks for texts and reads the streams; the thread that reads the engine publishes. What both
/// touch is behind one lock. Lives as long as the process.
final class PageServer: Sendable {
    /// What is served until the next reading: each text is made when it is first asked for.
    struct Edition: Sendable {
        /// A line of the stream of news.
        let news: [UInt8]
        /// A word that no host can know, for the page's policy.
        let make: @Sendable (ServedText) -> [UInt8]
    }

    private struct State: Sendable {
        var edition: Edition?
        var made: [ServedText: ServedBytes] = [:]
        var places = ServedPlaces()
        var streams: [CInt: NewsStream] = [:]
    }

    /// What the library accepts, a little more than there are places: who has to go takes a moment.
    private static let connectionLimit = UInt32(ServedPlaces.limit + 16)
    /// What the kernel keeps of an answer that its client does not read; by itself it would keep 4 MB of each.
    private static let sendBuffer: CInt = 256 << 10

    private let state = Mutex(State())
    private let access: ServedAccess

    init(_ access: ServedAccess) { self.access = access }

    /// Takes ownership of a listening socket.
    ///
    /// - Parameter connectionsOfClient: The most of one address; 0 for no limit, where a proxy brings all clients.
    /// - Throws: ``FleetFailure`` if the library is missing or cannot serve.
    func serve(_ listener: CInt, connectionsOfClient: UInt32) throws(FleetFailure) {
        if let reason = reach_http_missing() {
            throw FleetFailure(.unavailable, "\(String(cString: reason)) (Debian: libmicrohttpd12)")
        }
        var size = Self.sendBuffer
        setsockopt(listener, SOL_SOCKET, SO_SNDBUF, &size, socklen_t(MemoryLayout<CInt>.size))
        let context = Unmanaged.passRetained(self).toOpaque()
        let limits = reach_http_limits(
            connections: Self.connectionLimit, per_address: connectionsOfClient, idle_seconds: 30,
            request_bytes: 32 << 10)
        let isServing = reach_http_serve(
            listener, limits,
            { context, exchange, method, path in
                guard let context, let exchange, let method, let path else { return 0 }
                return Unmanaged<PageServer>.fromOpaque(context).takeUnretainedValue()
                    .answer(Exchange(exchange), String(cString: method), String(cString: path))
            },
            { context, descriptor, isOpen in
                guard let context else { return }
                Unmanaged<PageServer>.fromOpaque(context).takeUnretainedValue().note(descriptor, isOpen: isOpen != 0)
            }, context)
        guard isServing != 0 else { throw FleetFailure(.unavailable, "the HTTP server cannot begin") }
    }

    /// Replaces what is served, and tells the streams.
    func publish(_ edition: Edition) {
        state.withLock { state in
            state.edition = edition
            state.made = [:]
            for stream in state.streams.values { stream.send(edition.news) }
            // Each keeps an edition that nobody else needs.
            for descriptor in state.places.overdue(at: SystemClock.boot) { shutdown(descriptor, CInt(SHUT_RDWR)) }
        }
    }

    // MARK: - Connections, on the library's thread

    private func note(_ descriptor: CInt, isOpen: Bool) {
        state.withLock { state in
            guard isOpen else { return state.places.close(descriptor) }
            if let other = state.places.open(descriptor, at: SystemClock.boot) { shutdown(other, CInt(SHUT_RDWR)) }
        }
    }

    // MARK: - Answers, on the library's thread

    private func answer(_ exchange: Exchange, _ method: String, _ path: String) -> CInt {
        state.withLock { $0.places.answer(exchange.descriptor) }
        guard method == "GET" || method == "HEAD" else {
            return exchange.reply(405, [("Allow", "GET, HEAD")], "only GET and HEAD are answered here\n")
        }
        switch access.refusal(host: exchange.field("Host"), authorization: exchange.field("Authorization")) {
        case .unauthorized?:
            return exchange.reply(
                401, [("WWW-Authenticate", "Basic realm=\"reach-fleet\", charset=\"UTF-8\"")],
                "a token is needed\n")
        case .otherHost?:
            return exchange.reply(421, [], "this server has another name; see --name of reach-fleet serve\n")
        case nil: break
        }
        guard let text = ServedText(rawValue: path) else { return exchange.reply(404, [], "not found\n") }
        if text == .events { return method == "GET" ? stream(exchange) : exchange.reply(200, text, ServedBytes([])) }
        let bytes = state.withLock { state -> ServedBytes? in
            if let made = state.made[text] { return made }
            let made = (state.edition?.make(text)).map { ServedBytes($0) }
            state.made[text] = made
            return made
        }
        guard let bytes else { return exchange.reply(503, [("Retry-After", "2")], "the fleet is not read yet\n") }
        return exchange.reply(200, text, bytes)
    }

    private func stream(_ exchange: Exchange) -> CInt {
        let descriptor = exchange.descriptor
        let stream = NewsStream(exchange) { [self] stream in
            state.withLock { state in
                // Its descriptor may have another one by now.
                if state.streams[descriptor] === stream { state.streams[descriptor] = nil }
            }
        } reading: { [self] stream, place, size in
            // With the lock, so that what is published now either is read or wakes the stream.
            state.withLock { _ in stream.read(into: place, size) }
        }
        state.withLock { state in
            if let other = state.places.follow(descriptor) { state.streams.removeValue(forKey: other)?.finish() }
            state.streams[descriptor] = stream
            if let edition = state.edition { stream.send(edition.news) }
        }
        return stream.begin()
    }
}

/// A client that waits for news. What it has not read is replaced by what is newer.
///
/// `@unchecked Sendable`: the server's lock is held wherever its state is touched.
private final class NewsStream: @unchecked Sendable {
    private let exchange: Exchange
    private let ended: @Sendable (NewsStream) -> Void
    private let reading: @Sendable (NewsStream, UnsafeMutablePointer<CChar>, Int) -> Int
    private var unread: [UInt8] = []
    private var isResting = false
    private var isOver = false

    init(
        _ exchange: Exchange, ended: @escaping @Sendable (NewsStream) -> Void,
        reading: @escaping @Sendable (NewsStream, UnsafeMutablePointer<CChar>, Int) -> Int
    ) {
        (self.exchange, self.ended, self.reading) = (exchange, ended, reading)
    }

    /// Hands the client over to the library, which keeps this object until the client hangs up.
    func begin() -> CInt {
        Exchange.withFields([("Content-Type", ServedText.events.type), ("X-Accel-Buffering", "no")]) { fields in
            reach_http_stream(
                exchange.pointer, fields,
                { context, _, place, size in
                    guard let context, let place else { return -1 }
                    let stream = Unmanaged<NewsStream>.fromOpaque(context).takeUnretainedValue()
                    return stream.reading(stream, place, size)
                },
                { context in
                    guard let context else { return }
                    let stream = Unmanaged<NewsStream>.fromOpaque(context).takeRetainedValue()
                    stream.ended(stream)
                }, Unmanaged.passRetained(self).toOpaque())
        }
    }

    /// With the server's lock.
    func send(_ news: [UInt8]) {
        // A line of which a part was written has to be finished; news are shorter than what is read at once.
        unread = news
        wake()
    }

    /// Ends it, with the server's lock.
    func finish() {
        isOver = true
        wake()
    }

    private func wake() {
        guard isResting else { return }
        isResting = false
        reach_http_wake(exchange.pointer)
    }

    /// With the server's lock.
    func read(into place: UnsafeMutablePointer<CChar>, _ size: Int) -> Int {
        guard !isOver else { return -1 }
        guard !unread.isEmpty else {
            isResting = true
            reach_http_rest(exchange.pointer)
            return 0
        }
        guard unread.count <= size else { return -1 }
        for (index, byte) in unread.enumerated() { place[index] = CChar(bitPattern: byte) }
        defer { unread = [] }
        return unread.count
    }
}
