/// The checksum of zlib, PNG and Ethernet: CRC-32 with the polynomial 0x04c11db7, reflected.
package enum CyclicRedundancy {
    /// Of an array and not of any sequence: generic code across modules took a third of the time to read a history.
    package static func checksum(_ bytes: [UInt8]) -> UInt32 {
        var sum = UInt32.max
        for byte in bytes {
            sum = table[Int((sum ^ UInt32(byte)) & 15)] ^ sum >> 4
            sum = table[Int((sum ^ UInt32(byte >> 4)) & 15)] ^ sum >> 4
        }
        return ~sum
    }

    /// What four bits of zeros behind each value of four bits come to: a small table is as fast as records need.
    private static let table: [UInt32] = (0..<16).map { value in
        (0..<4).reduce(UInt32(value)) { sum, _ in sum & 1 == 1 ? sum >> 1 ^ 0xedb8_8320 : sum >> 1 }
    }
}
