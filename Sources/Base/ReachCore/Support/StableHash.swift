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

/// A fast random number generator that repeats its numbers for the same seed. Not for secrets.
///
/// The algorithm is SplitMix64 (Steele, Lea and Flood, "Fast Splittable Pseudorandom Number Generators", 2014).
package struct SplitMix64: RandomNumberGenerator, Hashable, Sendable {
    private var state: UInt64

    package init(seed: UInt64) { state = seed }

    package mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ mixed >> 27) &* 0x94d0_49bb_1331_11eb
        return mixed ^ mixed >> 31
    }
}

/// SipHash-2-4: a short keyed hash, from which no one without the key can find out what was hashed.
///
/// J.-P. Aumasson, D. J. Bernstein, "SipHash: a fast short-input PRF" (2012). Our own, since ReachCore links no library
/// and the hash of Swift's standard library differs in each process.
package enum SipHash {
    package static func hash(_ bytes: [UInt8], key: (low: UInt64, high: UInt64)) -> UInt64 {
        var state = State(
            v0: key.low ^ 0x736f_6d65_7073_6575, v1: key.high ^ 0x646f_7261_6e64_6f6d,
            v2: key.low ^ 0x6c79_6765_6e65_7261, v3: key.high ^ 0x7465_6462_7974_6573)
        var rest = bytes[...]
        while rest.count >= 8 {
            state.add(word(rest.prefix(8)))
            rest = rest.dropFirst(8)
        }
        state.add(word(rest) | UInt64(truncatingIfNeeded: bytes.count) << 56)
        return state.finish()
    }

    /// Little-endian.
    private static func word(_ bytes: ArraySlice<UInt8>) -> UInt64 {
        bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }

    private struct State {
        var v0: UInt64
        var v1: UInt64
        var v2: UInt64
        var v3: UInt64

        mutating func add(_ word: UInt64) {
            v3 ^= word
            round()
            round()
            v0 ^= word
        }

        mutating func finish() -> UInt64 {
            v2 ^= 0xff
            for _ in 0..<4 { round() }
            return v0 ^ v1 ^ v2 ^ v3
        }

        private mutating func round() {
            v0 &+= v1
            v1 = rotate(v1, 13) ^ v0
            v0 = rotate(v0, 32)
            v2 &+= v3
            v3 = rotate(v3, 16) ^ v2
            v0 &+= v3
            v3 = rotate(v3, 21) ^ v0
            v2 &+= v1
            v1 = rotate(v1, 17) ^ v2
            v2 = rotate(v2, 32)
        }

        private func rotate(_ value: UInt64, _ count: UInt64) -> UInt64 { value << count | value >> (64 - count) }
    }
}
