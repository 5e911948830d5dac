import ReachCore
import ReachTesting
import Testing

@Suite struct CyclicRedundancyTests {
    @Test func `the checksum is CRC-32`() {
        #expect(CyclicRedundancy.checksum([UInt8]("123456789".utf8)) == 0xcbf4_3926)
        #expect(CyclicRedundancy.checksum([UInt8]()) == 0)
        #expect(CyclicRedundancy.checksum([0]) == 0xd202_ef8d)
        #expect(CyclicRedundancy.checksum([UInt8](repeating: 0xff, count: 32)) == 0xff6c_ab0b)
    }

    @Test func `bytes that come in two pieces have the checksum of the whole`() {
        var random = SeededGenerator(seed: 2)
        let bytes = random.bytes(40)
        for place in 0...40 {
            var sum = CyclicRedundancy()
            bytes.withUnsafeBytes {
                sum.add(UnsafeRawBufferPointer(rebasing: $0[..<place]))
                sum.add(UnsafeRawBufferPointer(rebasing: $0[place...]))
            }
            #expect(sum.value == CyclicRedundancy.checksum(bytes))
        }
    }

    @Test func `a change of any bit changes the checksum`() {
        var random = SeededGenerator(seed: 1)
        let bytes = random.bytes(40)
        let sum = CyclicRedundancy.checksum(bytes)
        for bit in 0..<320 {
            var changed = bytes
            changed[bit / 8] ^= 1 << (bit % 8)
            #expect(CyclicRedundancy.checksum(changed) != sum)
        }
    }
}
