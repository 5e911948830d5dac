/// CRC-32 as in zlib, PNG and Ethernet: the reflected polynomial 0x04c11db7.
package struct CyclicRedundancy: Sendable {
    private var remainder = UInt32.max

    package init() {}

    /// The checksum of the bytes so far.
    package var value: UInt32 { ~remainder }

    /// The checksum of some bytes. It takes an array and not any sequence: a generic version, called from another
    /// module, took a third of the time that reading a history takes.
    package static func checksum(_ bytes: [UInt8]) -> UInt32 {
        var sum = CyclicRedundancy()
        bytes.withUnsafeBytes { sum.add($0) }
        return sum.value
    }

    package mutating func add(_ bytes: UnsafeRawBufferPointer) {
        Self.tables.withUnsafeBufferPointer { tables in
            var sum = remainder
            var place = 0
            while place + 8 <= bytes.count {
                let word = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self))
                sum = Self.remainder(of: word ^ UInt64(sum), tables)
                place += 8
            }
            for byte in bytes[place...] { sum = tables[Int(UInt8(truncatingIfNeeded: sum) ^ byte)] ^ sum >> 8 }
            remainder = sum
        }
    }

    /// Eight bytes at a time ("slicing-by-8"): each record of the history has a checksum, and a thousand targets may
    /// change at once.
    private static func remainder(of word: UInt64, _ tables: UnsafeBufferPointer<UInt32>) -> UInt32 {
        var sum: UInt32 = 0
        for number in 0..<8 {
            let byte = Int(UInt8(truncatingIfNeeded: word >> (UInt64(number) * 8)))
            sum ^= tables[(7 - number) * 256 + byte]
        }
        return sum
    }

    /// The remainders of all bytes, then those of all bytes that are followed by one zero byte, by two, and so on.
    private static let tables: [UInt32] = {
        var tables: [UInt32] = (0..<256).map { value in
            (0..<8).reduce(UInt32(value)) { sum, _ in sum & 1 == 1 ? sum >> 1 ^ 0xedb8_8320 : sum >> 1 }
        }
        for place in 256..<2048 {
            let before = tables[place - 256]
            tables.append(tables[Int(UInt8(truncatingIfNeeded: before))] ^ before >> 8)
        }
        return tables
    }()
}
