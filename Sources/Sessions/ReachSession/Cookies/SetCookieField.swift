internal import ReachCore

/// The value of one `Set-Cookie` field (RFC 6265, 5.2), read as leniently as browsers do: an attribute that cannot be
/// read is as if it were missing.
package struct SetCookieField: Equatable {
    package var name: String
    package var value: String
    /// The server's date; `nil` without one that can be read.
    package var expires: Timestamp?
    /// In seconds; it takes precedence over the date.
    package var maximumAge: Int64?
    /// In lower case, without a dot at the front; `nil` where the server names none.
    package var domain: String?
    /// `nil` for the path of the URL.
    package var path: String?
    package var isSecure = false
    package var isHTTPOnly = false

    /// The longest name and value together, and the longest attribute, in bytes (draft-ietf-httpbis-rfc6265bis, 5.6).
    private static let longestPair = 4096
    private static let longestAttribute = 1024

    /// - Returns: `nil` for what is no cookie: without a name, too long, or with control characters.
    package init?(_ text: String) {
        guard !text.utf8.contains(where: { $0 < 0x20 && $0 != 9 || $0 == 0x7f }) else { return nil }
        let parts = text.split(scalar: ";", omittingEmptySubsequences: false)
        guard let pair = parts.first, let equals = pair.unicodeScalars.firstIndex(of: "=") else { return nil }
        name = String(pair[..<equals].trimmed)
        value = String(pair[pair.unicodeScalars.index(after: equals)...].trimmed)
        guard !name.isEmpty, name.utf8.count + value.utf8.count <= Self.longestPair else { return nil }
        for part in parts.dropFirst() {
            let sides = part.split(scalar: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let value = sides.count > 1 ? String(sides[1].trimmed) : ""
            guard value.utf8.count <= Self.longestAttribute else { continue }
            read(sides[0].trimmed.lowercased(), value)
        }
    }

    /// Reads an attribute. The last of several counts.
    private mutating func read(_ name: String, _ value: String) {
        switch name {
        case "expires": if let date = CookieDate.parse(value) { expires = date }
        case "max-age": if let age = Self.seconds(value) { maximumAge = age }
        case "domain":
            let bare = value.hasUTF8Prefix(".") ? value.dropFirst() : value[...]
            domain = bare.isEmpty ? nil : bare.lowercased()
        case "path": path = value.hasUTF8Prefix("/") ? value : nil
        case "secure": isSecure = true
        case "httponly": isHTTPOnly = true
        default: break
        }
    }

    /// Digits, possibly after a "-". More than 64 bits hold are as many as they hold.
    private static func seconds(_ text: String) -> Int64? {
        let digits = text.hasUTF8Prefix("-") ? text.dropFirst() : text[...]
        guard !digits.isEmpty, digits.utf8.allSatisfy({ 48...57 ~= $0 }) else { return nil }
        return Int64(text) ?? (text.hasUTF8Prefix("-") ? .min : .max)
    }
}
