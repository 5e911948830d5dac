extension UInt8 {
    /// Whether the byte is a letter or a digit of ASCII, which names of many kinds consist of. What else may be in a
    /// name is a matter of its kind.
    // Other modules ask it for each byte.
    @inlinable package var isLetterOrDigit: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: false
        }
    }

    /// Whether the byte may be in a label of a host's name: also "_", which names of services have.
    var isOfHostName: Bool { isLetterOrDigit || self == UInt8(ascii: "-") || self == UInt8(ascii: "_") }
}

extension StringProtocol where SubSequence == Substring {
    /// The text without the spaces and tabs around it, which HTTP calls optional white space (RFC 9110, 5.6.3).
    package var trimmed: Substring {
        let isBlank: (Unicode.Scalar) -> Bool = { $0 == " " || $0 == "\t" }
        let front = dropScalars(while: isBlank)
        return front.unicodeScalars.lastIndex { !isBlank($0) }.map { front[...$0] } ?? ""
    }
}
