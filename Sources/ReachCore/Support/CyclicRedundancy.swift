/// CRC-32 as in zlib, PNG and Ethernet: the reflected polynomial 0x04c11db7.
package enum CyclicRedundancy {
    /// The checksum of some bytes. It takes an array and not any sequence: a generic version, called from another module,
    /// took a third of the time that reading a history takes.
    package static func checksum(_ bytes: [UInt8]) -> UInt32 {
        table.withUnsafeBufferPointer { table in
            bytes.withUnsafeBufferPointer { bytes in
                var sum = UInt32.max
                for byte in bytes { sum = table[Int(UInt8(truncatingIfNeeded: sum) ^ byte)] ^ sum >> 8 }
                return ~sum
            }
        }
    }

    /// The remainders of all bytes. Each record of the history has a checksum, and a thousand targets may change at once.
    private static let table: [UInt32] = (0..<256).map { value in
        (0..<8).reduce(UInt32(value)) { sum, _ in sum & 1 == 1 ? sum >> 1 ^ 0xedb8_8320 : sum >> 1 }
    }
}
