/// The parts of a URL (RFC 3986, section 3), split but not checked.
///
/// All code that reads a URL splits it here, so that no two readers find different hosts in one text.
package struct URLPieces {
    /// The text before the first colon, unless "/", "?" or "#" comes earlier.
    package private(set) var scheme: Substring?
    /// The text after "//". It ends at a backslash too, as in browsers: `http://a\@b` goes to `a`.
    package private(set) var authority: Authority?
    /// The text from the end of the authority to the query.
    package let path: Substring
    /// The text after the "?".
    package private(set) var query: Substring?
    /// The text after the "#".
    package private(set) var fragment: Substring?

    package struct Authority {
        /// The text before the last "@".
        package private(set) var userInformation: Substring?
        /// The host; an IPv6 address with its brackets.
        package private(set) var host: Substring
        /// The text after the colon; may be empty.
        package private(set) var port: Substring?

        /// - Parameter text: The text between "//" and the path.
        package init(_ text: Substring) {
            host = text
            if let at = text.utf8.lastIndex(of: UInt8(ascii: "@")) {
                userInformation = text[..<at]
                host = text[text.utf8.index(after: at)...]
            }
            let afterBracket = host.utf8.lastIndex(of: UInt8(ascii: "]")) ?? host.startIndex
            guard let colon = host[afterBracket...].utf8.lastIndex(of: UInt8(ascii: ":")) else { return }
            port = host[host.utf8.index(after: colon)...]
            host = host[..<colon]
        }

        /// The port as a number: `.some(nil)` if there is no port, or nothing after the colon; `.none` if the text is not a
        /// number up to 65535.
        package var portNumber: UInt16?? {
            guard let port, !port.isEmpty else { return .some(nil) }
            guard port.utf8.allSatisfy({ 48...57 ~= $0 }), let number = UInt16(port) else { return nil }
            return number
        }
    }

    package init(_ text: String) {
        var rest = text[...]
        if let mark = rest.utf8.firstIndex(of: UInt8(ascii: "#")) {
            fragment = rest[rest.utf8.index(after: mark)...]
            rest = rest[..<mark]
        }
        if let mark = rest.utf8.firstIndex(of: UInt8(ascii: "?")) {
            query = rest[rest.utf8.index(after: mark)...]
            rest = rest[..<mark]
        }
        let first = rest.utf8.firstIndex { $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: "/") }
        if let first, rest.utf8[first] == UInt8(ascii: ":") {
            scheme = rest[..<first]
            rest = rest[rest.utf8.index(after: first)...]
        }
        if rest.utf8.starts(with: "//".utf8) {
            let start = rest.utf8.index(rest.startIndex, offsetBy: 2)
            let end =
                rest[start...].utf8.firstIndex { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "\\") } ?? rest.endIndex
            authority = Authority(rest[start..<end])
            rest = rest[end...]
        }
        path = rest
    }

    /// Whether the scheme is a letter, then letters, digits, "+", "-" and "." (section 3.1).
    package var hasGoodScheme: Bool {
        guard let scheme, let first = scheme.utf8.first, 97...122 ~= first | 0x20 else { return false }
        return scheme.utf8.allSatisfy { byte in
            switch byte {
            case 48...57, 65...90, 97...122, UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."): true
            default: false
            }
        }
    }
}
