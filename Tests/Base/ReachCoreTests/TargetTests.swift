import ReachCore
import Testing

@Suite struct TargetTests {
    private static func address(_ text: String, zone: String? = nil) -> Target.Subject {
        .address(IPAddress(text) ?? IPAddress(ipv4: 0), zone: zone)
    }

    private static func prefix(_ text: String) -> Target.Subject {
        IPPrefix(text).map { .prefix($0) } ?? .internet
    }

    private static let hundredBytes = String(repeating: "n", count: 100)

    private static let forms: [(String, Target.Subject)] = [
        ("internet", .internet),
        // Hosts
        ("example.org", .name("example.org")), ("localhost", .name("localhost")),
        ("example.org.", .name("example.org.")),
        ("Internet", .name("Internet")), ("a", .name("a")), ("3com.example", .name("3com.example")),
        ("_dmarc.example.org", .name("_dmarc.example.org")), ("xn--bcher-kva.example", .name("xn--bcher-kva.example")),
        ("1.2.3.example", .name("1.2.3.example")), ("a--b.c", .name("a--b.c")),
        // Addresses
        ("192.0.2.1", address("192.0.2.1")), ("2001:db8::1", address("2001:db8::1")), ("::", address("::")),
        ("[2001:db8::1]", address("2001:db8::1")), ("fe80::1%eth0", address("fe80::1", zone: "eth0")),
        ("[fe80::1%eth0]", address("fe80::1", zone: "eth0")), ("fe80::1%a%b", address("fe80::1", zone: "a%b")),
        ("169.254.1.1%eth0", address("169.254.1.1", zone: "eth0")), ("::ffff:192.0.2.1", address("192.0.2.1")),
        // Prefixes
        ("192.0.2.0/24", prefix("192.0.2.0/24")), ("2001:db8::/32", prefix("2001:db8::/32")),
        ("0.0.0.0/0", prefix("0.0.0.0/0")),
        // Interfaces
        ("interface:eth0", .interface("eth0")), ("interface:br-lan.100", .interface("br-lan.100")),
        ("interface:" + hundredBytes, .interface(hundredBytes)), ("interface:éth", .interface("éth")),
        ("interface:a\u{1b}[2J", .interface("a\u{1b}[2J")), ("interface:internet", .interface("internet")),
        // URLs
        ("http://example.org", .name("example.org")), ("https://example.org/", .name("example.org")),
        ("HTTPS://Example.org:443/path?query#fragment", .name("Example.org")),
        ("ftp://example.org:", .name("example.org")),
        ("http://user:secret@example.org:8080/a@b", .name("example.org")),
        ("http://a@b@example.org", .name("example.org")),
        ("http://example.org?x=y/z:1", .name("example.org")), ("http://example.org#a:b@c", .name("example.org")),
        ("http://192.0.2.1:80/", address("192.0.2.1")), ("http://[2001:db8::1]/", address("2001:db8::1")),
        ("http://[2001:db8::1]:65535/", address("2001:db8::1")), ("http://user@[::1]:0", address("::1")),
        ("git+ssh://example.org", .name("example.org")), ("http://example.org\\@evil.example", .name("example.org")),
        // RFC 6874: the percent sign of a zone is itself escaped in a URL. curl accepts both forms.
        ("http://[fe80::1%25eth0]:80/", address("fe80::1", zone: "eth0")),
        ("http://[fe80::1%eth0]/", address("fe80::1", zone: "eth0")),
    ]

    @Test(arguments: forms)
    func `every form has its meaning and keeps its text`(
        text: String, subject: Target.Subject
    ) throws {
        let target = try Target(text)
        #expect(target.subject == subject)
        #expect(target.description == text)
    }

    @Test func `the factory methods agree with the texts`() throws {
        #expect(Target.internet == (try Target("internet")))
        #expect(try Target.host("example.org") == Target("example.org"))
        #expect(try Target.interface("eth0") == Target("interface:eth0"))
        #expect(Target.address(try #require(IPAddress("2001:DB8::1"))) == (try Target("2001:db8::1")))
    }

    @Test func `a host named internet has a factory method`() throws {
        #expect(try Target.host("internet").subject == .name("internet"))
        #expect(throws: TargetError.self) { try Target.host("192.0.2.0/24") }
        #expect(throws: TargetError.self) { try Target.host("http://example.org") }
        #expect(throws: TargetError.self) { try Target.host("interface:eth0") }
    }

    @Test func `a name can have 253 bytes and each label 63`() throws {
        let label = String(repeating: "a", count: 63)
        let longest = [label, label, label, String(repeating: "b", count: 61)].joined(separator: ".")
        #expect(longest.utf8.count == 253)
        #expect(try Target(longest).subject == .name(longest))
        #expect(try Target(longest + ".").subject == .name(longest + "."))
        #expect(throws: TargetError.self) { try Target("b" + longest) }
        #expect(throws: TargetError.self) { try Target("a\(label).example") }
    }

    @Test func `an interface name can have 127 bytes, as alternative names can`() throws {
        let longest = String(repeating: "n", count: 127)
        #expect(try Target.interface(longest).subject == .interface(longest))
        #expect(throws: TargetError.self) { try Target.interface(longest + "n") }
        #expect(throws: TargetError.self) { try Target.interface(String(repeating: "é", count: 64)) }
    }
}
