public import HTTPTypes

/// Encodes parameters in the URL's query, or as a form in the body: AFHTTPRequestSerializer.
///
/// For GET, HEAD and DELETE the parameters follow the existing query. For other methods the body is
/// `application/x-www-form-urlencoded`, empty if there are no parameters. Texts are encoded as UTF-8, unless
/// ``textEncoding`` is set.
public struct FormRequestSerializer: RequestSerializer {
    /// A custom encoder of parameters as a query. What it throws is the ``RequestSerializationError/custom(_:)`` of the
    /// request, unless it is a ``RequestSerializationError`` itself.
    public typealias QueryEncoder =
        @Sendable (_ request: WebRequest, _ parameters: ParameterValue) throws -> String

    /// Headers for requests that do not set their own.
    public var headers: HTTPFields
    /// The methods whose parameters are encoded in the URL, in capitals.
    public var methodsEncodingParametersInURL: Set<String> = ["GET", "HEAD", "DELETE"]
    /// The encoding of names and texts in queries and forms, before they are escaped, and of the texts of multipart
    /// forms: AFHTTPRequestSerializer's `stringEncoding`. A text with characters that it lacks is refused.
    public var textEncoding = TextEncoding.utf8
    /// A custom encoder; `nil` for ``QueryString``. Its result is inserted into the URL or the body unchanged, so it
    /// has to escape.
    public var queryEncoder: QueryEncoder?

    /// Creates a serializer.
    ///
    /// - Parameter headers: Headers for requests that do not set their own. ``DefaultHeaders`` builds those that
    ///   AFNetworking sends.
    public init(headers: HTTPFields = [:]) { self.headers = headers }

    /// Whether the parameters of a method are encoded in the URL. The method is compared without case.
    public func encodesInURL(_ method: HTTPRequest.Method) -> Bool {
        methodsEncodingParametersInURL.contains(method.rawValue.uppercased())
    }

    /// Adds headers, and encodes the parameters in the query or the body.
    public func serialize(
        _ request: WebRequest, parameters: ParameterValue?
    ) throws(RequestSerializationError) -> WebRequest {
        var request = request
        request.headers.complete(from: headers)
        let query = try parameters.map { parameters throws(RequestSerializationError) in
            try self.query(of: parameters, for: request)
        }
        if encodesInURL(request.method) {
            request.url = request.url.appendingQuery(query ?? "")
        } else {
            request.setContentType(unlessSet: "application/x-www-form-urlencoded")
            request.body = .bytes(Array((query ?? "").utf8))
        }
        return request
    }

    /// This serializer.
    public var form: FormRequestSerializer { self }

    /// Adds headers, and encodes the parameters in the query, or else in the body by `encode`.
    package func serialize(
        _ request: WebRequest, parameters: ParameterValue?, as mediaType: String,
        _ encode: (ParameterValue) throws(RequestSerializationError) -> [UInt8]
    ) throws(RequestSerializationError) -> WebRequest {
        if encodesInURL(request.method) { return try serialize(request, parameters: parameters) }
        var request = request
        request.headers.complete(from: headers)
        guard let parameters else { return request }
        request.setContentType(unlessSet: mediaType)
        request.body = .bytes(try encode(parameters))
        return request
    }

    private func query(
        of parameters: ParameterValue, for request: WebRequest
    ) throws(RequestSerializationError) -> String {
        if let queryEncoder {
            do {
                return try queryEncoder(request, parameters)
            } catch {
                throw error as? RequestSerializationError ?? .custom(SerializerFailure(error))
            }
        }
        guard case .dictionary(let members) = parameters else { throw .notADictionary }
        if textEncoding == .utf8 { return QueryString.text(of: members) }
        return QueryString.text(of: try ParameterPair.pairs(of: members).encoded(in: textEncoding))
    }
}

extension WebRequest {
    mutating func setContentType(unlessSet mediaType: String) {
        if !headers.contains(.contentType) { headers[.contentType] = mediaType }
    }
}

extension Optional {
    /// A `map` that keeps the type of the thrown error.
    fileprivate func map<Result, Failure>(
        _ transform: (Wrapped) throws(Failure) -> Result
    ) throws(Failure) -> Result? {
        guard let self else { return nil }
        return try transform(self)
    }
}
