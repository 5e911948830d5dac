import ReachDaemon
import Testing

@Suite struct TOMLTableTests {
    @Test(arguments: [
        ("", "{}"), ("\u{feff}a = 1", "{a: 1}"), ("# only\n\r\n \t\n", "{}"), ("a = 1 # b\r\nc=2", "{a: 1, c: 2}"),
        ("[a]\nb = 1\n[c.d]\ne = 2", "{a: {b: 1}, c: {d: {e: 2}}}"), ("a.b = 1\na.c = 2", "{a: {b: 1, c: 2}}"),
        ("[ a . \"b c\" ] # x\n", "{a: {b c: {}}}"), ("[a.b]\n[a]\nc = 1", "{a: {b: {}, c: 1}}"),
        ("[[a]]\nb = 1\n[[a]]\nb = 2\n[a.c]\nd = 3", "{a: [{b: 1}, {b: 2, c: {d: 3}}]}"),
        ("[[a.b]]\n[[a.b]]", "{a: {b: [{}, {}]}}"), ("1 = 2\n- = 3\n'' = 4", "{1: 2, -: 3, : 4}"),
        ("[a]\nb.c = 1\n[a.b.d]\ne = 2", "{a: {b: {c: 1, d: {e: 2}}}}"),
        ("[a.b.c]\n[a]\nb.d = 1", "{a: {b: {c: {}, d: 1}}}"),
        ("a = { b = 1 }\n[c]", "{a: {b: 1}, c: {}}"),
    ])
    func `tables come from headers, dotted keys and lists of headers`(text: String, value: String) {
        #expect(TOMLParser.shown(text) == value)
    }

    @Test(arguments: [
        ("a = 1\na = 2", "2 a"), ("[a]\n[a]", "2 a"), ("a = 1\n[a]", "2 a"), ("[a]\nb = 1\n[a.b]", "3 a.b"),
        ("a = 1\n[a.b]", "2 a.b"), ("a.b = 1\n[a]", "2 a"), ("a.b = 1\na.b.c = 2", "2 a.b.c"),
        ("a = {}\na.b = 1", "2 a.b"),
        ("a = {}\n[a.b]", "2 a.b"), ("a = []\n[[a]]", "2 a"), ("[[a]]\n[a]", "2 a"), ("[a]\n[[a]]", "2 a"),
        ("[a.b.c]\nz = 1\n[a]\nb.c.t = 2", "4 a.b.c.t"), ("[[a]]\n[a.b]\n[a.b]", "3 a.b"), ("a = [{}]\n[a.b]", "2 a.b"),
    ])
    func `what is defined twice is a mistake of the second place`(text: String, mistake: String) {
        #expect(TOMLParser.mistakes(in: text) == [mistake])
    }

    @Test(arguments: [
        ("a", "1 a"), ("a =", "1 a"), ("= 1", "1 -"), ("a b = 1", "1 a"), ("a. = 1", "1 -"), ("[]", "1 -"),
        ("[a", "1 a"),
        ("[a]b", "1 a"), ("[[a]", "1 a"), ("[a.]", "1 -"), ("\"\"\"a\"\"\" = 1", "1 -"), ("a = 1 b = 2", "1 a"),
        ("é = 1", "1 -"),
        ("# a\u{1}", "1 -"), ("a = 1\rb = 2", "1 a"), ("[a]]", "1 a"),
    ])
    func `what is no statement is a mistake`(text: String, mistake: String) {
        #expect(TOMLParser.mistakes(in: text) == [mistake])
    }

    @Test func `every line's mistake is told, and what is right between them is read`() {
        let document = TOMLParser.parse(Array("a = yes\nb = 1\nc\n[d\ne = 5\n[f]\ng = 08\nh = 2".utf8))
        #expect(document.mistakes.map(\.line) == [1, 3, 4, 7])
        #expect(document.table.shown == "{b: 1, f: {h: 2}}")
    }

    @Test func `a mistake says what is wrong and what was expected`() {
        #expect(
            TOMLParser.shown("[a]\nclass = wifi")
                == "t:2: a.class: wifi is no value; expected a text in quotes, a number, true, false, or a [list]")
        #expect(
            TOMLParser.shown("a = 1\n\na = 2") == "t:3: a: it is set twice, first on line 1; expected each key once")
    }

    @Test func `text that is not UTF-8 is one mistake, on its first such line`() {
        let document = TOMLParser.parse(Array("a = 1\nb = \"".utf8) + [0xc3, 0x28] + Array("\"\nc".utf8))
        #expect(document.mistakes.map(\.line) == [2])
    }

    @Test func `a file of another kind does not bring a mistake for each of its lines`() {
        #expect(TOMLParser.mistakes(in: String(repeating: "!\n", count: 10_000)).count == 50)
    }

    @Test func `a key with too many dots is refused`() {
        let key = Array(repeating: "a", count: 65).joined(separator: ".")
        #expect(TOMLParser.mistakes(in: key + " = 1") == ["1 -"])
        #expect(TOMLParser.mistakes(in: key.dropLast(2) + " = 1") == [])
    }
}
