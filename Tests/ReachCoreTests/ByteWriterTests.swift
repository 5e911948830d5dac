import ReachCore
import Testing

@Suite struct ByteWriterTests {
    @Test(arguments: [
        (0, 1, "0"), (7, 1, "7"), (10, 1, "10"), (99, 1, "99"), (100, 1, "100"), (7, 3, "007"), (-5, 1, "-5"),
        (Int64.max, 1, "9223372036854775807"), (Int64.min, 1, "-9223372036854775808"), (1234, 2, "1234"),
    ])
    func `numbers are written in decimal, padded to a width`(number: Int64, width: Int, text: String) {
        var writer = ByteWriter(capacity: 1)
        writer.appendDigits(number, width: width)
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
