/// Hashes that every version and every machine computes alike, to spread probes over time and to draw lots among hosts. They are easy
/// to guess, so they protect nothing.
package enum StableHash {
    /// A hash of the texts, each ended by a byte that no text contains.
    package static func hash(_ texts: String...) -> UInt64 { hash(of: texts) }

    /// A number in 0 ..< 1.
    package static func fraction(of texts: String...) -> Double { Double(hash(of: texts) >> 11) * 0x1p-53 }

    private static func hash(of texts: [String]) -> UInt64 {
        var hash = FNV()
        for text in texts {
            hash.add(text)
            hash.add(0xff)
        }
        return mix(hash.value)
    }

    /// FNV-1a of 64 bits, with a NUL between the parts.
    package static func fnv64(_ parts: String...) -> UInt64 {
        var hash = FNV()
        for (number, part) in parts.enumerated() {
            if number > 0 { hash.add(0) }
            hash.add(part)
        }
        return hash.value
    }

    /// Spreads similar numbers over all 64 bits. FNV-1a alone gives names that differ in their last letter similar high bits.
    package static func mix(_ number: UInt64) -> UInt64 {
        var generator = SplitMix64(seed: number)
        return generator.next()
    }

    private struct FNV {
        private(set) var value: UInt64 = 0xcbf2_9ce4_8422_2325

        mutating func add(_ byte: UInt8) { value = (value ^ UInt64(byte)) &* 0x100_0000_01b3 }

        mutating func add(_ text: String) { for byte in text.utf8 { add(byte) } }
    }
}
