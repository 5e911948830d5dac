import Foundation
import ReachCore
import ReachSerialization
import ReachTesting
import Testing

@Suite struct TextEncodingTests {
    @Test func `Base64 is Foundation's, both ways`() throws {
        var generator = SeededGenerator(seed: 3)
        for count in 0..<200 {
            let bytes = generator.bytes(count)
            let text = Data(bytes).base64EncodedString()
            #expect(Base64.encode(bytes) == text && Base64.decode(Array(text.utf8)) == bytes)
        }
    }

    @Test(arguments: ["A", "A===", "AA=", "AA=A", "A*AA", "AAAA=", "====", "=AAA", "AAAAA"])
    func `what is not Base64 is refused`(text: String) {
        #expect(Base64.decode(Array(text.utf8)) == nil)
    }

    @Test func `halves of pairs and numbers beyond Unicode are replaced`() {
        #expect(UTF8Transcoder.utf8([0xfe, 0xff, 0xd8, 0x00, 0x00, 0x41]) == Array("\u{fffd}A".utf8))
        #expect(UTF8Transcoder.utf8([0xfe, 0xff, 0xdc, 0x00, 0x00, 0x41]) == Array("\u{fffd}A".utf8))
        #expect(UTF8Transcoder.utf8([0xfe, 0xff, 0xd8, 0, 0xd8, 0x3d, 0xde, 0x00]) == Array("\u{fffd}😀".utf8))
        #expect(UTF8Transcoder.utf8([0, 0, 0xfe, 0xff, 0, 0x11, 0, 0]) == Array("\u{fffd}".utf8))
        #expect(UTF8Transcoder.utf8([0xfe, 0xff, 0x00]).isEmpty == false)
    }
}
