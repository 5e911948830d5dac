public import HTTPTypes
internal import ReachCore

/// A request as a serializer builds it: what an `HTTPRequest` has, with the URL in one piece and a body.
///
/// It is everything that is sent, and nothing about how to send it: timeouts, interfaces, caches and cookies belong to
/// the sender.
public struct WebRequest: Sendable {
    /// The body of a request.
    public enum Body: Sendable {
        /// No body, not even an empty one with a length of 0.
        case none
        /// Bytes in memory, possibly none.
        case bytes([UInt8])
        /// A file that is read while it is sent, up to the length that it had when it was chosen.
        case file(path: String, length: Int64)
        /// Parts that are read while they are sent.
        case multipart(MultipartBody)
        /// A source that is read while it is sent, possibly once only.
        case stream(BodyStream)
    }

    /// The method, such as `.get` or `.post`. Methods are case-sensitive (RFC 9110, section 9.1).
    public var method: HTTPRequest.Method
    /// The URL.
    public var url: WebAddress
    /// The header fields set so far.
    public var headers: HTTPFields
    /// The body.
    public var body: Body

    /// Creates a request.
    public init(method: HTTPRequest.Method, url: WebAddress, headers: HTTPFields = [:], body: Body = .none) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
    }

    /// Creates a request from the text of a method.
    ///
    /// - Throws: An error if the method is invalid: one that is no token could break out of the request line.
    public init(
        method: String, url: WebAddress, headers: HTTPFields = [:], body: Body = .none
    ) throws(RequestSerializationError) {
        guard let valid = HTTPRequest.Method(method) else { throw .badMethod(method) }
        self.init(method: valid, url: url, headers: headers, body: body)
    }

    /// The length of the body in bytes; `nil` without a body, and for a stream of unknown length.
    public var contentLength: Int64? {
        switch body {
        case .none: nil
        case .bytes(let bytes): Int64(bytes.count)
        case .file(_, let length): length
        case .multipart(let body): body.contentLength
        case .stream(let stream): stream.length
        }
    }

    /// Sets a file as the body, as for an upload. Reads the file's length from disk; sets no headers.
    ///
    /// - Parameter path: A readable regular file.
    public mutating func setBody(file path: String) throws(BodyFileError) {
        body = .file(path: path, length: try BodyFile.length(of: path))
    }
}
