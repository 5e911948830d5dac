/// Base64 with the alphabet of RFC 4648, section 4, and padding. Half a mebibyte takes about a millisecond: the daemon does
/// this on the thread that serves everybody.
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
        String(unsafeUninitializedCapacity: (bytes.count + 2) / 3 * 4) { output in
            letters.withUnsafeBufferPointer { letters in
                var (place, index) = (0, 0)
                func put(_ group: UInt32, _ count: Int) {
                    for number in 0..<4 {
                        let letter = letters[Int(group >> UInt32(18 - 6 * number) & 63)]
                        output[place + number] = number < count ? letter : padding
                    }
                    place += 4
                }
                while index + 3 <= bytes.count {
                    put(UInt32(bytes[index]) << 16 | UInt32(bytes[index + 1]) << 8 | UInt32(bytes[index + 2]), 4)
                    index += 3
                }
                switch bytes.count - index {
                case 1: put(UInt32(bytes[index]) << 16, 2)
                case 2: put(UInt32(bytes[index]) << 16 | UInt32(bytes[index + 1]) << 8, 3)
                default: break
                }
                return place
            }
        }
    }

    /// Decodes exactly what ``encode(_:)`` produces: with padding, without white space, and with zeros in the unused bits
    /// after the last byte (RFC 4648, sections 3.1 to 3.3 and 3.5).
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
                /// The bits of up to four letters, the first one's uppermost.
                func group(at index: Int, _ count: Int) -> UInt32? {
                    var (group, all): (UInt32, UInt8) = (0, 0)
                    for number in 0..<count {
                        let value = values[Int(text[index + number])]
                        all |= value
                        group = group << 6 | UInt32(value)
                    }
                    return all < 64 ? group : nil
                }
                var index = 0
                while index + 4 <= digits {
                    guard let group = group(at: index, 4) else { return false }
                    output[filled] = UInt8(group >> 16)
                    output[filled + 1] = UInt8(group >> 8 & 255)
                    output[filled + 2] = UInt8(group & 255)
                    filled += 3
                    index += 4
                }
                let rest = digits - index
                guard rest > 0 else { return true }
                guard let group = group(at: index, rest) else { return false }
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
