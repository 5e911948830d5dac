public import FoundationEssentials
public import HTTPTypes
internal import ReachCore

/// Builds a `multipart/form-data` body (RFC 7578) part by part: AFMultipartFormData.
///
/// Each part begins with `Content-Disposition`, followed by `Content-Type` if it has one. In names and file names,
/// quotes and line ends are escaped as `%22`, `%0D`, `%0A`, as in browsers, and NUL as `%00`; in AFNetworking they can
/// break out of the header.
public struct MultipartForm: Sendable {
    /// The text that separates the parts; ``setBoundary(_:)`` chooses another one.
    public private(set) var boundary: String
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

    /// Chooses the text that separates the parts. No part may contain it in a line of its own.
    ///
    /// - Parameter boundary: 1 to 70 letters, digits, spaces and `'()+_,-./:=?`, with no space at the end (RFC 2046,
    ///   5.1.1).
    /// - Throws: ``RequestSerializationError/badBoundary(_:)`` for any other text.
    public mutating func setBoundary(_ boundary: String) throws(RequestSerializationError) {
        guard MultipartBoundary.isValid(boundary) else { throw .badBoundary(boundary) }
        self.boundary = boundary
    }

    /// Appends a named value.
    public mutating func append(_ bytes: [UInt8], name: String) {
        append(bytes, headers: HTTPFields([Self.disposition(name: name, fileName: nil)]))
    }

    /// Appends bytes as the content of a file.
    public mutating func append(_ bytes: [UInt8], name: String, fileName: String, mediaType: String) {
        append(bytes, headers: Self.fileHeaders(name: name, fileName: fileName, mediaType: mediaType))
    }

    /// Appends a file. Its length is read now, its content while the body is sent.
    ///
    /// - Parameters:
    ///   - path: A readable regular file. Its current length is sent.
    ///   - name: The part's name.
    ///   - fileName: The file name for the server; by default the last component of the path.
    ///   - mediaType: The part's content type; by default that of the file name's extension, see ``MediaType``.
    public mutating func append(
        file path: String, name: String, fileName: String? = nil, mediaType: String? = nil
    ) throws(BodyFileError) {
        let fileName = fileName ?? path.split(scalar: "/").last.map(String.init) ?? ""
        let length = try BodyFile.length(of: path)
        let type = mediaType ?? MediaType.named(by: fileName)
        parts.append(
            MultipartBody.Part(
                headers: Self.fileHeaders(name: name, fileName: fileName, mediaType: type),
                source: .file(path: path, length: length)))
    }

    /// Appends a stream, which is read while the body is sent.
    ///
    /// - Parameters:
    ///   - length: The length of the stream in bytes.
    ///   - name: The part's name.
    ///   - fileName: The file name for the server.
    ///   - mediaType: The part's content type.
    ///   - open: Opens the stream at its beginning, once for each time that the body is sent.
    public mutating func append(
        length: Int64, name: String, fileName: String, mediaType: String, open: @escaping OpenBodyStream
    ) {
        parts.append(
            MultipartBody.Part(
                headers: Self.fileHeaders(name: name, fileName: fileName, mediaType: mediaType),
                source: .stream(length: max(length, 0), open: open)))
    }

    /// Appends bytes with custom headers.
    public mutating func append(_ bytes: [UInt8], headers: HTTPFields) {
        parts.append(MultipartBody.Part(headers: headers, source: .bytes(bytes)))
    }

    private static func fileHeaders(name: String, fileName: String, mediaType: String) -> HTTPFields {
        HTTPFields([
            disposition(name: name, fileName: fileName),
            HTTPField(name: .contentType, unchecked: MultipartEncoder.escaped(mediaType)),
        ])
    }

    private static func disposition(name: String, fileName: String?) -> HTTPField {
        HTTPField(
            name: .contentDisposition, unchecked: MultipartEncoder.disposition(name: name, fileName: fileName))
    }
}

extension FormRequestSerializer {
    /// Builds a request with a multipart body: one part for each parameter, in the order and with the names of a query
    /// but not escaped, then the parts that `build` adds. Null is an empty part.
    ///
    /// Without any part it is the request that this serializer builds without parameters.
    ///
    /// - Parameters:
    ///   - method: Any method except GET and HEAD.
    ///   - reference: A URL, or a reference that is resolved against `base`.
    ///   - base: A base as returned by ``WebAddress/asBase``, or `nil` if the reference is a complete URL.
    ///   - parameters: Values by name.
    ///   - build: Adds files and other parts.
    /// - Throws: A ``RequestSerializationError``, or what `build` throws.
    public func multipartRequest(
        _ method: String, _ reference: String, base: WebAddress? = nil, parameters: [String: ParameterValue] = [:],
        build: (inout MultipartForm) throws -> Void = { _ in }
    ) throws -> WebRequest {
        guard !["GET", "HEAD"].contains(method.uppercased()) else {
            throw RequestSerializationError.bodyNotAllowed(method: method)
        }
        var request = try request(method, reference, base: base)
        var form = MultipartForm()
        for pair in ParameterPair.pairs(of: parameters) {
            guard let bytes = pair.value.plainBytes(in: textEncoding) else {
                throw RequestSerializationError.unsupportedValue(
                    place: pair.name, kind: "text with other characters", format: textEncoding.name)
            }
            form.append(bytes, name: pair.name)
        }
        do {
            try build(&form)
        } catch let error as BodyFileError {
            throw RequestSerializationError.file(error)
        }
        if !form.parts.isEmpty { request.setMultipartBody(form) }
        return request
    }
}

extension WebRequest {
    /// Sets a form as the body, together with `Content-Type` and `Content-Length`.
    public mutating func setMultipartBody(_ form: MultipartForm) {
        let multipart = MultipartBody(form)
        headers[.contentType] = multipart.contentType
        headers[.contentLength] = String(multipart.contentLength)
        body = .multipart(multipart)
    }
}

extension MultipartForm {
    /// Appends a named value.
    public mutating func append(_ data: Data, name: String) { append(Array(data), name: name) }

    /// Appends bytes as the content of a file.
    public mutating func append(_ data: Data, name: String, fileName: String, mediaType: String) {
        append(Array(data), name: name, fileName: fileName, mediaType: mediaType)
    }

    /// Appends a file. Its length is read now, its content while the body is sent.
    ///
    /// - Parameters:
    ///   - file: The URL of a readable regular file. Its current length is sent.
    ///   - name: The part's name.
    ///   - fileName: The file name for the server; by default the last component of the path.
    ///   - mediaType: The part's content type; by default that of the file name's extension, see ``MediaType``.
    public mutating func append(
        file: URL, name: String, fileName: String? = nil, mediaType: String? = nil
    ) throws(BodyFileError) {
        try append(file: file.path(percentEncoded: false), name: name, fileName: fileName, mediaType: mediaType)
    }
}
