import ReachCore
import ReachTesting
import Testing

@Suite struct TargetErrorTests {
    private static func sentence(for text: String) -> String? {
        do throws(TargetError) {
            _ = try Target(text)
            return nil
        } catch {
            return error.description
        }
    }

    private static let neither = "is neither an IPv6 address nor a host name (a target has no port)"

    @Test(arguments: [
        ("", "a target must not be empty"),
        ("interface:", "an interface name must not be empty"),
        ("interface:a b", "'a b' cannot be an interface name"),
        ("interface:a/b", "'a/b' cannot be an interface name"),
        ("interface:eth0:1", "'eth0:1' cannot be an interface name"),
        ("interface:.", "'.' cannot be an interface name"), ("interface:..", "'..' cannot be an interface name"),
        ("interface:a\r\n", "'a\\u{d}\\u{a}' cannot be an interface name"),
        ("192.0.2.0/33", "'192.0.2.0/33' is not a prefix such as 192.0.2.0/24"),
        ("example.org/path", "'example.org/path' is not a prefix such as 192.0.2.0/24"),
        ("/", "'/' is not a prefix such as 192.0.2.0/24"),
        ("eth0%fe80::1", "'eth0%fe80::1' is not an address with a zone such as fe80::1%eth0"),
        ("%eth0", "'%eth0' is not an address with a zone such as fe80::1%eth0"),
        ("fe80::1%", "an interface name must not be empty"), ("fe80::1%a b", "'a b' cannot be an interface name"),
        ("[example.org]", "'[example.org]' is not an IPv6 address in brackets"),
        ("[192.0.2.1]", "'[192.0.2.1]' is not an IPv6 address in brackets"),
        ("http://[192.0.2.1]/", "'http://[192.0.2.1]/' is not an IPv6 address in brackets"),
        ("http://[169.254.1.1%eth0]/", "'http://[169.254.1.1%eth0]/' is not an IPv6 address in brackets"),
        ("example.org:80", "'example.org:80' \(neither)"), ("::1::2", "'::1::2' \(neither)"),
        ("[::1]:80", "'[::1]:80' \(neither)"), ("http://[::1/", "'http://[::1/' \(neither)"),
        ("http://a:b:80/", "'http://a:b:80/' \(neither)"),
        ("hé llo.example", "'hé llo.example' is not a host name"),
        ("-é.example", "'-é.example' is not a host name: string start/ends with forbidden hyphen"),
        ("a b", "'a b' is not a host name"), ("-a.example", "'-a.example' is not a host name"),
        ("a-.example", "'a-.example' is not a host name"), ("a..b", "'a..b' is not a host name"),
        (".", "'.' is not a host name"), (".a", "'.a' is not a host name"), ("a\0b", "'a\\u{0}b' is not a host name"),
        ("[]", "'[]' is not a host name"), ("*.example.org", "'*.example.org' is not a host name"),
        ("a\u{1b}[31m", "'a\\u{1b}[31m' is not a host name"),
        ("1.2.3", "'1.2.3' is not an IPv4 address, nor a host name"),
        ("256.1.1.1", "'256.1.1.1' is not an IPv4 address, nor a host name"),
        ("192.0.2.1.", "'192.0.2.1.' is not an IPv4 address, nor a host name"),
        ("12345", "'12345' is not an IPv4 address, nor a host name"),
        ("://example.org", "'://example.org' is not a URL: its scheme is wrong"),
        ("1http://example.org", "'1http://example.org' is not a URL: its scheme is wrong"),
        ("a b://example.org", "'a b://example.org' is not a URL: its scheme is wrong"),
        ("http://", "'http://' is a URL without a host"), ("http:///path", "'http:///path' is a URL without a host"),
        ("http://user@/", "'http://user@/' is a URL without a host"),
        ("http://:80/", "'http://:80/' is a URL without a host"),
        ("http://h:65536/", "'http://h:65536/' has a port that is no number up to 65535"),
        ("http://h:-1/", "'http://h:-1/' has a port that is no number up to 65535"),
        ("http://h:-0/", "'http://h:-0/' has a port that is no number up to 65535"),
        ("http://h:+80/", "'http://h:+80/' has a port that is no number up to 65535"),
        ("http://h:8o/", "'http://h:8o/' has a port that is no number up to 65535"),
        ("http://h:٨٠/", "'http://h:٨٠/' has a port that is no number up to 65535"),
    ])
    func `the error for a wrong target is a sentence that quotes it`(text: String, sentence: String) {
        #expect(Self.sentence(for: text) == sentence)
    }

    @Test func `a name of 300 characters is quoted in part`() {
        let long = String(repeating: "a", count: 300)
        let quoted = "'\(String(repeating: "a", count: 64))...'"
        #expect(Self.sentence(for: long) == "\(quoted) is too long for a host name (253 bytes)")
        #expect(Self.sentence(for: "interface:" + long) == "\(quoted) is too long for an interface name (127 bytes)")
        let labels = String(repeating: "a.", count: 127)
        #expect(Self.sentence(for: labels) == nil, "253 bytes and a dot at the end")
    }

    @Test func `no text puts a control character into a message`() {
        var random = SeededGenerator(seed: 4)
        let pieces = [
            "http://", "interface:", "[", "]", "%", ":", "/", "@", "::1", "a", "\u{1b}", "\n", "\u{202e}", "é", "9",
            ".",
        ]
        for _ in 0..<20_000 {
            let text = (0..<Int.random(in: 0...12, using: &random)).map { _ in random.pick(pieces) }.joined()
            guard let sentence = Self.sentence(for: text) else { continue }
            #expect(DisplayText.sanitized(sentence) == sentence)
        }
    }
}
