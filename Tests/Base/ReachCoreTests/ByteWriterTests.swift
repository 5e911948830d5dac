import ReachCore
import Testing

@Suite struct ByteWriterTests {
    @Test(arguments: [
        (0, "0"), (7, "7"), (10, "10"), (99, "99"), (100, "100"), (-5, "-5"), (Int64.max, "9223372036854775807"),
        (Int64.min, "-9223372036854775808"),
    ])
    func `numbers are written in decimal`(number: Int64, text: String) {
        var writer = ByteWriter(capacity: 1)
        writer.appendDigits(number)
        #expect(writer.text == text)
    }

    @Test func `every power of ten and its neighbours are written as Swift writes them`() {
        var number: Int64 = 1
        while number < Int64.max / 10 {
            for near in [number - 1, number, number + 1] {
                var writer = ByteWriter(capacity: 64)
                writer.appendDigits(near)
                #expect(writer.text == String(near))
            }
            number *= 10
        }
    }

    @Test func `bytes that a caller sets are appended as they are, also where the buffer has to grow`() {
        var writer = ByteWriter(capacity: 64)
        writer.append([UInt8](repeating: 0x61, count: 60))
        writer.append(count: 10) { place in for index in 0..<10 { place[index] = UInt8(0x30 + index) } }
        writer.append(UInt8(ascii: "!"))
        #expect(writer.text == String(repeating: "a", count: 60) + "0123456789!")
    }

    /// Where the next byte will stand.
    private func end(_ writer: inout ByteWriter) -> UInt {
        var place: UInt = 0
        writer.append(count: 1) {
            place = UInt(bitPattern: $0)
            $0[0] = UInt8(ascii: ".")
        }
        return place
    }

    @Test func `bytes that a caller sets have room, for which the buffer moves only when it is full`() {
        var writer = ByteWriter(capacity: 64)
        let first = end(&writer)
        for number in 1..<64 as Range<UInt> { #expect(end(&writer) == first + number) }
        #expect(end(&writer) != first + 64)
        // It has grown to twice as many.
        let next = end(&writer)
        for number in 1..<60 as Range<UInt> { #expect(end(&writer) == next + number) }
        #expect(writer.text == String(repeating: ".", count: 125))
    }

    @Test func `base64 is appended behind what is there, also where the buffer has to grow`() {
        for length in [0, 1, 59, 63, 64, 100] {
            var writer = ByteWriter(capacity: 64)
            writer.append([UInt8](repeating: 0x61, count: length))
            writer.append(base64: [1, 2, 3, 4])
            writer.append(base64: [])
            #expect(writer.text == String(repeating: "a", count: length) + "AQIDBA==")
        }
    }

    @Test func `the buffer grows and keeps its contents`() {
        var writer = ByteWriter(capacity: 1)
        var expected: [UInt8] = []
        for size in 0..<200 {
            let piece = [UInt8](repeating: UInt8(size), count: size)
            writer.append(piece)
            writer.append("ä" as StaticString)
            writer.append(UInt8(ascii: "!"))
            expected += piece + Array("ä!".utf8)
        }
        #expect(writer.bytes == expected)
        #expect(writer.count == expected.count)
    }
}
