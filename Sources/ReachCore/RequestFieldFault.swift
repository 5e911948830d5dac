/// What keeps a header field of a caller's from being sent. The only place that decides it: for the command line, the
/// daemon's calls, the library, the configuration, and once more before anything is sent.
///
/// A caller who sets the framing of a message decides where the next one on the same connection begins, and so can write a
/// request of somebody else's (request smuggling, RFC 9112 section 11.2). So Content-Length is always counted here, and
/// the fields that are about one connection (RFC 9110 section 7.6.1) are nobody's to set.
package struct RequestFieldFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// The field's name as it was given: at most 64 characters, safe to show.
    package let name: String
    /// A sentence for people that names the field.
    package let description: String

    /// What is wrong with a field; `nil` where it can be sent.
    package init?(_ name: String, _ value: String) {
        let shown = DisplayText.sanitized(String(name.prefix(64)))
        guard let problem = Self.problem(of: name, value, shown) else { return nil }
        self.name = shown
        description = problem
    }

    /// What is wrong with the first of these that cannot be sent, or with a Host that is there twice.
    package static func first(in fields: some Sequence<(name: String, value: String)>) -> RequestFieldFault? {
        var hasHost = false
        for field in fields {
            if let fault = RequestFieldFault(field.name, field.value) { return fault }
            guard field.name.lowercased() == "host" else { continue }
            if hasHost { return RequestFieldFault(secondHost: field.name) }
            hasHost = true
        }
        return nil
    }

    private init(secondHost name: String) {
        self.name = name
        description = "the header '\(name)' is given more than once"
    }

    private static func problem(of name: String, _ value: String, _ shown: String) -> String? {
        guard !name.isEmpty, name.utf8.allSatisfy(isOfToken) else { return "'\(shown)' is not the name of a header" }
        // RFC 9110 section 5.5: a line break would begin a field of somebody else's making.
        guard value.utf8.allSatisfy({ $0 == 9 || $0 >= 32 && $0 != 127 }) else {
            return "the value of '\(shown)' has a line break or another control character"
        }
        let word = name.lowercased()
        if word == "host" {
            return isAuthority(value) ? nil : "the value of '\(shown)' is not a host, with or without a port"
        }
        guard framing.contains(word) || word.hasPrefix("proxy-") else { return nil }
        return "the header '\(shown)' may not be set: it is about the connection, which reach looks after itself"
    }

    /// About the connection or the framing of the message, not about the request.
    private static let framing: Set<String> = [
        "content-length", "transfer-encoding", "connection", "keep-alive", "upgrade", "http2-settings", "te", "trailer",
        "expect",
    ]

    /// RFC 9110 section 5.6.2.
    package static func isOfToken(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
    }

    /// `host[:port]` of RFC 3986 section 3.2, without a user's name, and with a host.
    private static func isAuthority(_ text: String) -> Bool {
        var host = text[...]
        let afterBracket = text.lastIndex(of: "]") ?? text.startIndex
        if let colon = text[afterBracket...].lastIndex(of: ":") {
            let port = text[text.index(after: colon)...]
            guard port.utf8.count <= 5, port.utf8.allSatisfy({ 48...57 ~= $0 }), Int(port) ?? 0 <= 65535 else {
                return false
            }
            host = text[..<colon]
        }
        if host.hasPrefix("["), host.hasSuffix("]") {
            return IPAddress(String(host.dropFirst().dropLast()))?.family == .ipv6
        }
        return isRegisteredName(Array(host.utf8))
    }

    /// An IPv4 address is one by its letters, too.
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
