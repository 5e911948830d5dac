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
