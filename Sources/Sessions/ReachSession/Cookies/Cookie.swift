public import ReachCore

/// A cookie of a session (RFC 6265).
///
/// There is no SameSite: it protects the user of a browser from pages of other sites, and a session has no pages. A
/// server's SameSite attribute is ignored.
public struct Cookie: Hashable, Sendable {
    /// The name; never empty.
    public var name: String
    /// The value, as the server wrote it: quotes belong to it.
    public var value: String
    /// The host, in lower case, in ASCII and without a dot at the front.
    public var domain: String
    /// The path below which the cookie is sent; it begins with "/".
    public var path: String
    /// When the cookie expires. `nil` keeps it until the session ends, and out of the session's file.
    public var expires: Timestamp?
    /// Whether the cookie is sent over https only.
    public var isSecure: Bool
    /// Whether the server kept the cookie from the scripts of its pages. It makes no difference to a session.
    public var isHTTPOnly: Bool
    /// Whether the cookie is sent to its domain only, and not to hosts below it.
    public var isHostOnly: Bool

    /// Creates a cookie for a host, by default for all of it.
    public init(
        name: String, value: String, domain: String, path: String = "/", expires: Timestamp? = nil,
        isSecure: Bool = false, isHTTPOnly: Bool = false, isHostOnly: Bool = true
    ) {
        self.name = name
        self.value = value
        self.domain = domain
        self.path = path
        self.expires = expires
        self.isSecure = isSecure
        self.isHTTPOnly = isHTTPOnly
        self.isHostOnly = isHostOnly
    }
}

extension Cookie {
    /// The bytes that count against the limits of a jar.
    var bytes: Int { name.utf8.count + value.utf8.count + domain.utf8.count + path.utf8.count }

    func hasExpired(at now: Timestamp) -> Bool { expires.map { $0 <= now } ?? false }

    /// Whether the cookie can be sent as it is: no other cookie or header begins within it. It may come from the
    /// program, or from a file. The path is that of a URL, which may have a semicolon, and is not sent.
    var isSendable: Bool {
        let control: (UInt8) -> Bool = { $0 < 0x20 && $0 != 9 || $0 == 0x7f }
        return !name.isEmpty && !domain.isEmpty && path.hasUTF8Prefix("/") && !name.utf8.contains(UInt8(ascii: "="))
            && !(name + value).utf8.contains(UInt8(ascii: ";")) && !(name + value + path).utf8.contains(where: control)
    }
}

/// What a request's URL says about its cookies.
package struct CookieOrigin: Hashable, Sendable {
    /// In lower case, and without a dot at the end.
    package let host: String
    /// The path, as it is sent: percent escapes are not decoded.
    package let path: String
    package let isSecure: Bool
    /// Whether the host is an address: such a host has no domain but itself.
    package let isAddress: Bool

    package init(host: String, path: String = "/", isSecure: Bool = false, isAddress: Bool = false) {
        self.host = host
        self.path = path
        self.isSecure = isSecure
        self.isAddress = isAddress
    }

    /// The path of a cookie that the server gave none (RFC 6265, 5.1.4): that of the URL, up to its last "/".
    package var defaultPath: String {
        guard path.hasUTF8Prefix("/"), let last = path.unicodeScalars.lastIndex(of: "/"), last > path.startIndex else {
            return "/"
        }
        return String(path[..<last])
    }

    /// Whether the host is this domain, or below it (RFC 6265, 5.1.3).
    package func isWithin(domain: String) -> Bool {
        host == domain || !isAddress && !domain.isEmpty && host.hasUTF8Suffix("." + domain)
    }

    /// Whether a cookie of this path is sent with the URL's path (RFC 6265, 5.1.4).
    package func isBelow(path other: String) -> Bool {
        if path == other { return true }
        guard let rest = path.after(other) else { return false }
        return other.hasUTF8Suffix("/") || rest.hasUTF8Prefix("/")
    }
}
