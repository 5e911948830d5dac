public import ReachSerialization

/// The parts of an answer, as they arrive: ``ResponseStream/parts(limit:)``.
public struct ResponseParts: AsyncSequence, Sendable {
    private let stream: ResponseStream
    private let boundary: String
    private let limit: Int

    init(_ stream: ResponseStream, boundary: String, limit: Int) {
        (self.stream, self.boundary, self.limit) = (stream, boundary, limit)
    }

    /// Reads parts until the body ends.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private var pieces: ResponseStream.AsyncIterator
        private var reader: MultipartReader
        private var ready: ArraySlice<ResponsePart> = []

        fileprivate init(_ pieces: ResponseStream.AsyncIterator, _ reader: MultipartReader) {
            (self.pieces, self.reader) = (pieces, reader)
        }

        /// Waits for the next part. One that is not complete at the end of the body is dropped.
        ///
        /// - Throws: The request's error, or one with the word `part-too-long`.
        public mutating func next(isolation: isolated (any Actor)?) async throws(RequestError) -> ResponsePart? {
            while true {
                if let part = ready.popFirst() { return part }
                guard let piece = try await pieces.next(isolation: isolation) else { return nil }
                do throws(PartTooLong) {
                    ready = try reader.append(piece)[...]
                } catch {
                    throw RequestError(.response, "part-too-long", "a part has more than \(error.limit) bytes")
                }
            }
        }
    }

    /// Begins the iteration.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(stream.makeAsyncIterator(), MultipartReader(boundary: boundary, limit: limit))
    }
}

extension ResponseStream {
    /// The parts of a multipart body, such as the pictures of a camera (`multipart/x-mixed-replace`).
    ///
    ///     let stream = try await session.get("camera").stream()
    ///     for try await picture in try stream.parts() { show(picture.body) }
    ///
    /// - Parameter limit: The longest part in bytes, with its fields.
    /// - Throws: A ``RequestError`` with the word `not-multipart` for a body of another type.
    public func parts(limit: Int = 16 << 20) throws(RequestError) -> ResponseParts {
        guard let boundary = head.boundary else {
            throw RequestError(
                .response, "not-multipart", "the answer has no parts: its type is \(head.mediaType ?? "not named")")
        }
        return ResponseParts(self, boundary: boundary, limit: limit)
    }
}
