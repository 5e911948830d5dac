import ReachCore
import ReachSerialization
import Testing

@Suite struct TextEncodingTests {
    @Test func `unpaired surrogates and numbers beyond Unicode are replaced`() {
        #expect(UTF8Transcoder.utf8([0xfe, 0xff, 0xd8, 0x00, 0x00, 0x41]) == Array("\u{fffd}A".utf8))
        #expect(UTF8Transcoder.utf8([0xfe, 0xff, 0xdc, 0x00, 0x00, 0x41]) == Array("\u{fffd}A".utf8))
        #expect(UTF8Transcoder.utf8([0xfe, 0xff, 0xd8, 0, 0xd8, 0x3d, 0xde, 0x00]) == Array("\u{fffd}😀".utf8))
        #expect(UTF8Transcoder.utf8([0, 0, 0xfe, 0xff, 0, 0x11, 0, 0]) == Array("\u{fffd}".utf8))
        #expect(UTF8Transcoder.utf8([0xfe, 0xff, 0x00]).isEmpty == false)
    }
}
