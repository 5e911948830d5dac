/// Parameters in the URL's query, or as a form in the body: AFHTTPRequestSerializer.
///
/// GET, HEAD and DELETE have them in the query, after what is there; other methods have them as
/// `application/x-www-form-urlencoded`, with an empty body where there are none. Texts are UTF-8.
public struct FormRequestSerializer: RequestSerializer {
    /// Writes parameters as a query in a way of one's own.
    public typealias QueryEncoder =
        @Sendable (_ request: HTTPRequest, _ parameters: ParameterValue) throws(RequestSerializationError) -> String

    /// Set in requests that do not have them.
    public var headers: HTTPHeaders
    /// Methods whose parameters go into the URL, in capitals.
    public var methodsEncodingParametersInURL: Set<String> = ["GET", "HEAD", "DELETE"]
    /// `nil` for ``QueryString``. What it returns stands in the URL or the body as it is, so it has to escape.
    public var queryEncoder: QueryEncoder?

    /// - Parameter headers: ``DefaultHeaders`` makes those that AFNetworking sends.
    public init(headers: HTTPHeaders = HTTPHeaders()) { self.headers = headers }

    /// Whether this method's parameters go into the URL. Methods are taken in capitals here.
    public func encodesInURL(_ method: String) -> Bool { methodsEncodingParametersInURL.contains(method.uppercased()) }

    /// Adds headers, and parameters to the query or as the body.
    public func serialize(
        _ request: HTTPRequest, parameters: ParameterValue?
    ) throws(RequestSerializationError) -> HTTPRequest {
        var request = request
        request.headers.complete(from: headers)
        let query = try parameters.map { parameters throws(RequestSerializationError) in
            try self.query(of: parameters, for: request)
        }
        if encodesInURL(request.method) {
            request.address = request.address.appendingQuery(query ?? "")
        } else {
            request.setContentType(unlessSet: "application/x-www-form-urlencoded")
            request.body = .bytes(Array((query ?? "").utf8))
        }
        return request
    }

    private func query(
        of parameters: ParameterValue, for request: HTTPRequest
    ) throws(RequestSerializationError) -> String {
        if let queryEncoder { return try queryEncoder(request, parameters) }
        guard case .dictionary(let members) = parameters else { throw .notADictionary }
        return QueryString.text(of: members)
    }
}

extension HTTPRequest {
    mutating func setContentType(unlessSet mediaType: String) {
        if headers["Content-Type"] == nil { headers.put("Content-Type", mediaType) }
    }
}

extension Optional {
    /// `map` that keeps the type of the error.
    fileprivate func map<Result, Failure>(
        _ transform: (Wrapped) throws(Failure) -> Result
    ) throws(Failure) -> Result? {
        guard let self else { return nil }
        return try transform(self)
    }
}
