import ReachCore
import ReachProbe
import Testing

@Suite struct ProbeTargetPatternTests {
    @Test(arguments: [
        ("https://shop.example.net", "https://shop.example.net/health?full=1"),
        ("https://shop.example.net", "https://SHOP.example.net.:443/"),
        ("https://*.example.net", "https://a.b.example.net/"),
        ("http://shop.example.net:8080", "http://shop.example.net:8080/"),
        ("http://192.0.2.0/24:*", "http://192.0.2.7:81/"),
        ("icmp://192.0.2.0/24", "icmp://192.0.2.255"), ("icmp://192.0.2.7", "icmp://192.0.2.7"),
        ("tcp://[2001:db8::/32]:5432", "tcp://[2001:db8:1::7]:5432"), ("icmp://[2001:db8::7]", "icmp://[2001:db8::7]"),
        ("tls://mail.example.net", "tls://mail.example.net"),
        ("dns://192.0.2.53", "dns://192.0.2.53/example.net?type=A"),
        ("http://192.0.2.0/24", "http://[::ffff:192.0.2.7]/"), ("tcp://*.example.net:*", "tcp://db.example.net:1"),
    ])
    func `a target fits`(pattern: String, target: String) throws {
        #expect(try ProbeTargetPattern(pattern).allows(ProbeTarget(target)))
    }

    @Test(arguments: [
        ("https://shop.example.net", "http://shop.example.net:443/"),
        ("https://shop.example.net", "https://shop.example.net:8443/"),
        ("https://*.example.net", "https://example.net/"), ("https://*.example.net", "https://badexample.net/"),
        ("https://*.example.net", "https://a.example.net.evil.example/"),
        ("https://*.example.net", "https://192.0.2.7/"),
        // Before an @ stands a user and not the host.
        ("https://shop.example.net", "https://shop.example.net@192.0.2.7/"),
        ("http://192.0.2.7", "http://x@192.0.2.7/"),
        ("http://shop.example.net", "http://shop.example.net\\@192.0.2.7/"),
        ("http://shop.example.net", "http://shop.example.net/\\@192.0.2.7/"),
        ("http://shop.example.net", "http://shop.example.net:80@192.0.2.7:80/"),
        ("http://192.0.2.0/24", "http://0xc0000207/"),
        ("http://192.0.2.0/24", "http://3221225991/"), ("http://192.0.2.0/24", "http://192.0.3.7/"),
        ("http://192.0.2.0/24", "http://192.0.2.7.example/"), ("icmp://[fe80::/10]", "icmp://[fe80::1%25eth0]"),
        ("dns://192.0.2.53", "dns:example.net"), ("dns://192.0.2.53", "dns://192.0.2.54/example.net"),
    ])
    func `a target does not fit`(pattern: String, target: String) throws {
        let pattern = try ProbeTargetPattern(pattern)
        // Some are no targets at all.
        guard let target = try? ProbeTarget(target) else { return }
        #expect(!pattern.allows(target))
    }

    @Test(arguments: [
        "", "shop.example.net", "ftp://a.example", "https://", "https://*", "https://*.", "https://a.example/path",
        "tcp://a.example",
        "tcp://a.example:0", "tcp://a.example:65536", "tcp://a.example:+1", "icmp://192.0.2.1:7", "http://192.0.2.0/33",
        "http://[192.0.2.1", "http://a b", "http://u@a.example", "http://*.*.example",
    ])
    func `a text that is no pattern is refused`(text: String) {
        #expect(throws: TargetError.self) { try ProbeTargetPattern(text) }
    }
}
