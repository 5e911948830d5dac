/// A URL or a reference to one (RFC 3986, section 4.1), ready to be sent.
///
/// As in browsers (the WHATWG's URL standard), spaces, letters outside ASCII and `"<>\`` in a path, a query or a
/// fragment become percent escapes, and also `[]^{|}` where slips are refused. Control characters, tabs and line ends
/// are refused; browsers drop some of them, but the URL that is requested should be the one that was written. A host
/// with letters outside ASCII gets its form in ASCII (``InternationalName``).
package struct URLReference: Hashable, Sendable {
    /// How to treat mistakes that users make, and that servers send nevertheless.
    package enum Slips: Sendable {
        /// For URLs that a program or a person writes: refuses a second "#", a percent sign that escapes nothing,
        /// brackets or a second "@" before the host, and a backslash in place of the first slash.
        case refused
        /// Reads them as browsers do, and keeps `[]^{|}`, as curl does.
        case allowed
    }

    package struct Authority: Hashable, Sendable {
        package let userInformation: String?
        /// The host as it was written, in ASCII; an IPv6 address with its brackets. Empty only if slips are allowed.
        package let host: String
        package let port: UInt16?
    }

    /// The scheme in lower case.
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

    /// Creates a whole URL from parts that were read before.
    package init(
        scheme: String, userInformation: String?, host: String, port: UInt16?, path: String, query: String?,
        fragment: String?
    ) {
        self.init(
            scheme: scheme, authority: Authority(userInformation: userInformation, host: host, port: port), path: path,
            query: query, fragment: fragment)
    }

    /// The URL to which this reference refers in a document at `base`, which must be a whole URL (section 5.2.2).
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

    /// The same reference without the dot segments of its path.
    package var withoutDotSegments: URLReference {
        URLReference(
            scheme: scheme, authority: authority, path: path.withoutDotSegments, query: query, fragment: fragment)
    }
}

extension String {
    /// The path without "." and ".." (RFC 3986, section 5.2.4).
    fileprivate var withoutDotSegments: String {
        guard !isEmpty else { return self }
        // Most paths have no dot segments.
        guard utf8.first != UInt8(ascii: "/") || utf8.contains(UInt8(ascii: ".")) else { return self }
        let (slash, dot) = (UInt8(ascii: "/"), UInt8(ascii: "."))
        let bytes = Array(utf8)
        // Each segment with the slash before it: a server may send tens of thousands.
        var kept: [UInt8] = []
        kept.reserveCapacity(bytes.count + 1)
        var start = bytes.first == slash ? 1 : 0
        while start <= bytes.count {
            var end = start
            while end < bytes.count, bytes[end] != slash { end += 1 }
            let dots = bytes[start..<end].allSatisfy { $0 == dot } ? end - start : 0
            if dots == 2 { kept.removeSubrange((kept.lastIndex(of: slash) ?? 0)...) }
            if dots != 1, dots != 2 {
                kept.append(slash)
                kept += bytes[start..<end]
            } else if end == bytes.count {
                kept.append(slash)
            }
            start = end + 1
        }
        return kept.isEmpty ? "/" : String(decoding: kept, as: UTF8.self)
    }

    /// The text up to and including the last slash; "/" if there is none.
    fileprivate var throughLastSlash: String {
        utf8.lastIndex(of: UInt8(ascii: "/")).map { String(self[...$0]) } ?? "/"
    }
}
