/// Hashes that are the same in every run, version and machine. They are easy to guess, so they protect nothing.
package enum StableHash {
    /// FNV-1a of 64 bits. Similar texts have similar high bits: see ``mix(_:)``.
    package static func fnv64(_ bytes: some Sequence<UInt8>) -> UInt64 {
        bytes.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
    }

    /// Spreads similar numbers over all 64 bits.
    package static func mix(_ number: UInt64) -> UInt64 {
        var generator = SplitMix64(seed: number)
        return generator.next()
    }

    /// A hash of texts, to draw lots by it: each is ended by a byte that no text contains.
    package static func hash(_ texts: String...) -> UInt64 { hash(of: texts) }

    /// A number in 0 ..< 1.
    package static func fraction(of texts: String...) -> Double { Double(hash(of: texts) >> 11) * 0x1p-53 }

    private static func hash(of texts: [String]) -> UInt64 { mix(fnv64(texts.flatMap { Array($0.utf8) + [0xff] })) }
}
