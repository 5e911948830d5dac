/// Finds the end of plain text in JSON strings, eight bytes at a time: a body of half a mebibyte is one string.
enum JSONStringScanner {
    /// - Returns: The offset of the first byte that ``JSONWriter`` escapes: a quote, a backslash, a control character,
    ///   DEL or one of ``hiddenScalar(in:at:)``; the end of the text if there is none.
    static func firstEscape(in text: UnsafeRawBufferPointer, from start: Int) -> Int {
        first(in: text, from: start, orHidden: true)
    }

    /// The scalar at `index` if a terminal obeys it instead of showing it, or if it turns the direction of what
    /// follows: a C1 control, a mark of direction, or a separator of lines, which ends a string in older JavaScript.
    static func hiddenScalar(in text: UnsafeRawBufferPointer, at index: Int) -> (number: UInt32, length: Int)? {
        let byte = text[index], rest = text.count - index
        if byte == 0xc2, rest >= 2, 0x80...0x9f ~= text[index + 1] { return (UInt32(text[index + 1]), 2) }
        if byte == 0xd8, rest >= 2, text[index + 1] == 0x9c { return (0x61c, 2) }
        guard byte == 0xe2, rest >= 3 else { return nil }
        let number = 0x2000 | UInt32(text[index + 1] & 0x3f) << 6 | UInt32(text[index + 2] & 0x3f)
        switch number {
        case 0x200e, 0x200f, 0x2028...0x202e, 0x2066...0x2069: return (number, 3)
        default: return nil
        }
    }

    /// - Returns: The offset of the first byte that is not an ordinary part of a string: a quote, a backslash or a
    ///   control character; the end of the text if there is none.
    static func firstSpecial(in text: UnsafeRawBufferPointer, from start: Int) -> Int {
        first(in: text, from: start, orHidden: false)
    }

    @inline(__always)
    private static func first(in text: UnsafeRawBufferPointer, from start: Int, orHidden: Bool) -> Int {
        var index = start
        while index + 8 <= text.count, isPlain(text.loadUnaligned(fromByteOffset: index, as: UInt64.self), orHidden) {
            index += 8
        }
        // Names of keys and links are short: their ends are read together with bytes that were looked at already.
        if text.count - index < 8, text.count - start >= 8,
            isPlain(text.loadUnaligned(fromByteOffset: text.count - 8, as: UInt64.self), orHidden)
        {
            return text.count
        }
        if text.count - index >= 4, text.count - index < 8 {
            let low = text.loadUnaligned(fromByteOffset: index, as: UInt32.self)
            let high = text.loadUnaligned(fromByteOffset: text.count - 4, as: UInt32.self)
            if isPlain(UInt64(high) << 32 | UInt64(low), orHidden) { return text.count }
        }
        while index < text.count {
            let byte = text[index]
            if byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { break }
            if orHidden, byte == 0x7f || byte >= 0x80 && hiddenScalar(in: text, at: index) != nil { break }
            index += 1
        }
        return index
    }

    @inline(__always)
    private static func isPlain(_ word: UInt64, _ orHidden: Bool) -> Bool {
        var special = zeros(word ^ repeated(UInt8(ascii: "\""))) | zeros(word ^ repeated(UInt8(ascii: "\\")))
        // Text outside ASCII is looked at byte by byte.
        if orHidden { special |= zeros(word ^ repeated(0x7f)) | word & repeated(0x80) }
        // Bytes below 0x20.
        special |= (word &- repeated(0x20)) & ~word & repeated(0x80)
        return special == 0
    }

    @inline(__always)
    private static func repeated(_ byte: UInt8) -> UInt64 { 0x0101_0101_0101_0101 &* UInt64(byte) }

    /// Not zero if one of the bytes is 0 (the usual trick of subtracting 1 from each).
    @inline(__always)
    private static func zeros(_ word: UInt64) -> UInt64 { (word &- repeated(1)) & ~word & repeated(0x80) }
}
