/// A URL with a scheme and a host, as RFC 3986 has them, in the parts it was written in. Nothing is decoded or
/// repaired.
///
/// What may not stand in a URL is refused, with its place: spaces, letters outside ASCII (write a host in its `xn--`
/// form, escape the rest), a percent sign that escapes nothing. Which schemes may be sent to is for the sender to say.
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
    public init(_ text: String) throws(WebAddressError) {
        let parts = try AddressParts(text)
        guard let scheme = parts.scheme else { throw WebAddressError(.noScheme, at: 0) }
        guard let authority = parts.authority else { throw WebAddressError(.noHost, at: scheme.utf8.count + 1) }
        self.init(scheme: scheme, authority: authority, path: parts.path, query: parts.query, fragment: parts.fragment)
    }

    private init(scheme: String, authority: AddressParts.Authority, path: String, query: String?, fragment: String?) {
        self.scheme = scheme
        userInformation = authority.userInformation
        host = authority.host
        port = authority.port
        self.path = path
        self.query = query
        self.fragment = fragment
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
        let parts = try AddressParts(reference)
        let own = AddressParts.Authority(userInformation: userInformation, host: host, port: port)
        if let scheme = parts.scheme {
            guard let authority = parts.authority else { throw WebAddressError(.noHost, at: scheme.utf8.count + 1) }
            return WebAddress(
                scheme: scheme, authority: authority, path: Self.withoutDotSegments(parts.path), query: parts.query,
                fragment: parts.fragment)
        }
        let joinedPath =
            if parts.authority != nil || parts.path.hasPrefix("/") {
                Self.withoutDotSegments(parts.path)
            } else if parts.path.isEmpty {
                path
            } else {
                Self.withoutDotSegments(path.prefix(through: path.lastIndex(of: "/")) + parts.path)
            }
        let keepsQuery = parts.authority == nil && parts.path.isEmpty && parts.query == nil
        return WebAddress(
            scheme: scheme, authority: parts.authority ?? own, path: joinedPath,
            query: keepsQuery ? query : parts.query, fragment: parts.fragment)
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
        WebAddress(
            scheme: scheme,
            authority: AddressParts.Authority(userInformation: userInformation, host: host, port: port), path: path,
            query: query, fragment: fragment)
    }

    /// RFC 3986, section 5.2.4.
    private static func withoutDotSegments(_ path: String) -> String {
        guard !path.isEmpty else { return path }
        var kept: [Substring] = []
        let segments = path.split(separator: "/", omittingEmptySubsequences: false)
            .dropFirst(path.hasPrefix("/") ? 1 : 0)
        for (index, segment) in zip(segments.indices, segments) {
            let isLast = index == segments.endIndex - 1
            switch segment {
            case ".": if isLast { kept.append("") }
            case "..":
                _ = kept.popLast()
                if isLast { kept.append("") }
            default: kept.append(segment)
            }
        }
        return "/" + kept.joined(separator: "/")
    }

    /// RFC 3986, section 2.3.
    static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "~"):
            true
        default: false
        }
    }
}

extension String {
    /// Nothing where there is no index.
    fileprivate func prefix(through index: Index?) -> String {
        guard let index else { return "/" }
        return String(self[...index])
    }
}
