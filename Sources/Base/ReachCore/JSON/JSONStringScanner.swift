/// Finds the end of plain text in JSON strings, eight bytes at a time: a body of half a mebibyte is one string.
enum JSONStringScanner {
    /// - Returns: The offset of the first byte that ``JSONWriter`` escapes: a quote, a backslash, a control character or
    ///   DEL; the end of the text if there is none.
    static func firstEscape(in text: UnsafeRawBufferPointer, from start: Int) -> Int {
        first(in: text, from: start, orDelete: true)
    }

    /// - Returns: The offset of the first byte that is not an ordinary part of a string: a quote, a backslash or a control
    ///   character; the end of the text if there is none.
    static func firstSpecial(in text: UnsafeRawBufferPointer, from start: Int) -> Int {
        first(in: text, from: start, orDelete: false)
    }

    @inline(__always)
    private static func first(in text: UnsafeRawBufferPointer, from start: Int, orDelete: Bool) -> Int {
        var index = start
        while index + 8 <= text.count, isPlain(text.loadUnaligned(fromByteOffset: index, as: UInt64.self), orDelete) {
            index += 8
        }
        // Names of keys and links are short: their ends are read together with bytes that were looked at already.
        if text.count - index < 8, text.count - start >= 8,
            isPlain(text.loadUnaligned(fromByteOffset: text.count - 8, as: UInt64.self), orDelete)
        {
            return text.count
        }
        if text.count - index >= 4, text.count - index < 8 {
            let low = text.loadUnaligned(fromByteOffset: index, as: UInt32.self)
            let high = text.loadUnaligned(fromByteOffset: text.count - 4, as: UInt32.self)
            if isPlain(UInt64(high) << 32 | UInt64(low), orDelete) { return text.count }
        }
        while index < text.count {
            let byte = text[index]
            if byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { break }
            if orDelete, byte == 0x7f { break }
            index += 1
        }
        return index
    }

    @inline(__always)
    private static func isPlain(_ word: UInt64, _ orDelete: Bool) -> Bool {
        var special = zeros(word ^ repeated(UInt8(ascii: "\""))) | zeros(word ^ repeated(UInt8(ascii: "\\")))
        if orDelete { special |= zeros(word ^ repeated(0x7f)) }
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
