internal import CCurl
internal import Glibc
package import ReachCore

/// An absolute http or https URL, read by libcurl's own parser, so that what is looked up is what is connected to.
package struct TransferURL: Hashable, Sendable, CustomStringConvertible {
    package struct Mistake: Error, Hashable, Sendable, CustomStringConvertible {
        package enum Kind: Hashable, Sendable {
            case malformed
            /// Neither http nor https; for a proxy, neither http nor socks5h.
            case unsupportedScheme
            /// Nothing is wrong with it: libcurl, which reads it, cannot be loaded.
            case noLibrary
        }

        package let kind: Kind
        package let description: String
    }

    /// As it is requested, without its fragment.
    package let description: String
    /// In lower case.
    package let scheme: String
    /// In lower case and ASCII (`xn--` for international names); an IPv6 address without its brackets.
    package let host: String
    /// The scheme's own where the URL has none.
    package let port: UInt16
    /// The URL carries a user name or a password.
    package let hasCredentials: Bool
    /// The address that stands in it instead of a name.
    package let address: IPAddress?

    /// - Throws: ``Mistake`` for all but absolute http and https URLs.
    package init(_ text: String) throws(Mistake) {
        if let plain = TransferURL(plain: text) { self = plain } else { try self.init(parsing: text) }
    }

    /// What libcurl's parser would take apart and put together again without a change, as most URLs are; `nil` for all others.
    /// A queue reads one for each request, and libcurl's parser is a tenth of what sending it takes.
    package init?(plain text: String) {
        guard let plain = PlainURL(text) else { return nil }
        description = text
        scheme = plain.scheme
        host = plain.host
        port = plain.port
        address = plain.address
        hasCredentials = false
    }

    /// - Throws: ``Mistake`` for all but absolute http and https URLs.
    package init(parsing text: String) throws(Mistake) { try self.init(text, schemes: ["http", "https"]) }

    /// - Parameter text: The URL of a proxy.
    package init(proxy text: String) throws(Mistake) { try self.init(text, schemes: ["http", "socks5h"]) }

    /// What a Location header field means here.
    package func resolving(_ reference: String) throws(Mistake) -> TransferURL {
        // 7.88.1 takes the last part of the path away.
        if reference.hasPrefix("#") { return self }
        let absolute = try Parser.read(description)
        try absolute.set(CURLUPART_URL, reference, of: reference)
        return try TransferURL(absolute, schemes: ["http", "https"], of: reference)
    }

    package var isSecure: Bool { scheme == "https" }

    /// The user name and password that stand in it, as they are written.
    var credentials: Substring? {
        guard hasCredentials, let start = description.firstRange(of: "://")?.upperBound else { return nil }
        let authority = description[start...].prefix { $0 != "/" && $0 != "?" }
        return authority.lastIndex(of: "@").map { authority[..<$0] }
    }

    /// Scheme, host and port are the same: who is talked to, and how.
    package func hasOrigin(of other: TransferURL) -> Bool {
        scheme == other.scheme && host == other.host && port == other.port
    }

    private init(_ text: String, schemes: Set<String>) throws(Mistake) {
        try self.init(try Parser.read(text), schemes: schemes, of: text)
    }

    private init(_ parser: borrowing Parser, schemes: Set<String>, of text: String) throws(Mistake) {
        scheme = try parser.part(CURLUPART_SCHEME, of: text).lowercased()
        guard schemes.contains(scheme) else {
            throw Mistake(kind: .unsupportedScheme, description: "'\(text)': \(scheme) is not \(Self.list(schemes))")
        }
        let host = try parser.part(CURLUPART_HOST, of: text).lowercased()
        guard host.utf8.allSatisfy({ $0 < 128 }) else {
            // libcurl turns it only where the process has a UTF-8 locale, which a daemon has not.
            throw Mistake(
                kind: .malformed, description: "'\(text)': an international name must be in its ASCII form (xn--...)")
        }
        self.host = host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host
        address = IPAddress(self.host)
        guard let port = UInt16(try parser.part(CURLUPART_PORT, flags: CURLU_DEFAULT_PORT, of: text)), port > 0 else {
            throw Mistake(kind: .malformed, description: "'\(text)' has no port that exists")
        }
        self.port = port
        hasCredentials = parser.has(CURLUPART_USER) || parser.has(CURLUPART_PASSWORD)
        try parser.set(CURLUPART_FRAGMENT, nil, of: text)
        description = try parser.part(CURLUPART_URL, of: text)
    }

    private static func list(_ schemes: Set<String>) -> String { schemes.sorted().joined(separator: " or ") }
}

/// libcurl's parsed URL, freed with the value.
private struct Parser: ~Copyable {
    private let handle: OpaquePointer

    private init(owning handle: OpaquePointer) { self.handle = handle }

    static func read(_ text: String) throws(TransferURL.Mistake) -> Parser {
        if let missing = CurlRuntime.missingLibrary {
            throw TransferURL.Mistake(kind: .noLibrary, description: "libcurl cannot be loaded: \(missing)")
        }
        guard let handle = curl_url() else {
            throw TransferURL.Mistake(kind: .malformed, description: "'\(text)': out of memory")
        }
        let parser = Parser(owning: handle)
        try parser.set(CURLUPART_URL, text, of: text)
        return parser
    }

    deinit { curl_url_cleanup(handle) }

    func set(_ part: CURLUPart, _ value: String?, of text: String) throws(TransferURL.Mistake) {
        // Any scheme is read here, and judged by the caller, who can say which.
        let code = curl_url_set(handle, part, value, UInt32(CURLU_NON_SUPPORT_SCHEME))
        guard code == CURLUE_OK else { throw Self.mistake(code, text) }
    }

    func has(_ part: CURLUPart) -> Bool {
        var value: UnsafeMutablePointer<CChar>?
        defer { curl_free(value) }
        return reach_url_get(handle, part, &value, 0) == CURLUE_OK
    }

    func part(_ part: CURLUPart, flags: Int32 = 0, of text: String) throws(TransferURL.Mistake) -> String {
        var value: UnsafeMutablePointer<CChar>?
        defer { curl_free(value) }
        let code = reach_url_get(handle, part, &value, UInt32(flags))
        guard code == CURLUE_OK, let value else { throw Self.mistake(code, text) }
        return String(cString: value)
    }

    private static func mistake(_ code: CURLUcode, _ text: String) -> TransferURL.Mistake {
        TransferURL.Mistake(
            kind: code == CURLUE_UNSUPPORTED_SCHEME ? .unsupportedScheme : .malformed,
            description: "'\(text)': \(String(cString: curl_url_strerror(code)))")
    }
}
