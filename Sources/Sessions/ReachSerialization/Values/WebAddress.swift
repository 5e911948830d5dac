public import ReachCore

/// A URL with a scheme and a host, as defined by RFC 3986, in its original components. Nothing is decoded.
///
/// Spaces, letters outside ASCII and `"<>[]\^`{|}` in a path, a query or a fragment are percent-escaped, and a host
/// with letters outside ASCII gets its `xn--` form, as in browsers (by libidn2). Input for which browsers would have to
/// guess is rejected, with its position: control characters, line ends, a percent sign that begins no escape. The
/// sender decides which schemes it supports.
public struct WebAddress: Hashable, Sendable, CustomStringConvertible {
    fileprivate struct Server: Hashable, Sendable {
        let scheme: String
        let userInformation: String?
        let host: String
        let port: UInt16?
    }

    private struct Parts: Hashable, Sendable {
        /// Shared, so that a thousand tasks of one server keep it once.
        let server: Shared<Server>
        let path: String
        let query: String?
        let fragment: String?
        /// The complete URL, where it was read from a text that is the same; `nil` where it has to be composed.
        var text: String?

        static func == (left: Parts, right: Parts) -> Bool {
            left.path == right.path && left.query == right.query && left.fragment == right.fragment
                && left.server == right.server
        }

        func hash(into hasher: inout Hasher) {
            hasher.combine(server)
            hasher.combine(path)
            hasher.combine(query)
            hasher.combine(fragment)
        }
    }

    /// Shared, since a URL goes through many hands.
    private let parts: Shared<Parts>

    /// The scheme in lower case, without the colon.
    public var scheme: String { parts.value.server.value.scheme }
    /// The part before the "@"; `nil` if there is none. It may contain a password: take care where it is displayed.
    public var userInformation: String? { parts.value.server.value.userInformation }
    /// The host as it was written, in ASCII, with brackets around an IPv6 address. Never empty.
    public var host: String { parts.value.server.value.host }
    /// The port; `nil` for the scheme's default.
    public var port: UInt16? { parts.value.server.value.port }
    /// The path: empty, or beginning with "/".
    public var path: String { parts.value.path }
    /// The part after the "?"; `nil` if there is none.
    public var query: String? { parts.value.query }
    /// The part after the "#"; `nil` if there is none.
    public var fragment: String? { parts.value.fragment }

    /// The same URL without the part before the "@".
    package var withoutUserInformation: WebAddress {
        let server = Server(scheme: scheme, userInformation: nil, host: host, port: port)
        return WebAddress(Parts(server: Shared(server), path: path, query: query, fragment: fragment))
    }

    private init(_ parts: Parts) { self.parts = Shared(parts) }

    /// Parses a URL.
    ///
    /// - Throws: The fault, and its position.
    public init(_ text: String) throws(WebAddressError) {
        try self.init(URLReference(text))
    }

    /// Parses a URL of a server, or one that was sent to a server: mistakes that browsers forgive are kept, such as a
    /// percent sign that escapes nothing.
    package init(received text: String) throws(WebAddressError) {
        try self.init(URLReference(text, slips: .allowed))
    }

    /// Requires a scheme and a host.
    ///
    /// - Throws: The missing component.
    private init(_ reference: URLReference) throws(WebAddressError) {
        guard let scheme = reference.scheme else { throw WebAddressError(.noScheme, at: 0) }
        guard let authority = reference.authority else { throw WebAddressError(.noHost, at: scheme.utf8.count + 1) }
        let server = Server(
            scheme: scheme, userInformation: authority.userInformation, host: authority.host, port: authority.port)
        self.init(
            Parts(
                server: Shared(server), path: reference.path, query: reference.query, fragment: reference.fragment))
    }

    /// A URL on the same server, whose path and query need no escapes.
    ///
    /// - Parameter text: The URL, where it is written as its description is.
    fileprivate init(_ server: Shared<Server>, plainTarget target: Substring, text: String?) {
        let mark = target.utf8.firstIndex(of: UInt8(ascii: "?"))
        self.init(
            Parts(
                server: server, path: String(target[..<(mark ?? target.endIndex)]),
                query: mark.map { String(target[target.utf8.index(after: $0)...]) }, fragment: nil, text: text))
    }

    private init(_ base: WebAddress, path: String, query: String?) {
        self.init(Parts(server: base.server, path: path, query: query, fragment: base.fragment))
    }

    fileprivate var server: Shared<Server> { parts.value.server }

    /// The complete URL.
    public var description: String { parts.value.text ?? composed }

    private var composed: String {
        var text = ""
        // In one piece: every request needs it. One sum of all takes the type checker half a second.
        var bytes: Int = scheme.utf8.count + host.utf8.count + path.utf8.count + Self.separatorBytes
        for part in [userInformation, query, fragment] { bytes += part?.utf8.count ?? 0 }
        text.reserveCapacity(bytes)
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
        let base = URLReference(
            scheme: scheme, userInformation: userInformation, host: host, port: port, path: path, query: query,
            fragment: fragment)
        return try WebAddress(URLReference(reference).resolved(against: base))
    }

    /// This address as AFHTTPSessionManager stores a base: with a "/" at the end of the path, so that `foo` resolved
    /// against `https://example.com/v1` is `https://example.com/v1/foo`.
    public var asBase: WebAddress {
        path.isEmpty || path.hasUTF8Suffix("/") ? self : replacing(path: path + "/", query: query)
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

/// Reads URLs, and remembers the server of the last one: most URLs of a program begin with the same server, and to read
/// that takes longer than all the rest.
package struct WebAddressReader: Sendable {
    /// A URL up to its path, and what it was read as.
    private struct Known: Sendable {
        let text: String
        let server: Shared<WebAddress.Server>
        /// Whether the description of an address begins with this text.
        let isAsDescribed: Bool
    }

    private var last: Known?

    package init() {}

    package mutating func read(_ text: String) throws(WebAddressError) -> WebAddress {
        if let last, let target = text.plainTarget(after: last.text) {
            return WebAddress(last.server, plainTarget: target, text: last.isAsDescribed ? text : nil)
        }
        let address = try WebAddress(text)
        // It is not kept where it has secrets.
        if address.userInformation == nil, let server = text.serverOfURL {
            last = Known(
                text: server, server: address.server, isAsDescribed: address.description.hasUTF8Prefix(server + "/"))
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
        let (bytes, prefix) = (utf8.span, server.utf8.span)
        guard bytes.count > prefix.count, bytes[prefix.count] == UInt8(ascii: "/") else { return nil }
        for index in prefix.indices where bytes[index] != prefix[index] { return nil }
        for index in prefix.count..<bytes.count where !URLCharacters.isPlain(bytes[index]) { return nil }
        return self[utf8.index(utf8.startIndex, offsetBy: prefix.count)...]
    }
}
