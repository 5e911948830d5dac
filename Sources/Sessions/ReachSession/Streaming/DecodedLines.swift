public import FoundationEssentials
internal import ReachCore
internal import ReachSerialization

/// The values of an answer of JSON documents, one a line (NDJSON, JSON Lines), as they arrive:
/// ``ResponseLines/decoded(as:using:)``.
public struct DecodedLines<Value: Decodable>: AsyncSequence, Sendable {
    fileprivate let lines: ResponseLines
    fileprivate let response: RequestResponse
    fileprivate let decoder: JSONDecoder

    /// Reads values until the body ends.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private var lines: ResponseLines.AsyncIterator
        private let response: RequestResponse
        private let decoder: JSONDecoder

        fileprivate init(_ values: DecodedLines) {
            lines = values.lines.makeAsyncIterator()
            (response, decoder) = (values.response, values.decoder)
        }

        /// Waits for the next value. Empty lines have none.
        ///
        /// - Throws: The request's error, or a ``RequestError`` with the word `undecodable` for a line that is no
        ///   such value. Its
        ///   ``RequestError/underlyingError`` is the `DecodingError`.
        public mutating func next(isolation: isolated (any Actor)?) async throws(RequestError) -> Value? {
            while let line = try await lines.next(isolation: isolation) {
                if line.unicodeScalars.allSatisfy(\.isBlank) { continue }
                let read = RequestResponse(
                    WebResponse(url: response.url, head: response.head), body: Array(line.utf8))
                return try read.decoded(as: Value.self, using: decoder)
            }
            return nil
        }
    }

    /// Begins the iteration.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(self) }
}

extension ResponseLines {
    /// Decodes each line from JSON:
    ///
    ///     let stream = try await session.get("events").stream()
    ///     for try await event in stream.lines.decoded(as: Event.self) { ... }
    ///
    /// - Parameters:
    ///   - type: The type of the values.
    ///   - decoder: A decoder with one's own settings. It must not be changed during the iteration.
    public func decoded<Value: Decodable>(
        as type: Value.Type = Value.self, using decoder: JSONDecoder = JSONDecoder()
    ) -> DecodedLines<Value> {
        DecodedLines(lines: self, response: response, decoder: decoder)
    }
}
