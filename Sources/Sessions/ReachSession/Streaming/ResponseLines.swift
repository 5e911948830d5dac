public import ReachSerialization

/// The lines of an answer, as they arrive: ``ResponseStream/lines``.
public struct ResponseLines: AsyncSequence, Sendable {
    private let stream: ResponseStream
    /// The head of the answer.
    var response: RequestResponse { RequestResponse(WebResponse(url: stream.url, head: stream.head)) }

    init(_ stream: ResponseStream) { self.stream = stream }

    /// Reads lines until the body ends.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private var pieces: ResponseStream.AsyncIterator
        private var splitter = LineSplitter()
        private var ready: ArraySlice<[UInt8]> = []
        private var isOver = false

        fileprivate init(_ pieces: ResponseStream.AsyncIterator) { self.pieces = pieces }

        /// Waits for the next line, without its end.
        ///
        /// - Throws: The request's error, or one with the word `line-too-long` for a line of more than a mebibyte.
        public mutating func next(isolation: isolated (any Actor)?) async throws(RequestError) -> String? {
            while true {
                if let line = ready.popFirst() { return String(decoding: line, as: UTF8.self) }
                if isOver { return nil }
                guard let piece = try await pieces.next(isolation: isolation) else {
                    isOver = true
                    ready = [splitter.finish()].compactMap(\.self)[...]
                    continue
                }
                do throws(LineTooLong) {
                    ready = try splitter.append(piece)[...]
                } catch {
                    throw RequestError(error)
                }
            }
        }
    }

    /// Begins the iteration.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(stream.makeAsyncIterator()) }
}

/// The events of an event stream, as they arrive, over one connection: ``ResponseStream/serverSentEvents``.
public struct ResponseEvents: AsyncSequence, Sendable {
    private let stream: ResponseStream

    init(_ stream: ResponseStream) { self.stream = stream }

    /// Reads events until the body ends.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private var pieces: ResponseStream.AsyncIterator
        private var parser = ServerSentEventParser()
        private var ready: ArraySlice<ServerSentEvent> = []

        fileprivate init(_ pieces: ResponseStream.AsyncIterator) { self.pieces = pieces }

        /// Waits for the next event. One that is not complete at the end of the body is dropped, as the standard says.
        ///
        /// - Throws: The request's error, or one with the word `line-too-long` for an event of more than a mebibyte.
        public mutating func next(isolation: isolated (any Actor)?) async throws(RequestError) -> ServerSentEvent? {
            while true {
                if let event = ready.popFirst() { return event }
                guard let piece = try await pieces.next(isolation: isolation) else { return nil }
                do throws(LineTooLong) {
                    ready = try parser.append(piece)[...]
                } catch {
                    throw RequestError(error)
                }
            }
        }
    }

    /// Begins the iteration.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(stream.makeAsyncIterator()) }
}

extension RequestError {
    init(_ error: LineTooLong) { self.init(.response, "line-too-long", error.description) }
}
