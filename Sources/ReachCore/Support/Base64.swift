/// Base64 with the alphabet of RFC 4648, section 4, and padding.
package enum Base64 {
    private static let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    /// Encodes bytes on one line, with padding.
    package static func encode(_ bytes: some Collection<UInt8>) -> String {
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count + 2) / 3 * 4)
        var group: UInt32 = 0
        var held = 0
        for byte in bytes {
            group = group << 8 | UInt32(byte)
            held += 1
            if held == 3 {
                append(group, 4, to: &text)
                (group, held) = (0, 0)
            }
        }
        if held > 0 {
            append(group << UInt32(8 * (3 - held)), held + 1, to: &text)
            text += Array(repeating: UInt8(ascii: "="), count: 3 - held)
        }
        return String(decoding: text, as: UTF8.self)
    }

    private static func append(_ group: UInt32, _ count: Int, to text: inout [UInt8]) {
        for place in 0..<count { text.append(letters[Int(group >> UInt32(18 - 6 * place) & 63)]) }
    }

    /// Decodes exactly what ``encode(_:)`` produces: with padding, without white space, and with zeros in the unused bits
    /// after the last byte (RFC 4648, sections 3.1 to 3.3 and 3.5).
    ///
    /// - Returns: `nil` for anything else.
    package static func decode(_ text: some Collection<UInt8>) -> [UInt8]? {
        guard text.count % 4 == 0 else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count / 4 * 3)
        var group: UInt32 = 0
        var held = 0
        var padding = 0
        for byte in text {
            if byte == UInt8(ascii: "=") {
                padding += 1
                continue
            }
            guard padding == 0, let value = value(of: byte) else { return nil }
            group = group << 6 | value
            held += 1
            if held == 4 {
                bytes += [UInt8(group >> 16), UInt8(group >> 8 & 255), UInt8(group & 255)]
                (group, held) = (0, 0)
            }
        }
        switch (held, padding) {
        case (0, 0): return bytes
        case (2, 2) where group & 15 == 0: return bytes + [UInt8(group >> 4)]
        case (3, 1) where group & 3 == 0: return bytes + [UInt8(group >> 10), UInt8(group >> 2 & 255)]
        default: return nil
        }
    }

    private static func value(of byte: UInt8) -> UInt32? {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(byte) - 65
        case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(byte) - 71
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(byte) + 4
        case UInt8(ascii: "+"): 62
        case UInt8(ascii: "/"): 63
        default: nil
        }
    }
}
