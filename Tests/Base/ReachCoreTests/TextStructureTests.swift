import ReachCore
import Testing

@Suite struct TextStructureTests {
    /// A combining mark, which makes another character of what is before it.
    private static let mark = "\u{301}"

    @Test func `structure is found next to a combining mark`() {
        let text = "a,\(Self.mark)b;\u{37e}c"
        #expect(text.split(scalar: ",") == ["a", "\(Self.mark)b;\u{37e}c"])
        // The Greek question mark is canonically a semicolon, and no separator.
        #expect(text.split(scalar: ";").count == 2)
        #expect("/\(Self.mark)x".hasUTF8Prefix("/") && "x.\(Self.mark)".cut(at: ".")?.after.utf8.count == 2)
        #expect("key=\(Self.mark)v".after("key=")?.utf8.count == 3 && "v\(Self.mark)]".before("]") != nil)
        #expect("\"\(Self.mark)a\"".between("\"", "\"")?.utf8.count == 3)
        #expect("a\r\nb\r\n".textLines == ["a", "b", ""] && "x://\(Self.mark)".containsUTF8("://"))
        #expect(" \(Self.mark) ".trimmed.unicodeScalars.map(\.value) == [0x301])
    }

    @Test func `a list is split at marks that are not quoted, and a backslash outside of quotes is none`() {
        #expect(QuotedText.split("a,\"b,\\\",\",c", at: ",") == ["a", "\"b,\\\",\"", "c"])
        #expect(QuotedText.split("a\\,b", at: ",") == ["a\\", "b"] && QuotedText.split("", at: ",") == [""])
    }

    @Test func `a quoted string ends at its quotation mark, whatever follows it`() {
        let field = "a=\"x\\\"\(Self.mark),\", b=\"y\"\(Self.mark), c"
        #expect(QuotedText.split(field, at: ",").count == 3)
        #expect(QuotedText.content(of: "\"a\\\"\(Self.mark)\"\(Self.mark)rest")?.unicodeScalars.count == 3)
        let quoted = QuotedText.quoted("a\"\(Self.mark)\\\(Self.mark)")
        #expect(Array(quoted.utf8) == Array("\"a\\\"\(Self.mark)\\\\\(Self.mark)\"".utf8))
        #expect(QuotedText.content(of: quoted) == "a\"\(Self.mark)\\\(Self.mark)")
    }

    @Test(arguments: [
        ("\u{9b}31m", "\\u009b31m"), ("a\u{202e}b", "a\\u202eb"), ("\u{61c}", "\\u061c"),
        ("\u{2066}x\u{2069}", "\\u2066x\\u2069"),
        // Others with some of the same bytes.
        ("ب『〨", "ب『〨"),
        ("\u{2028}\u{200f}\u{200e}", "\\u2028\\u200f\\u200e"), ("\u{7f}\u{80}", "\\u007f\\u0080"),
        ("naïve — “x” 😀 \u{a0}…", "naïve — “x” 😀 \u{a0}…"), ("a\"\u{301}b", "a\\\"\u{301}b"),
        ("0123456789\u{85}0123456789é0123\u{2067}", "0123456789\\u00850123456789é0123\\u2067"),
    ])
    func `JSON has no control and no mark of direction as it is`(text: String, expected: String) throws {
        var writer = JSONWriter()
        writer.value(text)
        #expect(writer.bytes == Array("\"\(expected)\"".utf8))
        #expect(try JSONReader.read(writer.bytes).string.map { Array($0.utf8) } == Array(text.utf8))
    }
}
