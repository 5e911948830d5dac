import ReachDaemon
import ReachTOML
import Testing

@Suite struct TOMLValueTests {
    @Test(arguments: [
        ("0", "0"), ("+7", "7"), ("-17", "-17"), ("1_000_000", "1000000"), ("0xDEAD_beef", "3735928559"),
        ("0o755", "493"), ("0b1101", "13"), ("9223372036854775807", "9223372036854775807"),
        ("-9223372036854775808", "-9223372036854775808"), ("3.5", "3.5"), ("-0.01", "-0.01"), ("5e+22", "5e+22"),
        ("1e06", "1000000.0"), ("6.5E-2", "0.065"), ("9_224.445_991", "9224.445991"), ("inf", "inf"), ("-inf", "-inf"),
        ("nan", "nan"), ("true", "true"), ("false", "false"),
    ])
    func `numbers and booleans are read`(written: String, value: String) {
        #expect(TOMLDocument.shown("a = \(written)") == "{a: \(value)}")
    }

    @Test(arguments: [
        "01", "+", "-", "1__0", "_1", "1_", "0x", "0xg", "+0x1", "0b2", "1.", ".1", "1.e5", "1e", "1._5", "e5", "0o8",
        "9223372036854775808", "True", "tru", "on", "wifi", "1s", "infinity", "--1", "1.5.2", "1e5e5", "",
    ])
    func `a text that only resembles a number or a boolean is an error on its line`(written: String) {
        #expect(TOMLDocument.errors(in: "b = 1\na = \(written)\nc = 2") == ["2 a"])
    }

    @Test(arguments: [
        "1979-05-27", "1979-05-27T07:32:00Z", "1979-05-27 07:32:00.5", "07:32:00",
    ])
    func `dates are recognized`(written: String) {
        #expect(TOMLDocument.shown("a = \(written) # then\nb = 1") == "{a: <date>, b: 1}")
    }

    @Test(arguments: [
        (#""""#, #""""#), (#""a\tb\n\"\\\b\f\r""#, #""a\tb\n\"\\\u{08}\u{0C}\r""#),
        (#""\u00e9\U0001F600""#, #""é😀""#), (#"'C:\new # "x"'"#, #""C:\\new # \"x\"""#), ("''", #""""#),
        (#""""a""""#, #""a""#), ("\"\"\"\"\"\"", #""""#), ("\"\"\"\na\r\nb\"\"\"", #""a\nb""#),
        ("\"\"\"a \\  \n\n   b\"\"\"", #""a b""#), (#""""she said "no"""""#, #""she said \"no\"""#),
        ("\"\"\"\"\"two\"\"\"\"\"", #""\"\"two\"\"""#), ("'''\nraw \\n\n'''", #""raw \\n\n""#),
        (#"'''it''s''''"#, #""it\'\'s\'""#),
    ])
    func `the four kinds of strings are read`(written: String, value: String) {
        #expect(TOMLDocument.shown("a = \(written)\nb = 1") == "{a: \(value), b: 1}")
    }

    @Test(arguments: [
        (#""no end"#, ["2 a"]), ("'no end", ["2 a"]), (#""\x41""#, ["2 a"]), (#""\ud800""#, ["2 a"]),
        (#""\U00110000""#, ["2 a"]), (#""\u12""#, ["2 a"]), ("\"a\u{1}b\"", ["2 a"]), ("\"a\u{7f}\"", ["2 a"]),
        (#""a" b"#, ["2 a"]), ("'a\u{0}b'", ["2 a"]), (#""\"#, ["2 a"]),
    ])
    func `an error in a string is reported on its line, and the next line is read`(written: String, errors: [String]) {
        #expect(TOMLDocument.errors(in: "b = 1\na = \(written)\nc 2") == errors + ["3 c"])
    }

    @Test func `an unterminated multiline string is an error where it begins, and what follows is read`() {
        #expect(TOMLDocument.errors(in: "a = \"\"\"\ntext\nb = 1\nb = 2\n") == ["1 a", "4 b"])
    }

    @Test(arguments: [
        ("[]", "[]"), ("[1, 2,]", "[1, 2]"), ("[\n  1, # one\n\n  2\n]", "[1, 2]"),
        ("[[1], ['a', []]]", #"[[1], ["a", []]]"#),
        ("[{x = 1}, {x = 2}]", "[{x: 1}, {x: 2}]"), ("{}", "{}"), ("{ b.c = 1, b.d = [2] }", "{b: {c: 1, d: [2]}}"),
        ("{ \"b c\" = true }", "{b c: true}"),
    ])
    func `lists and inline tables are read`(written: String, value: String) {
        #expect(TOMLDocument.shown("a = \(written)\nz = 1") == "{a: \(value), z: 1}")
    }

    @Test(arguments: [
        ("[1 2]", "1 a"), ("[1,,2]", "1 a"), ("[,]", "1 a"), ("{b = 1,}", "1 a"), ("{b = 1 c = 2}", "1 a"),
        ("{b}", "1 a"),
        ("{\nb = 1}", "1 a"), ("{b = 1, b = 2}", "1 a"), ("{b = 1, b.c = 2}", "1 a"), ("]", "1 a"),
    ])
    func `errors within lists and inline tables contain the key`(written: String, error: String) {
        #expect(TOMLDocument.errors(in: "a = \(written)").first == error)
    }

    @Test func `an unterminated list is one error, and its elements are not further ones`() {
        let text = "a = [\n  \"x\",\n  \"y\",\n\n[hold]\nup = 1\nup = 2\n"
        #expect(TOMLDocument.errors(in: text) == ["5 a", "7 hold.up"])
    }

    @Test func `endlessly nested lists are refused`() {
        let text = "a = " + String(repeating: "[", count: 100_000) + "\nb b"
        #expect(TOMLDocument.errors(in: text).first == "1 a")
        #expect(
            TOMLDocument.errors(in: "a = " + String(repeating: "{x=", count: 100_000)).first == "1 a"
        )
        let allowed = String(repeating: "[", count: 64) + String(repeating: "]", count: 64)
        #expect(TOMLDocument.errors(in: "a = " + allowed) == [])
    }
}
