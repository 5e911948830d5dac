/// CRC-32 as in zlib, PNG and Ethernet: the reflected polynomial 0x04c11db7.
package enum CyclicRedundancy {
    /// The checksum of some bytes. It takes an array and not any sequence: a generic version, called from another module,
    /// took a third of the time that reading a history takes.
    package static func checksum(_ bytes: [UInt8]) -> UInt32 {
        var sum = UInt32.max
        for byte in bytes {
            sum = table[Int((sum ^ UInt32(byte)) & 15)] ^ sum >> 4
            sum = table[Int((sum ^ UInt32(byte >> 4)) & 15)] ^ sum >> 4
        }
        return ~sum
    }

    /// The remainders of all four-bit values. A table for whole bytes would be faster than history records need.
    private static let table: [UInt32] = (0..<16).map { value in
        (0..<4).reduce(UInt32(value)) { sum, _ in sum & 1 == 1 ? sum >> 1 ^ 0xedb8_8320 : sum >> 1 }
    }
}
