import ReachCore
import Testing

@Suite struct DisplayTextTests {
    @Test(arguments: [
        ("eth0", "eth0"), ("", ""), ("Büro-WLAN 🙂", "Büro-WLAN 🙂"), ("日本", "日本"), ("e\u{301}", "e\u{301}"),
        ("\u{1b}[2J", "\\u{1b}[2J"), ("a\nb", "a\\u{a}b"), ("a\r\nb", "a\\u{d}\\u{a}b"), ("\0", "\\u{0}"),
        ("\u{7f}", "\\u{7f}"), ("\u{9b}31m", "\\u{9b}31m"), ("\t", "\\u{9}"), ("\u{202e}gpj", "\\u{202e}gpj"),
        ("\u{2066}", "\\u{2066}"), ("\u{200b}", "\\u{200b}"), ("\u{200d}", "\\u{200d}"), ("\u{feff}", "\\u{feff}"),
        ("\u{2028}\u{2029}", "\\u{2028}\\u{2029}"), ("\u{e000}", "\\u{e000}"), ("\u{378}", "\\u{378}"),
        ("\u{fffd}", "\u{fffd}"), ("\u{ad}", "\\u{ad}"),
    ])
    func `characters that could rewrite a screen are escaped`(text: String, shown: String) {
        #expect(DisplayText.sanitized(text) == shown)
    }

    @Test func `escaped text stays the same when escaped again`() {
        let every = String(String.UnicodeScalarView((0...0x2fff).compactMap { Unicode.Scalar(UInt32($0)) }))
        let once = DisplayText.sanitized(every)
        #expect(once != every)
        #expect(DisplayText.sanitized(once) == once)
        #expect(!once.utf8.contains { $0 < 0x20 || $0 == 0x7f })
    }
}
