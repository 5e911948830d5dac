public import ReachCore

/// A URL with a scheme and a host, as defined by RFC 3986, in its original components. Nothing is decoded.
///
/// As in browsers, spaces, letters outside ASCII and `"<>[]\^`{|}` in a path, a query or a fragment are
/// percent-escaped. Input for which browsers would have to guess is rejected, with its position: control characters,
/// line ends, a percent sign that begins no escape, a host outside ASCII (write its `xn--` form). The sender decides
/// which schemes it supports.
public struct WebAddress: Hashable, Sendable, CustomStringConvertible {
    /// The scheme in lower case, without the colon.
    public let scheme: String
    /// The part before the "@"; `nil` if there is none. It may contain a password: take care where it is displayed.
    public let userInformation: String?
    /// The host as it was written, with brackets around an IPv6 address. Never empty.
    public let host: String
    /// The port; `nil` for the scheme's default.
    public let port: UInt16?
    /// The path: empty, or beginning with "/".
    public let path: String
    /// The part after the "?"; `nil` if there is none.
    public let query: String?
    /// The part after the "#"; `nil` if there is none.
    public let fragment: String?

    /// Parses a URL.
    ///
    /// - Throws: The fault, and its position.
    public init(_ text: String) throws(WebAddressError) {
        try self.init(URLReference(text))
    }

    /// Requires a scheme and a host.
    ///
    /// - Throws: The missing component.
    private init(_ reference: URLReference) throws(WebAddressError) {
        guard let scheme = reference.scheme else { throw WebAddressError(.noScheme, at: 0) }
        guard let authority = reference.authority else { throw WebAddressError(.noHost, at: scheme.utf8.count + 1) }
        self.scheme = scheme
        userInformation = authority.userInformation
        host = authority.host
        port = authority.port
        path = reference.path
        query = reference.query
        fragment = reference.fragment
    }

    private init(_ base: WebAddress, path: String, query: String?) {
        scheme = base.scheme
        userInformation = base.userInformation
        host = base.host
        port = base.port
        self.path = path
        self.query = query
        fragment = base.fragment
    }

    /// The complete URL.
    public var description: String {
        var text = scheme + "://"
        if let userInformation { text += userInformation + "@" }
        text += host
        if let port { text += ":\(port)" }
        text += path
        if let query { text += "?" + query }
        if let fragment { text += "#" + fragment }
        return text
    }

    /// The target in the request line: the path, or "/" if it is empty, and the query.
    public var requestTarget: String { (path.isEmpty ? "/" : path) + (query.map { "?" + $0 } ?? "") }

    // MARK: - Joining

    /// Resolves a reference against this address (RFC 3986, section 5.2): `foo` replaces everything after the last "/"
    /// of the path, `/foo` the path, `?a=b` the query, and `https://example.com/` everything.
    public func resolving(_ reference: String) throws(WebAddressError) -> WebAddress {
        let own = URLReference(
            scheme: scheme, userInformation: userInformation, host: host, port: port, path: path, query: query,
            fragment: fragment)
        return try WebAddress(URLReference(reference).resolved(against: own))
    }

    /// This address as AFHTTPSessionManager stores a base: with a "/" at the end of the path, so that `foo` resolved
    /// against `https://example.com/v1` is `https://example.com/v1/foo`.
    public var asBase: WebAddress {
        path.isEmpty || path.hasSuffix("/") ? self : replacing(path: path + "/", query: query)
    }

    /// Returns the address with `text` appended to the query. The text must be escaped; an empty text changes nothing.
    public func appendingQuery(_ text: String) -> WebAddress {
        if text.isEmpty { return self }
        guard let query, !query.isEmpty else { return replacing(path: path, query: text) }
        return replacing(path: path, query: query + "&" + text)
    }

    private func replacing(path: String, query: String?) -> WebAddress {
        WebAddress(self, path: path, query: query)
    }
}
