import Testing

@testable import reach

/// Words of command lines that need not be UTF-8.
struct ByteTextTests {
    private static let words: [[UInt8]] = [
        Array("café".utf8), [0x63, 0xe9], [0xff], [0xe2, 0x82], [0xe2, 0x82, 0x41, 0xc0, 0xaf],
        Array("\u{10FF80}".utf8), Array("a\u{10FFFF}".utf8) + [0xfe], [],
    ]

    @Test(arguments: words) func `each byte comes back`(bytes: [UInt8]) {
        let text = ByteText.text(of: bytes)
        #expect(ByteText.bytes(of: text) == bytes)
        #expect(ByteText.isText(text) || text.unicodeScalars.contains { $0.value > 0x10FF7F })
    }

    @Test func `what is UTF-8 stays as it is`() {
        #expect(ByteText.text(of: Array("a/é€".utf8)) == "a/é€")
        #expect(ByteText.shown(ByteText.text(of: [0x63, 0xe9])) == "c\u{fffd}")
    }
}
