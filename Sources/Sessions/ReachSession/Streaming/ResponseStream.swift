public import HTTPTypes
internal import ReachQueue
public import ReachSerialization
internal import Synchronization

/// The body of an answer, in pieces as they arrive.
///
///     let stream = try await session.get("log").stream()
///     for try await line in stream.lines { print(line) }
///
/// A slow reader pauses the connection: the session holds at most a mebibyte that was not read. The sequence can be
/// iterated once. The end of the iteration, by `break` or by the cancellation of the Swift task, cancels the request.
public struct ResponseStream: AsyncSequence, Sendable {
    /// The URL that answered, after redirects.
    public let url: WebAddress
    /// The status and the header fields.
    public let head: HTTPResponse
    private let reader: StreamReader

    init(_ response: WebResponse, _ reader: StreamReader) {
        url = response.url
        head = response.head
        self.reader = reader
    }

    /// Reads pieces until the body ends.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private let end: StreamEnd

        fileprivate init(_ reader: StreamReader) { end = StreamEnd(reader) }

        /// Waits for the next piece, which is never empty.
        ///
        /// - Returns: `nil` at the end of the body.
        /// - Throws: The error with which the request ended before its body was complete.
        public mutating func next(isolation: isolated (any Actor)?) async throws(RequestError) -> [UInt8]? {
            try await end.reader.next()
        }
    }

    /// Begins the iteration.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(reader) }

    /// The text of the body, line by line. A line ends with LF or CR LF; text that is not UTF-8 is repaired.
    public var lines: ResponseLines { ResponseLines(self) }

    /// The events of an event stream (`text/event-stream`).
    /// ``RequestSession/serverSentEvents(_:headers:lastEventID:when:options:reconnects:)`` connects again, too.
    public var serverSentEvents: ResponseEvents { ResponseEvents(self) }
}

extension RequestTask {
    /// Starts the request, and waits for the head of its answer. The body is then read in pieces; the task ends after
    /// the last.
    ///
    /// An attempt of which pieces have arrived is not repeated. The size of the body is not limited.
    ///
    /// - Throws: The error of a request without an answer, or with a status that ``RequestOptions/acceptedStatuses`` do
    ///   not have; a ``RequestError`` with the word `already-started` if the task was resumed before, and with
    ///   `bad-upload-protocol` for a resumable upload.
    public func stream() async throws(RequestError) -> ResponseStream {
        if options.uploadProtocol != nil {
            throw RequestError(
                RequestValidationError(.uploadProtocol, "the answer to a resumable upload is not read in pieces"))
        }
        let channel = ResponseChannel()
        let isFirst = state.withLock { state in
            guard !state.wasResumed, !state.isOver, kind != .download else { return false }
            state.channel = channel
            return true
        }
        guard isFirst else {
            throw RequestError(
                .request, "already-started", "a stream begins with a task that was not resumed, and is no download")
        }
        resume()
        let reader = StreamReader(self, channel)
        return ResponseStream(try await reader.head(), reader)
    }
}

/// The reader of a task's answer. When no one holds it any more, the task is cancelled, unless it is over.
final class StreamReader: Sendable {
    private let task: RequestTask
    private let channel: ResponseChannel

    init(_ task: RequestTask, _ channel: ResponseChannel) {
        self.task = task
        self.channel = channel
    }

    deinit { task.cancel() }

    func cancel() { task.cancel() }

    func head() async throws(RequestError) -> WebResponse {
        let result: Result<WebResponse, RequestError> = await withTaskCancellationHandler {
            do throws(RequestError) { return .success(try await channel.head()) } catch { return .failure(error) }
        } onCancel: {
            task.cancel()
        }
        return try result.get()
    }

    func next() async throws(RequestError) -> [UInt8]? {
        let result: Result<(bytes: [UInt8], makesRoom: Bool)?, RequestError> = await withTaskCancellationHandler {
            do throws(RequestError) { return .success(try await channel.next()) } catch { return .failure(error) }
        } onCancel: {
            task.cancel()
        }
        guard let piece = try result.get() else {
            task.markReceived()
            return nil
        }
        if piece.makesRoom { task.core.resumeReading(task) }
        return piece.bytes
    }
}

/// Cancels the request at the end of an iteration.
final class StreamEnd: Sendable {
    let reader: StreamReader

    init(_ reader: StreamReader) { self.reader = reader }

    deinit { reader.cancel() }
}
