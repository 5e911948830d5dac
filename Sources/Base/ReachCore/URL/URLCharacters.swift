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
