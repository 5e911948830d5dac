public import ReachSerialization

/// The events of an event stream, over as many connections as it takes (HTML standard, section 9.2):
/// ``RequestSession/serverSentEvents(_:headers:lastEventID:when:options:reconnects:)``.
///
/// The end of the iteration, by `break` or by the cancellation of the Swift task, closes the connection.
public struct ServerSentEvents: AsyncSequence, Sendable {
    fileprivate let connect: @Sendable (_ lastEventID: String) throws(RequestError) -> RequestTask
    fileprivate let lastEventID: String
    fileprivate let reconnects: Bool

    /// Reads events. It never ends by itself while it reconnects, except by a server that answers 204.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private let source: ServerSentEvents
        private var parser: ServerSentEventParser
        private var pieces: ResponseStream.AsyncIterator?
        private var ready: ArraySlice<ServerSentEvent> = []
        private var hasConnected = false
        private var isOver = false
        private var wait = Duration.seconds(3)

        fileprivate init(_ source: ServerSentEvents) {
            self.source = source
            parser = ServerSentEventParser(lastEventID: source.lastEventID)
        }

        /// Waits for the next event.
        ///
        /// - Throws: An error that connecting again does not mend: a status that is no success, another type of
        ///   content, a server that is not trusted, a cancellation. Without reconnection any error.
        public mutating func next(isolation: isolated (any Actor)?) async throws(RequestError) -> ServerSentEvent? {
            while true {
                if let event = ready.popFirst() { return event }
                if isOver { return nil }
                do throws(RequestError) {
                    try await read(isolation)
                } catch {
                    pieces = nil
                    guard source.reconnects, error.mayPass else {
                        isOver = true
                        throw error
                    }
                }
            }
        }

        private mutating func read(_ isolation: isolated (any Actor)?) async throws(RequestError) {
            if pieces == nil { try await connect(isolation) }
            if isOver { return }
            guard let piece = try await pieces?.next(isolation: isolation) else {
                pieces = nil
                isOver = !source.reconnects
                return
            }
            do throws(LineTooLong) {
                ready = try parser.append(piece)[...]
            } catch {
                throw RequestError(error)
            }
            // A server may ask for no wait at all, and then refuse every connection.
            if let time = parser.reconnectionTime {
                wait = Swift.min(Swift.max(time, .milliseconds(500)), .seconds(86_400))
            }
        }

        private mutating func connect(_ isolation: isolated (any Actor)?) async throws(RequestError) {
            if hasConnected {
                do { try await Task.sleep(for: wait) } catch { throw .cancelled }
            }
            hasConnected = true
            parser = ServerSentEventParser(lastEventID: parser.lastEventID)
            let stream = try await source.connect(parser.lastEventID).stream()
            if stream.head.status.code == 204 { return isOver = true }
            guard stream.head.mediaType == "text/event-stream" else {
                throw RequestError(
                    ResponseError(
                        .unacceptableContentType(stream.head.mediaType), response: stream.head, body: []),
                    RequestResponse(WebResponse(url: stream.url, head: stream.head)))
            }
            pieces = stream.makeAsyncIterator()
        }
    }

    /// Begins the iteration, and with it the first connection.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(self) }
}

extension RequestError {
    /// Whether another connection may succeed.
    fileprivate var mayPass: Bool {
        switch kind {
        case .destination, .expired, .indeterminate, .local, .notTaken, .offline: true
        case .request, .cancelled, .security, .response, .closed, .interceptor: false
        }
    }
}

extension RequestSession {
    /// The events of an event stream.
    ///
    ///     for try await event in session.serverSentEvents("updates") { print(event.type, event.data) }
    ///
    /// - Parameters:
    ///   - url: The source, as for other requests.
    ///   - headers: Headers that replace those of the serializer. `Accept` and `Cache-Control` are set.
    ///   - lastEventID: The ID of the last event of an earlier run, from which the server continues.
    ///   - constraint: What the network must be like, for each connection.
    ///   - options: The options of each connection.
    ///   - reconnects: Whether a connection that ends or fails is followed by another, which asks by `Last-Event-ID`
    ///     for what was missed, after the time that the server gave, or three seconds.
    public func serverSentEvents(
        _ url: some URLConvertible, headers: Headers = [:], lastEventID: String = "",
        when constraint: RequestConstraint? = nil, options: RequestOptions? = nil, reconnects: Bool = true
    ) -> ServerSentEvents {
        let url = url.urlText
        return ServerSentEvents(
            connect: { (id: String) throws(RequestError) in
                var fields: Headers = [.accept: "text/event-stream", .cacheControl: "no-store"]
                if !id.isEmpty { fields["Last-Event-ID"] = id }
                fields.replace(with: headers)
                return try self.get(url, headers: fields, when: constraint, options: options)
            }, lastEventID: lastEventID, reconnects: reconnects)
    }
}
