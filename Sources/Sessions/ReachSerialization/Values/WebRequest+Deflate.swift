internal import CZlib
internal import HTTPTypes

extension WebRequest {
    /// Compresses the body by zlib, and sets `Content-Encoding: deflate` (RFC 9110, 8.4.1.2): Alamofire's
    /// DeflateRequestCompressor. Only for servers that are known to accept it.
    ///
    /// A body that is a file or a form, one that has an encoding, and one that would not be shorter, stays as it is.
    ///
    /// - Returns: Whether the body was compressed.
    @discardableResult
    public mutating func deflateBody() -> Bool {
        guard case .bytes(let bytes) = body, !headers.contains(.contentEncoding),
            let deflated = Self.deflated(bytes), deflated.count < bytes.count
        else { return false }
        body = .bytes(deflated)
        headers[.contentEncoding] = "deflate"
        headers[.contentLength] = nil
        return true
    }

    /// - Returns: `nil` without memory.
    private static func deflated(_ bytes: [UInt8]) -> [UInt8]? {
        var count = compressBound(uLong(bytes.count))
        var result = [UInt8](repeating: 0, count: Int(count))
        let code = result.withUnsafeMutableBufferPointer { target in
            bytes.withUnsafeBufferPointer { source in
                compress2(target.baseAddress, &count, source.baseAddress, uLong(source.count), Z_DEFAULT_COMPRESSION)
            }
        }
        return code == Z_OK ? Array(result.prefix(Int(count))) : nil
    }
}

/// Compresses the bodies that another serializer writes, as ``WebRequest/deflateBody()`` does.
public struct DeflatingRequestSerializer: RequestSerializer {
    /// The serializer whose requests are compressed.
    public var base: any RequestSerializer
    /// Whether to compress a body; by default every one.
    public var shouldDeflate: @Sendable ([UInt8]) -> Bool

    /// Creates a serializer.
    ///
    /// - Parameters:
    ///   - base: The serializer whose requests are compressed.
    ///   - shouldDeflate: Whether to compress a body; by default every one.
    public init(
        _ base: any RequestSerializer, shouldDeflate: @escaping @Sendable ([UInt8]) -> Bool = { _ in true }
    ) {
        self.base = base
        self.shouldDeflate = shouldDeflate
    }

    /// Lets ``base`` build the request, and compresses its body.
    public func serialize(
        _ request: WebRequest, parameters: ParameterValue?
    ) throws(RequestSerializationError) -> WebRequest {
        var request = try base.serialize(request, parameters: parameters)
        if case .bytes(let bytes) = request.body, shouldDeflate(bytes) { request.deflateBody() }
        return request
    }

    /// The serializer of forms, which are streamed and not compressed.
    public var form: FormRequestSerializer { base.form }
}
