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
        package let host: Substring
        /// The text after the colon; may be empty.
        package private(set) var port: Substring?

        /// - Parameter text: The text between "//" and the path.
        package init(_ text: Substring) {
            let (utf8, bytes) = (text.utf8, text.utf8.span)
            func piece(_ range: Range<Int>) -> Substring {
                text[
                    utf8.index(
                        utf8.startIndex, offsetBy: range.lowerBound)..<utf8.index(
                            utf8.startIndex, offsetBy: range.upperBound)]
            }
            var start = 0
            if let at = bytes.lastIndex(of: UInt8(ascii: "@"), from: 0) {
                userInformation = piece(0..<at)
                start = at + 1
            }
            let bracket = bytes.lastIndex(of: UInt8(ascii: "]"), from: start) ?? start
            let colon = bytes.lastIndex(of: UInt8(ascii: ":"), from: bracket)
            host = piece(start..<(colon ?? bytes.count))
            if let colon { port = piece(colon + 1..<bytes.count) }
        }

        /// The port as a number: `.some(nil)` if there is no port, or nothing after the colon; `.none` if the text is
        /// not a number up to 65535.
        package var portNumber: UInt16?? {
            guard let port, !port.isEmpty else { return .some(nil) }
            guard port.utf8.allSatisfy({ 48...57 ~= $0 }), let number = UInt16(port) else { return nil }
            return number
        }
    }

    package init(_ text: String) {
        let (utf8, bytes) = (text.utf8, text.utf8.span)
        func index(_ offset: Int) -> String.Index { utf8.index(utf8.startIndex, offsetBy: offset) }
        func piece(_ range: Range<Int>) -> Substring { text[index(range.lowerBound)..<index(range.upperBound)] }
        var end = bytes.count
        if let mark = bytes.firstIndex(in: 0..<end, where: { $0 == UInt8(ascii: "#") }) {
            fragment = piece(mark + 1..<end)
            end = mark
        }
        if let mark = bytes.firstIndex(in: 0..<end, where: { $0 == UInt8(ascii: "?") }) {
            query = piece(mark + 1..<end)
            end = mark
        }
        var start = 0
        let first = bytes.firstIndex(in: 0..<end) { $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: "/") }
        if let first, bytes[first] == UInt8(ascii: ":") {
            scheme = piece(0..<first)
            start = first + 1
        }
        if end - start >= 2, bytes[start] == UInt8(ascii: "/"), bytes[start + 1] == UInt8(ascii: "/") {
            start += 2
            let after =
                bytes.firstIndex(in: start..<end) { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "\\") } ?? end
            authority = Authority(piece(start..<after))
            start = after
        }
        path = piece(start..<end)
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

extension Span<UInt8> {
    fileprivate func firstIndex(in range: Range<Int>, where isWanted: (UInt8) -> Bool) -> Int? {
        for index in range where isWanted(self[index]) { return index }
        return nil
    }

    fileprivate func lastIndex(of byte: UInt8, from start: Int) -> Int? {
        for index in (start..<count).reversed() where self[index] == byte { return index }
        return nil
    }
}

/// The characters of RFC 3986, section 2.
package enum URLCharacters {
    private static let hex = Array("0123456789ABCDEF".utf8)

    package static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case 97...122, 65...90, 48...57, UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"):
            true
        default: false
        }
    }

    /// Whether the byte is one of `sub-delims`.
    static func isDelimiter(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "!"), UInt8(ascii: "$"), UInt8(ascii: "&")...UInt8(ascii: ","), UInt8(ascii: ";"),
            UInt8(ascii: "="):
            true
        default: false
        }
    }

    /// Whether the byte needs no escape in a path, a query or a fragment. "?" never reaches a path, nor "/" a user's
    /// name.
    package static func isPlain(_ byte: UInt8) -> Bool {
        isUnreserved(byte) || isDelimiter(byte) || byte == UInt8(ascii: ":") || byte == UInt8(ascii: "@")
            || byte == UInt8(ascii: "/") || byte == UInt8(ascii: "?")
    }

    package static func appendEscape(of byte: UInt8, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "%"))
        bytes.append(hex[Int(byte >> 4)])
        bytes.append(hex[Int(byte & 15)])
    }
}
