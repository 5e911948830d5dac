public import HTTPTypes
internal import ReachCore

/// Decides which responses are acceptable: AFHTTPResponseSerializer's `validateResponse`.
public struct ResponseCheck: Hashable, Sendable {
    /// The acceptable statuses; `nil` for any.
    public var acceptableStatusCodes: StatusCodes?
    /// The acceptable content types, in lower case and without parameters, also `image/*`, `*/png` and `*/*`; `nil` for
    /// any.
    public var acceptableContentTypes: Set<String>?

    /// Creates a check; by default any content of a success passes.
    public init(acceptableStatusCodes: StatusCodes? = .success, acceptableContentTypes: Set<String>? = nil) {
        self.acceptableStatusCodes = acceptableStatusCodes
        self.acceptableContentTypes = acceptableContentTypes
    }

    /// The fault of a response: a wrong status first, with a wrong content type as the underlying error.
    ///
    /// The type of an empty body does not count: a 204 or 205 often has none, or a meaningless one.
    public func error(_ response: HTTPResponse, body: [UInt8]) -> ResponseError? {
        var error: ResponseError?
        if let types = acceptableContentTypes, !body.isEmpty, !Self.accepts(response.mediaType, types) {
            error = ResponseError(.unacceptableContentType(response.mediaType), response: response, body: body)
        }
        if let codes = acceptableStatusCodes, !codes.contains(response.status.code) {
            let fault = ResponseError.Fault.unacceptableStatus(response.status.code)
            error = ResponseError(fault, response: response, body: body, underlying: error)
        }
        return error
    }

    private static func accepts(_ type: String?, _ types: Set<String>) -> Bool {
        let sides = (type ?? "").cut(at: "/") ?? (before: (type ?? "")[...], after: "")
        return !types.isDisjoint(with: [type ?? "", "\(sides.before)/*", "*/\(sides.after)", "*/*"])
    }

    /// Checks a response, and passes the body to `decode` unless its content type is wrong: the frame of a custom
    /// serializer.
    ///
    /// An empty body, and the single space that Rails sends for "no content", give no object and no error.
    ///
    /// - Parameters:
    ///   - format: What the body should be, for the sentence "the body is not ...".
    ///   - decode: Decodes the body. What it throws makes the response undecodable, and is the error's
    ///     ``ResponseError/cause``.
    public func serialize(
        _ response: HTTPResponse?, body: [UInt8], format: String, decode: (_ body: [UInt8]) throws -> ResponseObject
    ) -> SerializedResponse {
        let error = response.flatMap { self.error($0, body: body) }
        guard error?.hasWrongContentType != true, !body.isEmpty, body != [0x20] else {
            return SerializedResponse(object: nil, error: error)
        }
        do {
            return SerializedResponse(object: try decode(body), error: error)
        } catch let fault {
            let undecodable = ResponseError(
                .undecodable(format: format, reason: DecodingFault.sentence(fault)), response: response, body: body,
                underlying: error, cause: fault)
            return SerializedResponse(object: nil, error: undecodable)
        }
    }

    /// Checks a response, and passes the body to `decode` unless its content type is wrong.
    package func serialize(
        _ response: HTTPResponse?, body: [UInt8], format: String,
        decode: (_ body: [UInt8], _ characterSet: String?) throws(ResponseDecodingError) -> ResponseObject
    ) -> SerializedResponse {
        let error = response.flatMap { self.error($0, body: body) }
        guard error?.hasWrongContentType != true, !body.isEmpty, body != [0x20] else {
            return SerializedResponse(object: nil, error: error)
        }
        do throws(ResponseDecodingError) {
            return SerializedResponse(object: try decode(body, response?.characterSet), error: error)
        } catch let fault {
            let undecodable = ResponseError(
                .undecodable(format: format, reason: fault.description), response: response, body: body,
                underlying: error)
            return SerializedResponse(object: nil, error: undecodable)
        }
    }
}

/// The reason why a body is not of its format.
package struct ResponseDecodingError: Error {
    package let description: String

    package init(description: String) { self.description = description }
}

/// A set of statuses, given as ranges.
public struct StatusCodes: Hashable, Sendable, ExpressibleByArrayLiteral {
    private let ranges: [ClosedRange<Int>]

    /// The union of ranges.
    public init(_ ranges: ClosedRange<Int>...) { self.ranges = ranges }

    /// Single statuses.
    public init(arrayLiteral codes: Int...) { ranges = codes.map { $0...$0 } }

    /// 200 to 299.
    public static let success = StatusCodes(200...299)

    /// Whether a status is one of them.
    public func contains(_ code: Int) -> Bool { ranges.contains { $0 ~= code } }

    /// The reason phrase of a status, from RFC 9110 and RFC 6585.
    static func phrase(_ code: Int) -> String? { phrases[code] }

    private static let phrases: [Int: String] = [
        300: "Multiple Choices", 301: "Moved Permanently", 302: "Found", 303: "See Other", 304: "Not Modified",
        307: "Temporary Redirect", 308: "Permanent Redirect", 400: "Bad Request", 401: "Unauthorized",
        402: "Payment Required", 403: "Forbidden", 404: "Not Found", 405: "Method Not Allowed",
        406: "Not Acceptable", 407: "Proxy Authentication Required", 408: "Request Timeout", 409: "Conflict",
        410: "Gone", 411: "Length Required", 412: "Precondition Failed", 413: "Content Too Large",
        414: "URI Too Long", 415: "Unsupported Media Type", 416: "Range Not Satisfiable",
        417: "Expectation Failed", 421: "Misdirected Request", 422: "Unprocessable Content", 425: "Too Early",
        426: "Upgrade Required", 428: "Precondition Required", 429: "Too Many Requests",
        431: "Request Header Fields Too Large", 451: "Unavailable For Legal Reasons",
        500: "Internal Server Error", 501: "Not Implemented", 502: "Bad Gateway", 503: "Service Unavailable",
        504: "Gateway Timeout", 505: "HTTP Version Not Supported", 511: "Network Authentication Required",
    ]
}
