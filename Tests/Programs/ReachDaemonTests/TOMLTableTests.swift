import ReachDaemon
import ReachTOML
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
        #expect(TOMLDocument.shown(text) == value)
    }

    @Test(arguments: [
        ("a = 1\na = 2", "2 a"), ("[a]\n[a]", "2 a"), ("a = 1\n[a]", "2 a"), ("[a]\nb = 1\n[a.b]", "3 a.b"),
        ("a = 1\n[a.b]", "2 a.b"), ("a.b = 1\n[a]", "2 a"), ("a.b = 1\na.b.c = 2", "2 a.b.c"),
        ("a = {}\na.b = 1", "2 a.b"),
        ("a = {}\n[a.b]", "2 a.b"), ("a = []\n[[a]]", "2 a"), ("[[a]]\n[a]", "2 a"), ("[a]\n[[a]]", "2 a"),
        ("[a.b.c]\nz = 1\n[a]\nb.c.t = 2", "4 a.b.c.t"), ("[[a]]\n[a.b]\n[a.b]", "3 a.b"), ("a = [{}]\n[a.b]", "2 a.b"),
    ])
    func `a second definition is an error at its own line`(text: String, error: String) {
        #expect(TOMLDocument.errors(in: text) == [error])
    }

    @Test(arguments: [
        ("a", "1 a"), ("a =", "1 a"), ("= 1", "1 -"), ("a b = 1", "1 a"), ("a. = 1", "1 -"), ("[]", "1 -"),
        ("[a", "1 a"),
        ("[a]b", "1 a"), ("[[a]", "1 a"), ("[a.]", "1 -"), ("\"\"\"a\"\"\" = 1", "1 -"), ("a = 1 b = 2", "1 a"),
        ("é = 1", "1 -"),
        ("# a\u{1}", "1 -"), ("a = 1\rb = 2", "1 a"), ("[a]]", "1 a"), ("[", "1 -"), ("[.]", "1 -"), ("[..]", "1 -"),
        ("[é]", "1 -"),
        ("[\n", "1 -"), ("[[.a]]", "1 -"),
    ])
    func `a line that is not a statement is an error`(text: String, error: String) {
        #expect(TOMLDocument.errors(in: text) == [error])
    }

    @Test func `every faulty line is reported, and the valid ones between them are read`() {
        let document = TOMLDocument.parse(Array("a = yes\nb = 1\nc\n[d\ne = 5\n[f]\ng = 08\nh = 2".utf8))
        #expect(document.errors.map(\.line) == [1, 3, 4, 7])
        #expect(document.table.shown == "{b: 1, f: {h: 2}}")
    }

    @Test func `an error contains the problem and what is expected`() {
        #expect(
            TOMLDocument.shown("[a]\nclass = wifi")
                == "t:2: a.class: it is not a value; expected a text in quotes, a number, true, false, or a [list]")
        #expect(
            TOMLDocument.shown("a = 1\n\na = 2")
                == "t:3: a: cannot redefine existing integer 'a' (while parsing key-value pair); "
                + "expected each key and each table once")
    }

    @Test func `text that is not UTF-8 is one error, on the first such line`() {
        let document = TOMLDocument.parse(Array("a = 1\nb = \"".utf8) + [0xc3, 0x28] + Array("\"\nc".utf8))
        #expect(document.errors.map(\.line) == [2])
    }

    @Test func `the number of errors is limited for a file of another kind`() {
        #expect(TOMLDocument.errors(in: String(repeating: "!\n", count: 10_000)).count == 50)
    }

    @Test(arguments: [
        "KEY = 1", "b = 2\nKEY = 1", "[KEY]", "[[KEY]]", "b = { KEY = 1 }", "b = { c = 'x', KEY = 1 }",
        "b = [{ KEY = 1 }]", #"b = { c = """""x""""", KEY = 1 }"#, #"b = { c = 'it\', KEY = 1 }"#,
        "b = \"\\\"\"\n'a'.KEY = 1",
    ])
    func `a key with too many dots is refused before it is parsed`(text: String) {
        for parts in [65, 20_000] {
            let key = Array(repeating: "a", count: parts).joined(separator: parts == 65 ? " . " : ".")
            let errors = TOMLDocument.parse(Array(text.replacing("KEY", with: key).utf8)).errors
            #expect(errors.map(\.problem) == ["the key is too long"])
            #expect(errors.first?.line == text.split(separator: "\n").count)
        }
    }

    @Test func `dots elsewhere do not count as parts of a key`() {
        let dots = String(repeating: ".", count: 1000)
        let key = Array(repeating: "a", count: 64).joined(separator: ".")
        let text = """
            \(key) = 1 # \(dots)
            b = '\(dots)'
            c = "\\"\(dots)"
            d = ""\"
            \(dots)""\"
            e = '''
            \(dots)'''
            f = [\(String(repeating: "1.5, ", count: 1000))]
            """
        #expect(TOMLDocument.errors(in: text) == [])
    }

    @Test func `keys and values that together nest too deeply are refused`() {
        let key = Array(repeating: "a", count: 40).joined(separator: ".")
        let inner = String(repeating: "{ \(key) = ", count: 60) + "1" + String(repeating: "}", count: 60)
        #expect(TOMLDocument.errors(in: "b = 1\na = \(inner)") == ["2 -"])
    }

    @Test func `errors on many lines cost bounded work`() {
        let right = (1...2000).map { "key\($0) = 'a value of some length'\n" }.joined()
        let errors = TOMLDocument.errors(in: right + String(repeating: "!\n", count: 6000))
        #expect(errors.first == "2001 -")
        #expect((1...50).contains(errors.count))
    }
}
