import ReachTerminal
import Testing

@Suite struct TerminalTextTests {
    @Test func `a text from a server has no escape sequence on a terminal, and its lines stay`() {
        var text = TerminalText()
        #expect(
            text.escaped(Array("a\tb\r\nc\u{1b}[2J\u{9b}m\u{202e}\n".utf8)) == "a\tb\r\nc\\u{1b}[2J\\u{9b}m\\u{202e}\n")
        // A character may come in two pieces.
        let bytes = Array("é😀".utf8)
        for cut in 1..<bytes.count {
            #expect(TerminalText.isText(Array(bytes[..<cut])))
            #expect(text.escaped(Array(bytes[..<cut])) + text.escaped(Array(bytes[cut...])) + text.end() == "é😀")
        }
    }

    @Test(arguments: [[0x00], [0x61, 0x00], [0xff, 0xd8, 0xff, 0xe0], [0x61, 0x80, 0x61]] as [[UInt8]])
    func `what is no text is found`(bytes: [UInt8]) { #expect(!TerminalText.isText(bytes)) }
}
