/// Which characters XML 1.0 (fifth edition) has, and in which places.
enum XMLCharacters {
    /// Section 2.2: a document may hold it at all.
    static func isAllowed(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x9, 0xa, 0xd, 0x20...0xd7ff, 0xe000...0xfffd, 0x10000...0x10ffff: true
        default: false
        }
    }

    static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x9 || byte == 0xa || byte == 0xd }

    /// May stand in a name, as far as one byte tells: letters outside ASCII are looked at as a whole by `isName`.
    static func isOfName(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: ":"), UInt8(ascii: "-"),
            UInt8(ascii: "."), 0x80...:
            true
        default: false
        }
    }

    /// Section 2.3.
    static func isName(_ text: Substring) -> Bool {
        guard let first = text.unicodeScalars.first, startsName(first) else { return false }
        return text.unicodeScalars.allSatisfy { startsName($0) || continuesName($0) }
    }

    private static func startsName(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x3a, 0x41...0x5a, 0x5f, 0x61...0x7a, 0xc0...0xd6, 0xd8...0xf6, 0xf8...0x2ff, 0x370...0x37d,
            0x37f...0x1fff, 0x200c...0x200d, 0x2070...0x218f, 0x2c00...0x2fef, 0x3001...0xd7ff, 0xf900...0xfdcf,
            0xfdf0...0xfffd, 0x10000...0xeffff:
            true
        default: false
        }
    }

    private static func continuesName(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x2d, 0x2e, 0x30...0x39, 0xb7, 0x300...0x36f, 0x203f...0x2040: true
        default: false
        }
    }
}
