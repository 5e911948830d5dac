/// The name that a Wi-Fi network broadcasts: 1 to 32 arbitrary bytes (IEEE 802.11, 9.4.2.2). They need not be text, and
/// whoever runs an access point chooses them.
package struct SSID: Hashable, Sendable, CustomStringConvertible {
    package static let longest = 32

    package let bytes: [UInt8]

    /// - Returns: `nil` for no bytes or too many, and for zeros alone, by which access points hide their name.
    package init?(_ bytes: some Collection<UInt8>) {
        guard (1...Self.longest).contains(bytes.count), bytes.contains(where: { $0 != 0 }) else { return nil }
        self.bytes = Array(bytes)
    }

    /// Reads what ``description`` writes: text, in which `\xNN` is one byte and `\\` a backslash.
    package init?(_ text: String) {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "\\") else {
                bytes.append(byte)
                continue
            }
            switch rest.popFirst() {
            case UInt8(ascii: "\\"): bytes.append(byte)
            case UInt8(ascii: "x"):
                let digits = rest.prefix(2)
                guard digits.count == 2, digits.allSatisfy({ $0 != 0x2b && $0 != 0x2d }),
                    let number = UInt8(String(decoding: digits, as: UTF8.self), radix: 16)
                else { return nil }
                bytes.append(number)
                rest = rest.dropFirst(2)
            default: return nil
            }
        }
        self.init(bytes)
    }

    /// The bytes as text that is safe to print and that ``init(_:)`` reads back. Bytes that are not UTF-8, and
    /// characters that no terminal should get, are `\xNN`; so no two networks look alike by invisible characters.
    package var description: String {
        var text = ""
        var rest = bytes[...]
        while !rest.isEmpty {
            let (scalar, length) = Self.scalar(rest)
            if let scalar, scalar == "\\" {
                text += "\\\\"
            } else if let scalar, Self.isPlain(scalar) {
                text.unicodeScalars.append(scalar)
            } else {
                for byte in rest.prefix(length) { text += "\\x" + (byte < 16 ? "0" : "") + String(byte, radix: 16) }
            }
            rest = rest.dropFirst(length)
        }
        return text
    }

    /// The first character and its length in bytes; no character, and one byte, where the bytes are not UTF-8.
    private static func scalar(_ bytes: ArraySlice<UInt8>) -> (Unicode.Scalar?, Int) {
        var iterator = bytes.makeIterator()
        var decoder = Unicode.UTF8()
        guard case .scalarValue(let scalar) = decoder.decode(&iterator) else { return (nil, 1) }
        return (scalar, UTF8.width(scalar))
    }

    private static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .surrogate, .unassigned: false
        case .spaceSeparator: scalar == " "
        default: true
        }
    }
}
