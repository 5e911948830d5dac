internal import Dispatch
public import FoundationEssentials
public import ReachCore
public import ReachSerialization

/// One step from a request to a value. Each member resumes the task if it was never resumed, waits for the response,
/// and reads it in its own way, whatever the session's response serializer is. The status must be a success. Of a
/// download they read the whole file into memory.
extension RequestTask {
    /// Waits for the body, of any type.
    public func data() async throws(RequestError) -> Data { try await response(by: DataResponseSerializer()).data }

    /// Waits for the body as text: in UTF-8, or in what `Content-Type` or a byte order mark says.
    ///
    /// - Throws: A ``RequestError`` with the word `undecodable` if the body is no such text.
    public func text() async throws(RequestError) -> String {
        let response = try await response(by: DataResponseSerializer())
        if let text = response.text { return text }
        throw RequestError(undecodable: response, "text", "it is not in \(response.head.characterSet ?? "UTF-8")")
    }

    /// Waits for the body as a JSON document of any kind; null for an empty body.
    ///
    /// - Throws: A ``RequestError``, also for another type of content.
    public func json() async throws(RequestError) -> JSONValue {
        var serializer = JSONResponseSerializer()
        serializer.allowsFragments = true
        return try await response(by: serializer).object?.json ?? .null
    }

    /// Waits for the body, and decodes it from JSON:
    ///
    ///     let user: User = try await session.get("users/1").decoded()
    ///
    /// - Parameters:
    ///   - type: The type of the value.
    ///   - decoder: A decoder with one's own settings.
    /// - Throws: A ``RequestError`` of the kind `response` with the word `undecodable` if the body is no such value.
    ///   Its sentence has the place in the document, its ``RequestError/underlyingError`` is the `DecodingError`.
    public func decoded<Value: Decodable>(
        as type: Value.Type = Value.self, using decoder: JSONDecoder = JSONDecoder()
    ) async throws(RequestError) -> sending Value {
        try await received().decoded(by: decoder, .json)
    }

    /// Waits for the response, and reads it by a serializer of one's own in place of the session's.
    ///
    /// - Throws: The request's error, or that of the serializer.
    public func response(by serializer: some ResponseSerializer) async throws(RequestError) -> RequestResponse {
        let response = try await received()
        let serialized = serializer.serialize(response.head, body: response.body)
        var read = RequestResponse(
            WebResponse(url: response.url, head: response.head), body: response.body, object: serialized.object,
            path: response.path)
        (read.cacheUse, read.metrics) = (response.cacheUse, response.metrics)
        if let fault = serialized.error { throw RequestError(fault, read) }
        return read
    }

    /// Waits for the response, also for one that the session's serializer rejects.
    private func received() async throws(RequestError) -> RequestResponse {
        do throws(RequestError) {
            return try await response().withFile()
        } catch {
            guard error.responseError != nil, let rejected = error.response else { throw error }
            return rejected
        }
    }
}

extension RequestResponse {
    /// The body's bytes; empty where they went into a file.
    public var data: Data { Data(body) }

    /// The response with the bytes of a downloaded file, which stays as it is.
    ///
    /// - Throws: A ``RequestError`` of the kind `local` if the file cannot be read.
    fileprivate func withFile() async throws(RequestError) -> RequestResponse {
        guard let fileURL, let path else { return self }
        let bytes: Result<[UInt8], any Error> = await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                continuation.resume(returning: Result { Array(try Data(contentsOf: fileURL)) })
            }
        }
        do {
            var read = RequestResponse(WebResponse(url: url, head: head), body: try bytes.get(), path: path)
            (read.cacheUse, read.metrics) = (cacheUse, metrics)
            return read
        } catch {
            var failure = RequestError(.local, "file-failed", "\(path): the downloaded file cannot be read")
            failure.underlyingError = error
            throw failure
        }
    }

    /// The downloaded file.
    public var fileURL: URL? { path.map { URL(filePath: $0) } }

    /// Decodes the body from JSON, whatever the status and the type of content are.
    ///
    /// - Throws: A ``RequestError`` as ``RequestTask/decoded(as:using:)`` does.
    public func decoded<Value: Decodable>(
        as type: Value.Type = Value.self, using decoder: JSONDecoder = JSONDecoder()
    ) throws(RequestError) -> Value {
        try decoded(by: decoder, ResponseCheck(acceptableStatusCodes: nil))
    }

    fileprivate func decoded<Value: Decodable>(
        by decoder: JSONDecoder, _ check: ResponseCheck
    ) throws(RequestError) -> Value {
        let value: Value?
        do throws(ResponseError) {
            value = try check.decode(Value.self, by: decoder, head, body: body)
        } catch {
            throw RequestError(error, self)
        }
        if let value { return value }
        // The value of type `T?` that is nil, and not a lack of a value.
        if let type = Value.self as? any OptionalValue.Type, let nothing = type.nothing as? Value { return nothing }
        throw RequestError(undecodable: self, "\(Value.self)", "it is empty")
    }
}

/// What an optional type can be without a value.
private protocol OptionalValue {
    static var nothing: Self { get }
}

extension Optional: OptionalValue {
    fileprivate static var nothing: Self { nil }
}

extension RequestError {
    fileprivate init(undecodable response: RequestResponse, _ format: String, _ reason: String) {
        let fault = ResponseError.Fault.undecodable(format: format, reason: reason)
        self.init(ResponseError(fault, response: response.head, body: response.body), response)
    }
}
