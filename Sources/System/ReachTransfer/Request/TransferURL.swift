package import ReachCore

/// An absolute http or https URL in a form that libcurl parses as we do, so that the host that is looked up is the one
/// that is connected to: everything unusual is escaped, normalized or refused before libcurl sees it.
package struct TransferURL: Hashable, Sendable, CustomStringConvertible {
    package struct ValidationError: Error, Hashable, Sendable, CustomStringConvertible {
        package enum Kind: Hashable, Sendable {
            case malformed
            /// Neither http nor https; for a proxy, neither http, socks5 nor socks5h.
            case unsupportedScheme
        }

        package let kind: Kind
        package let description: String
    }

    /// What the URLs of one server have in common. A URL goes through many hands, and none of them copies this.
    private final class Server: Hashable, Sendable {
        let scheme: String
        let host: String
        let port: UInt16
        let hasCredentials: Bool
        let address: IPAddress?
        let zone: String?

        init(scheme: String, host: URLHost, port: UInt16, hasCredentials: Bool) {
            (self.scheme, self.port, self.hasCredentials) = (scheme, port, hasCredentials)
            (self.host, address, zone) = (host.name, host.address, host.zone)
        }

        static func == (left: Server, right: Server) -> Bool {
            left === right
                || left.host == right.host && left.port == right.port && left.scheme == right.scheme
                    && left.hasCredentials == right.hasCredentials && left.address == right.address
                    && left.zone == right.zone
        }

        func hash(into hasher: inout Hasher) {
            hasher.combine(scheme)
            hasher.combine(host)
            hasher.combine(port)
        }
    }

    /// The URL as it is requested, without its fragment.
    package private(set) var description: String
    private let server: Server
    /// In lower case.
    package var scheme: String { server.scheme }
    /// In lower case and ASCII (`xn--` for international names); an IPv6 address without its brackets.
    package var host: String { server.host }
    /// The scheme's own where the URL has none.
    package var port: UInt16 { server.port }
    /// Whether the URL contains a user name or a password.
    package var hasCredentials: Bool { server.hasCredentials }
    /// The address, where the host is one.
    package var address: IPAddress? { server.address }
    /// The interface that the address is to be found on, by name or number; `nil` without one.
    package var zone: String? { server.zone }

    /// - Throws: ``ValidationError`` for all but absolute http and https URLs.
    package init(_ text: String) throws(ValidationError) {
        try self.init(try Self.read(text).withoutDotSegments, schemes: ["http", "https"], of: text)
    }

    /// - Parameter other: A URL that was read before. Where `text` begins as it does, as the URLs of many requests to
    ///   one server do, the server is not read again.
    /// - Throws: ``ValidationError`` for all but absolute http and https URLs.
    package init(_ text: String, like other: TransferURL?) throws(ValidationError) {
        guard let other, other.isWhole(text) else {
            try self.init(text)
            return
        }
        self = other
        description = text
    }

    /// Whether `text` has this scheme, user and server, in the same spelling, and a path and a query that are sent as
    /// they are.
    private func isWhole(_ text: String) -> Bool {
        let (old, new) = (description.utf8.span, text.utf8.span)
        let common = min(old.count, new.count)
        var (index, slashes) = (0, 0)
        // Up to the third slash, with which the path begins.
        while slashes < 3 {
            guard index < common, new[index] == old[index] else { return false }
            if new[index] == UInt8(ascii: "/") { slashes += 1 }
            index += 1
        }
        while index < new.count, Self.isKept(new[index]) { index += 1 }
        return index == new.count
    }

    /// Whether a byte of a path or a query stays as it is, whatever is around it: a dot may be a segment of its own.
    private static func isKept(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "/"), UInt8(ascii: "?"), UInt8(ascii: "="), UInt8(ascii: "&"): true
        case UInt8(ascii: "."): false
        default: URLCharacters.isUnreserved(byte)
        }
    }

    /// - Parameter text: The URL of a proxy. Without a port it is 1080, as for curl.
    package init(proxy text: String) throws(ValidationError) {
        try self.init(
            try Self.read(text).withoutDotSegments, schemes: ["http", "socks5", "socks5h"], port: 1080, of: text)
    }

    /// The URL that a Location header field refers to, relative to this one.
    package func resolving(_ reference: String) throws(ValidationError) -> TransferURL {
        let resolved = try Self.read(reference).resolved(against: try Self.read(description))
        return try TransferURL(resolved, schemes: ["http", "https"], of: reference)
    }

    package var isSecure: Bool { scheme == "https" }

    /// The user name and password of the URL, as written in it.
    var credentials: Substring? {
        guard hasCredentials, let start = description.utf8Range(of: "://")?.upperBound else { return nil }
        let authority = description[start...].prefixScalars { $0 != "/" && $0 != "?" }
        return authority.unicodeScalars.lastIndex(of: "@").map { authority[..<$0] }
    }

    /// Whether scheme, host and port are the same.
    package func hasOrigin(of other: TransferURL) -> Bool {
        server === other.server
            || scheme == other.scheme && host == other.host && port == other.port && zone == other.zone
    }

    private static func read(_ text: String) throws(ValidationError) -> URLReference {
        do throws(WebAddressError) {
            return try URLReference(text, slips: .allowed)
        } catch {
            throw malformed(text, error.description)
        }
    }

    private init(
        _ url: URLReference, schemes: Set<String>, port standard: UInt16? = nil, of text: String
    ) throws(ValidationError) {
        guard let scheme = url.scheme else { throw Self.malformed(text, "a URL needs a scheme such as https://") }
        guard schemes.contains(scheme) else {
            let known = schemes.sorted().joined(separator: " or ")
            throw ValidationError(
                kind: .unsupportedScheme,
                description: "'\(DisplayText.excerpt(text, upTo: 200))': \(DisplayText.excerpt(scheme)) is not \(known)"
            )
        }
        guard let authority = url.authority, let host = URLHost(authority.host) else {
            throw Self.malformed(text, "it has no host that can be connected to")
        }
        guard let port = authority.port ?? standard ?? Self.standardPorts[scheme], port > 0 else {
            throw Self.malformed(text, "it has no port that exists")
        }
        server = Server(scheme: scheme, host: host, port: port, hasCredentials: authority.userInformation != nil)
        var resolved = scheme + "://"
        if let user = authority.userInformation { resolved += user + "@" }
        resolved += host.written
        if let port = authority.port { resolved += ":\(port)" }
        resolved += url.path.isEmpty ? "/" : url.path
        if let query = url.query { resolved += "?" + query }
        description = resolved
    }

    private static let standardPorts: [String: UInt16] = ["http": 80, "https": 443]

    private static func malformed(_ text: String, _ what: String) -> ValidationError {
        ValidationError(kind: .malformed, description: "'\(DisplayText.excerpt(text, upTo: 200))': \(what)")
    }
}
