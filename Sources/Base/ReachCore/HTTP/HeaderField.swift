internal import Glibc

/// One header field of a request or a response, as a user wrote it or a server sent it: neither name nor value is
/// checked yet. ``RequestFieldFault`` finds what may not be sent.
@usableFromInline package struct HeaderField: Hashable, Sendable {
    @usableFromInline package let name: String
    package var value: String

    package init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }

    /// The length of its line, with ": " and the end of the line.
    package var lineBytes: Int { name.utf8.count + value.utf8.count + 4 }

    /// Compares without regard to case, as HTTP does (RFC 9110, 5.1).
    ///
    /// Inlinable, since it runs for each field of each request and response, and mostly the lengths differ already.
    @inlinable package func isNamed(_ other: String) -> Bool {
        name.utf8.count == other.utf8.count && hasLetters(of: other)
    }

    @usableFromInline func hasLetters(of other: String) -> Bool { name.beginsWithFieldName(other) }

    /// Compares byte by byte: texts are equal, too, where one writes a letter and its accent as one character and the
    /// other as two.
    package func hasSameBytes(as other: HeaderField) -> Bool {
        value.hasSameBytes(as: other.value) && name.hasSameBytes(as: other.name)
    }
}

extension String {
    /// Compares without regard to the case of ASCII letters: the names of fields have no others (RFC 9110, 5.6.2).
    fileprivate func isFieldName(_ other: String) -> Bool {
        // Mostly the lengths differ already.
        utf8.count == other.utf8.count && beginsWithFieldName(other)
    }

    fileprivate func hasSameBytes(as other: String) -> Bool {
        let (mine, others) = (utf8.span, other.utf8.span)
        guard mine.count == others.count else { return false }
        return mine.withUnsafeBytes { mine in
            others.withUnsafeBytes { others in
                guard let one = mine.baseAddress, let other = others.baseAddress else { return true }
                return memcmp(one, other, mine.count) == 0
            }
        }
    }

    // By spans, here and below: this runs for each field of each request and response.
    fileprivate func beginsWithFieldName(_ other: String) -> Bool {
        let (mine, others) = (utf8.span, other.utf8.span)
        guard mine.count >= others.count else { return false }
        for index in others.indices where mine[index].asciiLowercase != others[index].asciiLowercase { return false }
        return true
    }
}

extension UInt8 {
    fileprivate var asciiLowercase: UInt8 { 65...90 ~= self ? self | 0x20 : self }
}

/// Why a caller's header field is refused. Only this type decides it: for the command line, the daemon's calls, the
/// library, the configuration, and again before a request is sent.
///
/// A caller who sets the framing of a message decides where the next one on the same connection begins, and can so
/// write another user's request (request smuggling, RFC 9112 section 11.2). Content-Length is therefore always computed
/// here, and no caller may set fields that concern one connection (RFC 9110 section 7.6.1).
package struct RequestFieldFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// The field's name as given, cut after 64 characters and safe to print.
    package let name: String
    /// A sentence for people that names the field.
    package let description: String

    /// Finds what is wrong with a field.
    ///
    /// - Returns: `nil` if it can be sent.
    package init?(_ name: String, _ value: String) {
        guard let problem = Self.problem(of: name, value) else { return nil }
        self.name = Self.shown(name)
        description = problem
    }

    /// The fault of the first field that cannot be sent, or of a second Host; `nil` if all can be sent.
    package static func first(in fields: [HeaderField]) -> RequestFieldFault? {
        var hasHost = false
        for field in fields {
            if let fault = RequestFieldFault(field.name, field.value) { return fault }
            guard field.name.isFieldName("host") else { continue }
            if hasHost { return RequestFieldFault(secondHost: field.name) }
            hasHost = true
        }
        return nil
    }

    private init(secondHost name: String) {
        self.name = name
        description = "the header '\(name)' is given more than once"
    }

    private static func shown(_ name: String) -> String { DisplayText.excerpt(name) }

    private static func problem(of name: String, _ value: String) -> String? {
        guard isToken(name) else {
            return "'\(shown(name))' is not the name of a header"
        }
        // RFC 9110 section 5.5: a line break would begin another field.
        guard isPrintable(value) else {
            return "the value of '\(shown(name))' has a line break or another control character"
        }
        if name.isFieldName("host") {
            return isAuthority(value) ? nil : "the value of '\(shown(name))' is not a host, with or without a port"
        }
        guard isOfFraming(name) || name.beginsWithFieldName("proxy-") else { return nil }
        return "the header '\(shown(name))' may not be set: it is about the connection, which reach looks after itself"
    }

    /// The fields that concern the connection or the framing of the message, not the request.
    private static let framing = [
        "content-length", "transfer-encoding", "connection", "keep-alive", "upgrade", "http2-settings", "te", "trailer",
        "expect",
    ]

    /// The lengths of these names, as bits: most names have another one.
    private static let framingLengths = framing.reduce(UInt64(0)) { $0 | 1 << UInt64($1.utf8.count) }

    private static func isOfFraming(_ name: String) -> Bool {
        framingLengths & 1 << UInt64(name.utf8.count) != 0 && framing.contains { name.isFieldName($0) }
    }

    /// Whether the text is a token, such as the name of a field or a method (RFC 9110 section 5.6.2).
    package static func isToken(_ text: String) -> Bool {
        let bytes = text.utf8.span
        for index in bytes.indices where !isOfToken(bytes[index]) { return false }
        return !bytes.isEmpty
    }

    /// Whether the byte may be part of a token.
    package static func isOfToken(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        case UInt8(ascii: "!"), UInt8(ascii: "#")...UInt8(ascii: "'"), UInt8(ascii: "*"), UInt8(ascii: "+"),
            UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "^")...UInt8(ascii: "`"), UInt8(ascii: "|"),
            UInt8(ascii: "~"):
            true
        default: false
        }
    }

    private static func isPrintable(_ value: String) -> Bool {
        let bytes = value.utf8.span
        for index in bytes.indices where bytes[index] < 32 && bytes[index] != 9 || bytes[index] == 127 { return false }
        return true
    }

    /// Whether the text is `host[:port]` (RFC 3986 section 3.2), with a host and without a user's name.
    private static func isAuthority(_ text: String) -> Bool {
        var host = text[...]
        let afterBracket = text.unicodeScalars.lastIndex(of: "]") ?? text.startIndex
        if let colon = text[afterBracket...].unicodeScalars.lastIndex(of: ":") {
            let port = text[text.unicodeScalars.index(after: colon)...]
            guard port.utf8.count <= 5, port.utf8.allSatisfy({ 48...57 ~= $0 }), Int(port) ?? 0 <= 65535 else {
                return false
            }
            host = text[..<colon]
        }
        if let address = host.between("[", "]") { return IPAddress(String(address))?.family == .ipv6 }
        return isRegisteredName(Array(host.utf8))
    }

    /// Whether the bytes are a registered name (RFC 3986 section 3.2.2). This covers IPv4 addresses, too.
    private static func isRegisteredName(_ name: [UInt8]) -> Bool {
        func isHexDigit(_ byte: UInt8) -> Bool { 48...57 ~= byte || 65...70 ~= byte & 0xdf }
        for (index, byte) in name.enumerated() {
            switch byte {
            case UInt8(ascii: "%"):
                guard index + 2 < name.count, isHexDigit(name[index + 1]), isHexDigit(name[index + 2]) else {
                    return false
                }
            case 48...57, 65...90, 97...122: break
            default: guard "-._~!$&'()*+,;=".utf8.contains(byte) else { return false }
            }
        }
        return !name.isEmpty && name.count <= 255
    }
}

/// Who may see a request's header fields.
extension HeaderField {
    /// Whether anyone may see the value: it says how to answer, and nothing about who asks.
    ///
    /// Every other field may be a secret. Servers name those as they like (`X-Api-Key`, `PRIVATE-TOKEN`,
    /// `X-Auth-Token`), so that a list of secrets would never be complete.
    package var isHarmless: Bool { Self.harmless.contains(name.lowercased()) }

    private static let harmless: Set<String> = [
        "accept", "accept-charset", "accept-encoding", "accept-language", "cache-control", "content-disposition",
        "content-encoding", "content-language", "content-length", "content-md5", "content-type", "date", "dnt",
        "expect",
        "host", "idempotency-key", "if-match", "if-modified-since", "if-none-match", "if-range", "if-unmodified-since",
        "origin", "pragma", "prefer", "priority", "range", "tracestate", "traceparent",
        "upgrade-insecure-requests", "user-agent", "x-correlation-id", "x-request-id", "x-requested-with",
    ]

    /// Whether the name says that the value is a secret, which no redirect takes to another origin. Programs have
    /// fields of their own, most of which go along there; who names a field by one of these words keeps it from that.
    package var isNamedAsSecret: Bool {
        let name = name.lowercased()
        return !Self.harmless.contains(name) && Self.secretWords.contains { name.utf8Range(of: $0) != nil }
    }

    /// What names of secrets contain. `Referer` may have a secret in the URL that it quotes.
    private static let secretWords = [
        "access", "assertion", "auth", "bearer", "cert", "cookie", "credential", "csrf", "hmac", "identity", "jwt",
        "key", "login", "nonce", "otp", "pass", "principal", "proof", "referer", "saml", "secret", "session", "sig",
        "ticket", "token", "xsrf",
    ]
}

/// The methods whose requests may be sent a second time when it is not known what became of the first (RFC 9110,
/// 9.2.2).
package enum RepeatableMethods {
    package static func contains(_ method: String) -> Bool {
        switch method {
        case "GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE": true
        default: false
        }
    }
}
