/// The encoding in which a test sends its text.
enum EncodedText: CaseIterable {
    case utf8, utf16BigEndian, utf16LittleEndian, utf32BigEndian, utf32LittleEndian

    func bytes(_ text: String) -> [UInt8] {
        switch self {
        case .utf8: Array(text.utf8)
        case .utf16BigEndian: text.utf16.flatMap { [UInt8($0 >> 8), UInt8($0 & 255)] }
        case .utf16LittleEndian: text.utf16.flatMap { [UInt8($0 & 255), UInt8($0 >> 8)] }
        case .utf32BigEndian: text.unicodeScalars.flatMap { Self.bigEndian($0) }
        case .utf32LittleEndian: text.unicodeScalars.flatMap { Self.bigEndian($0).reversed() }
        }
    }

    private static func bigEndian(_ scalar: Unicode.Scalar) -> [UInt8] {
        [0, UInt8(scalar.value >> 16), UInt8(scalar.value >> 8 & 255), UInt8(scalar.value & 255)]
    }
}
