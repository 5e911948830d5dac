public import ReachCore

/// A URL with a scheme and a host, as RFC 3986 has them, in the parts it was written in. Nothing is decoded.
///
/// As in browsers, spaces, letters outside ASCII and `"<>[]\^`{|}` in a path, a query or a fragment become percent
/// escapes.
/// What browsers would guess at is refused, with its place: control characters, line ends, a percent sign that escapes
/// nothing, a host outside ASCII (write its `xn--` form). Which schemes may be sent to is for the sender to say.
public struct WebAddress: Hashable, Sendable, CustomStringConvertible {
    /// In small letters, without the colon.
    public let scheme: String
    /// What stands before the "@"; `nil` where there is none. May hold a password: mind where it is shown.
    public let userInformation: String?
    /// As it was written, an IPv6 address in its brackets. Never empty.
    public let host: String
    /// `nil` for the scheme's own.
    public let port: UInt16?
    /// Empty, or begins with "/".
    public let path: String
    /// What follows the "?"; `nil` without one.
    public let query: String?
    /// What follows the "#"; `nil` without one.
    public let fragment: String?

    /// Reads a URL.
    ///
    /// - Throws: What is wrong, and where.
    public init(_ text: String) throws(WebAddressError) {
        try self.init(URLReference(text))
    }

    /// - Throws: That a part is missing.
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

    /// The whole.
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

    /// What stands in a request's first line: the path, which is "/" where it is empty, and the query.
    public var requestTarget: String { (path.isEmpty ? "/" : path) + (query.map { "?" + $0 } ?? "") }

    // MARK: - Joining

    /// Joins a reference to this address as RFC 3986, section 5.2, has it: `foo` replaces what follows the path's last
    /// "/", `/foo` the path, `?a=b` the query, and `https://example.com/` everything.
    public func resolving(_ reference: String) throws(WebAddressError) -> WebAddress {
        let own = URLReference(
            scheme: scheme, userInformation: userInformation, host: host, port: port, path: path, query: query,
            fragment: fragment)
        return try WebAddress(URLReference(reference).resolved(against: own))
    }

    /// This address as AFHTTPSessionManager keeps a base: a path gets a "/" at its end, so that `foo` joined to
    /// `https://example.com/v1` is `https://example.com/v1/foo`.
    public var asBase: WebAddress {
        path.isEmpty || path.hasSuffix("/") ? self : replacing(path: path + "/", query: query)
    }

    /// With `text` after what is in the query. It must have been escaped; an empty text changes nothing.
    public func appendingQuery(_ text: String) -> WebAddress {
        if text.isEmpty { return self }
        guard let query, !query.isEmpty else { return replacing(path: path, query: text) }
        return replacing(path: path, query: query + "&" + text)
    }

    private func replacing(path: String, query: String?) -> WebAddress {
        WebAddress(self, path: path, query: query)
    }
}
