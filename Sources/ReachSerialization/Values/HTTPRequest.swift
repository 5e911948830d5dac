/// A request as a serializer builds it: everything that is sent, and nothing about how to send it.
///
/// Timeouts, interfaces, caches and cookies belong to the sender.
public struct HTTPRequest: Sendable {
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
    }

    /// The method, such as `GET` or `POST`, in its original case, since methods are case-sensitive (RFC 9110, section
    /// 9.1).
    public let method: String
    /// The URL.
    public var address: WebAddress
    /// The headers set so far.
    public var headers: HTTPHeaders
    /// The body.
    public var body: Body

    /// Creates a request without a body.
    ///
    /// - Throws: An error if the method is invalid: one that is no token could break out of the request line.
    public init(
        method: String, address: WebAddress, headers: HTTPHeaders = HTTPHeaders()
    ) throws(RequestSerializationError) {
        guard HTTPHeaders.isToken(method) else { throw .badMethod(method) }
        self.method = method
        self.address = address
        self.headers = headers
        body = .none
    }

    /// The length of the body in bytes; `nil` without a body.
    public var contentLength: Int64? {
        switch body {
        case .none: nil
        case .bytes(let bytes): Int64(bytes.count)
        case .file(_, let length): length
        case .multipart(let body): body.contentLength
        }
    }

    /// Sets a file as the body, as for an upload. Reads the file's length from disk; sets no headers.
    ///
    /// - Parameter path: A readable regular file.
    public mutating func setBody(file path: String) throws(BodyFileError) {
        body = .file(path: path, length: try BodyFile.length(of: path))
    }
}
