/// Base64 with the alphabet of RFC 4648, section 4, and padding. Half a mebibyte takes less than a millisecond.
package enum Base64 {
    private static let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    /// What each byte stands for; 255 for one that is no letter.
    private static let values: [UInt8] = {
        var values = [UInt8](repeating: 255, count: 256)
        for (value, letter) in letters.enumerated() { values[Int(letter)] = UInt8(value) }
        return values
    }()
    private static let padding = UInt8(ascii: "=")

    /// Encodes bytes on one line, with padding.
    package static func encode(_ bytes: some Collection<UInt8>) -> String {
        bytes.withContiguousStorageIfAvailable { text(of: $0) } ?? Array(bytes).withUnsafeBufferPointer { text(of: $0) }
    }

    private static func text(of bytes: UnsafeBufferPointer<UInt8>) -> String {
        String(unsafeUninitializedCapacity: length(of: bytes.count)) { encode(bytes, into: $0) }
    }

    /// The length of the text for this number of bytes.
    static func length(of count: Int) -> Int { (count + 2) / 3 * 4 }

    /// - Parameter output: Has at least ``length(of:)`` bytes.
    /// - Returns: The length of the text.
    static func encode(_ bytes: UnsafeBufferPointer<UInt8>, into output: UnsafeMutableBufferPointer<UInt8>) -> Int {
        letters.withUnsafeBufferPointer { letters in
            func letter(_ group: UInt32, _ shift: UInt32) -> UInt8 { letters[Int(group >> shift & 63)] }
            var (place, index) = (0, 0)
            while index + 3 <= bytes.count {
                let group = UInt32(bytes[index]) << 16 | UInt32(bytes[index + 1]) << 8 | UInt32(bytes[index + 2])
                output[place] = letter(group, 18)
                output[place + 1] = letter(group, 12)
                output[place + 2] = letter(group, 6)
                output[place + 3] = letter(group, 0)
                place += 4
                index += 3
            }
            let rest = bytes.count - index
            guard rest > 0 else { return place }
            let group = UInt32(bytes[index]) << 16 | (rest == 2 ? UInt32(bytes[index + 1]) << 8 : 0)
            output[place] = letter(group, 18)
            output[place + 1] = letter(group, 12)
            output[place + 2] = rest == 2 ? letter(group, 6) : padding
            output[place + 3] = padding
            return place + 4
        }
    }

    /// Decodes exactly what ``encode(_:)`` produces: with padding, without white space, and with zeros in the unused
    /// bits after the last byte (RFC 4648, sections 3.1 to 3.3 and 3.5).
    ///
    /// - Returns: `nil` for anything else.
    package static func decode(_ text: some Collection<UInt8>) -> [UInt8]? {
        text.withContiguousStorageIfAvailable { bytes(of: $0) } ?? Array(text).withUnsafeBufferPointer { bytes(of: $0) }
    }

    private static func bytes(of text: UnsafeBufferPointer<UInt8>) -> [UInt8]? {
        guard text.count % 4 == 0 else { return nil }
        let digits = text.count - min(text.suffix(2).reversed().prefix { $0 == padding }.count, 2)
        var isGood = true
        let bytes = [UInt8](unsafeUninitializedCapacity: digits * 3 / 4) { output, filled in
            isGood = values.withUnsafeBufferPointer { values in
                // What no letter stands for has the upper bits set; they are checked once, at the end.
                var all: UInt8 = 0
                /// The bits of a letter.
                func bits(_ index: Int) -> UInt32 {
                    let value = values[Int(text[index])]
                    all |= value
                    return UInt32(truncatingIfNeeded: value)
                }
                var index = 0
                while index + 4 <= digits {
                    let group = bits(index) << 18 | bits(index + 1) << 12 | bits(index + 2) << 6 | bits(index + 3)
                    output[filled] = UInt8(truncatingIfNeeded: group >> 16)
                    output[filled + 1] = UInt8(truncatingIfNeeded: group >> 8)
                    output[filled + 2] = UInt8(truncatingIfNeeded: group)
                    filled += 3
                    index += 4
                }
                let rest = digits - index
                let group = (index..<digits).reduce(UInt32(0)) { $0 << 6 | bits($1) }
                guard all < 64 else { return false }
                guard rest > 0 else { return true }
                let spare = UInt32(rest == 2 ? 4 : 2)
                guard group & (1 << spare - 1) == 0 else { return false }
                for number in 0..<(rest - 1) {
                    output[filled] = UInt8(group >> (spare + UInt32(8 * (rest - 2 - number))) & 255)
                    filled += 1
                }
                return true
            }
        }
        return isGood ? bytes : nil
    }
}
