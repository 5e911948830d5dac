/// Hashes that are the same in every run and on every machine. They are easy to guess, so they protect nothing.
package enum StableHash {
    /// FNV-1a of 64 bits, with a NUL between the parts.
    package static func fnv64(_ parts: String...) -> UInt64 {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for (number, part) in parts.enumerated() {
            if number > 0 { hash = (hash ^ 0) &* 0x100_0000_01b3 }
            for byte in part.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        }
        return hash
    }

    /// Spreads similar numbers over all 64 bits (the finalizer of SplitMix64). FNV-1a alone gives names that differ in
    /// their last letter similar high bits.
    package static func mix(_ number: UInt64) -> UInt64 {
        var mixed = number &+ 0x9e37_79b9_7f4a_7c15
        mixed = (mixed ^ mixed >> 30) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ mixed >> 27) &* 0x94d0_49bb_1331_11eb
        return mixed ^ mixed >> 31
    }
}
