/// A URL or a reference to one (RFC 3986, section 4.1), ready to be sent.
///
/// As in browsers (the WHATWG's URL standard), spaces, letters outside ASCII and `"<>[]\^`{|}` in a path, a query or a
/// fragment become percent escapes. Control characters, tabs and line ends are refused, where browsers drop some of
/// them: what is asked for should be what was written. An international host must be in its `xn--` form.
package struct URLReference: Hashable, Sendable {
    /// What users mistype, and servers send nevertheless.
    package enum Slips: Sendable {
        /// For what a program or a person writes: a second "#", a percent sign that escapes nothing, brackets or a
        /// second "@" before the host, and a backslash in place of the first slash are refused.
        case refused
        /// As browsers read them.
        case allowed
    }

    package struct Authority: Hashable, Sendable {
        package let userInformation: String?
        /// As it was written, an IPv6 address in its brackets. Empty only where slips are allowed.
        package let host: String
        package let port: UInt16?
    }

    /// In lower case.
    package let scheme: String?
    package let authority: Authority?
    package let path: String
    package let query: String?
    package let fragment: String?

    package init(_ text: String, slips: Slips = .refused) throws(WebAddressError) {
        let pieces = URLPieces(text)
        let reader = URLPartReader(text, slips)
        if let scheme = pieces.scheme {
            guard pieces.hasGoodScheme else { throw WebAddressError(.badScheme, at: 0) }
            self.scheme = scheme.lowercased()
        } else {
            scheme = nil
        }
        authority = if let authority = pieces.authority { try reader.authority(authority) } else { nil }
        let path = try reader.path(pieces.path, isAfterAuthority: authority != nil)
        self.path = path
        query = if let query = pieces.query { try reader.escaped(query) } else { nil }
        fragment = if let fragment = pieces.fragment { try reader.escaped(fragment) } else { nil }
    }

    private init(scheme: String?, authority: Authority?, path: String, query: String?, fragment: String?) {
        self.scheme = scheme
        self.authority = authority
        self.path = path
        self.query = query
        self.fragment = fragment
    }

    /// A whole URL of parts that were read.
    package init(
        scheme: String, userInformation: String?, host: String, port: UInt16?, path: String, query: String?,
        fragment: String?
    ) {
        self.init(
            scheme: scheme, authority: Authority(userInformation: userInformation, host: host, port: port), path: path,
            query: query, fragment: fragment)
    }

    /// What this reference means in a document at `base`, which must be a whole URL (section 5.2.2).
    package func resolved(against base: URLReference) -> URLReference {
        let isWhole = scheme != nil
        if isWhole || authority != nil {
            return URLReference(
                scheme: scheme ?? base.scheme, authority: authority, path: path.withoutDotSegments, query: query,
                fragment: fragment)
        }
        let joined =
            if path.isEmpty {
                base.path
            } else if path.utf8.first == UInt8(ascii: "/") {
                path.withoutDotSegments
            } else {
                (base.path.throughLastSlash + path).withoutDotSegments
            }
        return URLReference(
            scheme: base.scheme, authority: base.authority, path: joined,
            query: path.isEmpty ? query ?? base.query : query, fragment: fragment)
    }

    /// Without the dot segments of its path.
    package var withoutDotSegments: URLReference {
        URLReference(
            scheme: scheme, authority: authority, path: path.withoutDotSegments, query: query, fragment: fragment)
    }
}

extension String {
    /// Without "." and ".." (RFC 3986, section 5.2.4).
    fileprivate var withoutDotSegments: String {
        guard !isEmpty else { return self }
        // Most paths have none.
        guard utf8.first != UInt8(ascii: "/") || utf8.contains(UInt8(ascii: ".")) else { return self }
        var kept: [Substring] = []
        let segments = split(separator: "/", omittingEmptySubsequences: false).dropFirst(hasPrefix("/") ? 1 : 0)
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

    /// "/" where there is none.
    fileprivate var throughLastSlash: String {
        utf8.lastIndex(of: UInt8(ascii: "/")).map { String(self[...$0]) } ?? "/"
    }

}
