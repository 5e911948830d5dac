/// A request as a serializer leaves it: all that goes over the wire, and nothing of how it is sent.
///
/// Timeouts, interfaces, caches and cookies belong to whoever sends it.
public struct HTTPRequest: Sendable {
    /// What follows the head.
    public enum Body: Sendable {
        /// Not even a length of 0.
        case none
        /// Bytes that are held, perhaps none.
        case bytes([UInt8])
        /// A file that is read while it is sent, as many bytes of it as were there when it was chosen.
        case file(path: String, length: Int64)
        /// Parts that are read while they are sent.
        case multipart(MultipartBody)
    }

    /// `GET`, `POST`, ...: as it was given, since methods are compared with case (RFC 9110, section 9.1).
    public let method: String
    /// Where it goes.
    public var address: WebAddress
    /// What was set so far.
    public var headers: HTTPHeaders
    /// What follows the head.
    public var body: Body

    /// A request without a body.
    ///
    /// - Throws: Where the method is none: what is not a token could break out of the request's first line.
    public init(
        method: String, address: WebAddress, headers: HTTPHeaders = HTTPHeaders()
    ) throws(RequestSerializationError) {
        guard HTTPHeaders.isToken(method) else { throw .badMethod(method) }
        self.method = method
        self.address = address
        self.headers = headers
        body = .none
    }

    /// How many bytes the body has; `nil` without one.
    public var contentLength: Int64? {
        switch body {
        case .none: nil
        case .bytes(let bytes): Int64(bytes.count)
        case .file(_, let length): length
        case .multipart(let body): body.contentLength
        }
    }

    /// Makes a file the body, as an upload has it. Looks at the disk; sets no headers.
    ///
    /// - Parameter path: A regular file that can be read.
    public mutating func setBody(file path: String) throws(BodyFileError) {
        body = .file(path: path, length: try BodyFile.length(of: path))
    }
}
