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

    /// A URL on the same server, whose path and query need no escapes.
    fileprivate init(_ server: WebAddress, plainTarget target: Substring) {
        let mark = target.utf8.firstIndex(of: UInt8(ascii: "?"))
        scheme = server.scheme
        userInformation = server.userInformation
        host = server.host
        port = server.port
        path = String(target[..<(mark ?? target.endIndex)])
        query = mark.map { String(target[target.utf8.index(after: $0)...]) }
        fragment = nil
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
        var text = ""
        // In one piece: every request needs it.
        text.reserveCapacity(
            scheme.utf8.count + (userInformation?.utf8.count ?? 0) + host.utf8.count + path.utf8.count
                + (query?.utf8.count ?? 0) + (fragment?.utf8.count ?? 0) + Self.separatorBytes)
        text += scheme
        text += "://"
        if let userInformation { text += userInformation + "@" }
        text += host
        if let port { text += ":\(port)" }
        text += path
        if let query { text += "?" + query }
        if let fragment { text += "#" + fragment }
        return text
    }

    /// "://", "@", ":" and a port, "?" and "#".
    private static let separatorBytes = 12

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

/// Reads URLs, and remembers the server of the last one: most URLs of a program begin with the same server, and to read that
/// takes longer than all the rest.
package struct WebAddressReader: Sendable {
    /// A URL up to its path, and what it was read as.
    private var last: (server: String, address: WebAddress)?

    package init() {}

    package mutating func read(_ text: String) throws(WebAddressError) -> WebAddress {
        if let last, let target = text.plainTarget(after: last.server) {
            return WebAddress(last.address, plainTarget: target)
        }
        let address = try WebAddress(text)
        // It is not kept where it has secrets.
        if address.userInformation == nil, let server = text.serverOfURL {
            last = (server, address)
        }
        return address
    }
}

extension String {
    /// A whole URL up to its path; `nil` if it has no path.
    fileprivate var serverOfURL: String? {
        guard let start = utf8Range(of: "://")?.upperBound,
            let end = utf8[start...].firstIndex(where: { "/?#".utf8.contains($0) }), utf8[end] == UInt8(ascii: "/")
        else { return nil }
        return String(self[..<end])
    }

    /// The path and the query after `server`; `nil` where the text begins with something else, or where the rest is not
    /// taken as it is.
    fileprivate func plainTarget(after server: String) -> Substring? {
        let (bytes, own) = (utf8.span, server.utf8.span)
        guard bytes.count > own.count, bytes[own.count] == UInt8(ascii: "/") else { return nil }
        for index in own.indices where bytes[index] != own[index] { return nil }
        for index in own.count..<bytes.count where !URLCharacters.isPlain(bytes[index]) { return nil }
        return self[utf8.index(utf8.startIndex, offsetBy: own.count)...]
    }
}
