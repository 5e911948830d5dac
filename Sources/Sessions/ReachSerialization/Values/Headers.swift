public import HTTPTypes

/// Headers that a program adds to requests, by names of HTTPTypes or by text:
///
///     try session.get("users", headers: [.accept: "application/json", "X-Tenant": tenant])
///     session.changeHeaders { $0["X-Token"] = nil }
///
/// A name or a value that cannot be sent stays out of ``fields``; the request that has it throws, and names the header.
/// So nothing else is sent than what was written: `HTTPField` replaces what cannot be in a value by spaces.
public struct Headers: Hashable, Sendable, ExpressibleByDictionaryLiteral {
    private var valid: HTTPFields
    private var faults: [HTTPHeaderError] = []

    /// Headers of a literal, in its order. A name may occur several times.
    public init(dictionaryLiteral headers: (Name, String)...) {
        valid = [:]
        for (name, value) in headers { append(name, value) }
    }

    /// Headers from a dictionary, in the order of their names.
    public init(_ headers: [String: String]) {
        valid = [:]
        for (name, value) in headers.sorted(by: { $0.key < $1.key }) { append(Name(name), value) }
    }

    /// Headers that are valid.
    public init(_ fields: HTTPFields) { valid = fields }

    /// Whether there is no header, valid or not.
    public var isEmpty: Bool { valid.isEmpty && faults.isEmpty }
    /// The number of headers, valid or not.
    public var count: Int { valid.count + faults.count }

    /// The headers as they are sent.
    ///
    /// - Throws: An error that names the first header whose name or value cannot be sent.
    public var fields: HTTPFields {
        get throws(HTTPHeaderError) {
            if let fault = faults.first { throw fault }
            return valid
        }
    }

    /// The value of a header; those of the same name are joined by commas (RFC 9110, section 5.3), and cookies by
    /// semicolons. Setting it replaces all headers of the name; `nil` removes them.
    public subscript(name: Name) -> String? {
        get { name.valid.flatMap { valid[$0] } }
        set {
            faults.removeAll { $0.name.lowercased() == name.text.lowercased() }
            if let name = name.valid { valid[name] = nil }
            if let newValue { append(name, newValue) }
        }
    }

    /// The value of a header whose name is text; as for other names.
    public subscript(name: String) -> String? {
        get { self[Name(name)] }
        set { self[Name(name)] = newValue }
    }

    /// Sets the given headers, and replaces those of the same names.
    public mutating func replace(with headers: Headers) {
        valid.replace(with: headers.valid)
        faults += headers.faults
    }

    private mutating func append(_ name: Name, _ value: String) {
        guard let valid = name.valid else { return faults.append(HTTPHeaderError(isName: true, name: name.text)) }
        guard HTTPFields.canSend(value) else { return faults.append(HTTPHeaderError(isName: false, name: name.text)) }
        self.valid.append(HTTPField(name: valid, value: value))
    }

    /// The name of a header: one of the constants, or text.
    public struct Name: Hashable, Sendable, ExpressibleByStringInterpolation {
        fileprivate let text: String
        /// `nil` if the text cannot be a name.
        fileprivate let valid: HTTPField.Name?

        /// A name that is text. Case does not matter.
        public init(_ text: String) { (self.text, valid) = (text, HTTPField.Name(text)) }

        /// A name of HTTPTypes.
        public init(_ name: HTTPField.Name) { (text, valid) = (name.rawName, name) }

        /// A name in a literal.
        public init(stringLiteral text: String) { self.init(text) }
    }
}

// Those that requests have.
extension Headers.Name {
    /// `Accept`
    public static var accept: Self { Self(.accept) }
    /// `Accept-Encoding`
    public static var acceptEncoding: Self { Self(.acceptEncoding) }
    /// `Accept-Language`
    public static var acceptLanguage: Self { Self(.acceptLanguage) }
    /// `Authorization`
    public static var authorization: Self { Self(.authorization) }
    /// `Cache-Control`
    public static var cacheControl: Self { Self(.cacheControl) }
    /// `Connection`
    public static var connection: Self { Self(.connection) }
    /// `Content-Disposition`
    public static var contentDisposition: Self { Self(.contentDisposition) }
    /// `Content-Encoding`
    public static var contentEncoding: Self { Self(.contentEncoding) }
    /// `Content-Language`
    public static var contentLanguage: Self { Self(.contentLanguage) }
    /// `Content-Length`
    public static var contentLength: Self { Self(.contentLength) }
    /// `Content-Type`
    public static var contentType: Self { Self(.contentType) }
    /// `Cookie`
    public static var cookie: Self { Self(.cookie) }
    /// `Date`
    public static var date: Self { Self(.date) }
    /// `Expect`
    public static var expect: Self { Self(.expect) }
    /// `If-Match`
    public static var ifMatch: Self { Self(.ifMatch) }
    /// `If-Modified-Since`
    public static var ifModifiedSince: Self { Self(.ifModifiedSince) }
    /// `If-None-Match`
    public static var ifNoneMatch: Self { Self(.ifNoneMatch) }
    /// `If-Range`
    public static var ifRange: Self { Self(.ifRange) }
    /// `If-Unmodified-Since`
    public static var ifUnmodifiedSince: Self { Self(.ifUnmodifiedSince) }
    /// `Origin`
    public static var origin: Self { Self(.origin) }
    /// `Priority`
    public static var priority: Self { Self(.priority) }
    /// `Proxy-Authorization`
    public static var proxyAuthorization: Self { Self(.proxyAuthorization) }
    /// `Range`
    public static var range: Self { Self(.range) }
    /// `Referer`
    public static var referer: Self { Self(.referer) }
    /// `TE`
    public static var te: Self { Self(.te) }
    /// `Traceparent`
    public static var traceparent: Self { Self(.traceparent) }
    /// `Tracestate`
    public static var tracestate: Self { Self(.tracestate) }
    /// `Transfer-Encoding`
    public static var transferEncoding: Self { Self(.transferEncoding) }
    /// `User-Agent`
    public static var userAgent: Self { Self(.userAgent) }
}
