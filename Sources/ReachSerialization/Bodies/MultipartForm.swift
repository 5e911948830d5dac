/// Builds a `multipart/form-data` body (RFC 7578) part by part: AFMultipartFormData.
///
/// Each part begins with `Content-Disposition`, then `Content-Type` where it has one. In names and file names quotes
/// and line ends are written as `%22`, `%0D`, `%0A`, as browsers write them; AFNetworking lets them break out.
public struct MultipartForm: Sendable {
    /// What separates the parts.
    public let boundary: String
    private(set) var parts: [MultipartBody.Part] = []

    /// An empty form with a boundary like AFNetworking's: `Boundary+` and 16 hexadecimal digits.
    public init() {
        var generator = SystemRandomNumberGenerator()
        self.init(using: &generator)
    }

    init(using generator: inout some RandomNumberGenerator) {
        let digits = String(UInt64.random(in: .min ... .max, using: &generator), radix: 16, uppercase: true)
        boundary = "Boundary+" + String(repeating: "0", count: 16 - digits.count) + digits
    }

    /// A value with a name.
    public mutating func append(_ bytes: [UInt8], name: String) {
        var headers = HTTPHeaders()
        headers.put("Content-Disposition", Self.disposition(name: name, fileName: nil))
        append(bytes, headers: headers)
    }

    /// Bytes as if they came from a file.
    public mutating func append(_ bytes: [UInt8], name: String, fileName: String, mediaType: String) {
        append(bytes, headers: Self.fileHeaders(name: name, fileName: fileName, mediaType: mediaType))
    }

    /// A file, which is read while it is sent and not before. Looks at the disk.
    ///
    /// - Parameters:
    ///   - path: A regular file that can be read. As many bytes are sent as it has now.
    ///   - name: The part's name.
    ///   - fileName: What the server is told; by default the path's last part.
    ///   - mediaType: By default what the file name's extension stands for, see ``MediaType``.
    public mutating func append(
        file path: String, name: String, fileName: String? = nil, mediaType: String? = nil
    ) throws(BodyFileError) {
        let fileName = fileName ?? path.split(separator: "/").last.map(String.init) ?? ""
        let length = try BodyFile.length(of: path)
        let type = mediaType ?? MediaType.named(by: fileName)
        parts.append(
            MultipartBody.Part(
                headers: Self.fileHeaders(name: name, fileName: fileName, mediaType: type),
                source: .file(path: path, length: length)))
    }

    /// Bytes that come as they are asked for.
    ///
    /// - Parameters:
    ///   - length: How many there are.
    ///   - name: The part's name.
    ///   - fileName: What the server is told.
    ///   - mediaType: The part's content type.
    ///   - open: Begins anew each time it is called: once for each time the body is sent.
    public mutating func append(
        length: Int64, name: String, fileName: String, mediaType: String, open: @escaping OpenBodyStream
    ) {
        parts.append(
            MultipartBody.Part(
                headers: Self.fileHeaders(name: name, fileName: fileName, mediaType: mediaType),
                source: .stream(length: max(length, 0), open: open)))
    }

    /// Bytes with headers of one's own.
    public mutating func append(_ bytes: [UInt8], headers: HTTPHeaders) {
        parts.append(MultipartBody.Part(headers: headers, source: .bytes(bytes)))
    }

    private static func fileHeaders(name: String, fileName: String, mediaType: String) -> HTTPHeaders {
        var headers = HTTPHeaders()
        headers.put("Content-Disposition", disposition(name: name, fileName: fileName))
        headers.put("Content-Type", unbroken(mediaType))
        return headers
    }

    private static func disposition(name: String, fileName: String?) -> String {
        let start = "form-data; name=\"\(unbroken(name))\""
        return fileName.map { start + "; filename=\"\(unbroken($0))\"" } ?? start
    }

    /// As the HTML standard has it in "multipart/form-data encoding algorithm".
    private static func unbroken(_ text: String) -> String {
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""): bytes += "%22".utf8
            case UInt8(ascii: "\r"): bytes += "%0D".utf8
            case UInt8(ascii: "\n"): bytes += "%0A".utf8
            default: bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension FormRequestSerializer {
    /// Makes a request with a multipart body: first a part for each parameter, in the order and by the names of a query
    /// but not escaped, then what `build` adds. Null is an empty part.
    ///
    /// Without any part it is the request that this serializer makes without parameters.
    ///
    /// - Parameters:
    ///   - method: Neither GET nor HEAD.
    ///   - reference: A URL, or a reference that is joined to `base`.
    ///   - base: As ``WebAddress/asBase`` has it, or `nil` where the reference is a whole URL.
    ///   - parameters: Values by their names.
    ///   - build: Adds files and other parts.
    public func multipartRequest(
        _ method: String, _ reference: String, base: WebAddress? = nil, parameters: [String: ParameterValue] = [:],
        build: (inout MultipartForm) throws(BodyFileError) -> Void = { _ in }
    ) throws(RequestSerializationError) -> HTTPRequest {
        guard !["GET", "HEAD"].contains(method.uppercased()) else { throw .bodyNotAllowed(method: method) }
        var request = try request(method, reference, base: base)
        var form = MultipartForm()
        for pair in ParameterPair.pairs(of: parameters) { form.append(pair.value.plainBytes, name: pair.name) }
        do throws(BodyFileError) {
            try build(&form)
        } catch {
            throw .file(error)
        }
        if !form.parts.isEmpty { request.setMultipartBody(form) }
        return request
    }
}

extension HTTPRequest {
    /// Makes a form the body, and sets `Content-Type` and `Content-Length` as it needs them.
    public mutating func setMultipartBody(_ form: MultipartForm) {
        let multipart = MultipartBody(form)
        headers.put("Content-Type", multipart.contentType)
        headers.put("Content-Length", String(multipart.contentLength))
        body = .multipart(multipart)
    }
}
