import Testing

@testable import ReachProbe

@Suite struct PortalAddressTests {
    @Test(arguments: [
        ("http://login.example/a?b=c&d=%20#e", "http://login.example/a?b=c&d=%20#e"),
        ("HTTP://Login.Example", "http://Login.Example"),
        ("https://[2001:db8::1]:8443/x", "https://[2001:db8::1]:8443/x"),
        ("http://192.0.2.1:80?q", "http://192.0.2.1:80?q"), ("http://x/a b", "http://x/a%20b"),
        ("http://\(String(repeating: "a", count: 255))/", "http://\(String(repeating: "a", count: 255))/"),
        ("http://x/%zz%4", "http://x/%25zz%254"),
        ("http://x/`id`|{a}\\<\">^", "http://x/%60id%60%7C%7Ba%7D%5C%3C%22%3E%5E"),
        ("http://x/#a#b", "http://x/#a%23b"), ("http://x/[1]", "http://x/%5B1%5D"),
    ])
    func `an address is passed on as a valid URL`(text: String, url: String) {
        #expect(PortalAddress(text)?.text == url)
        // The result is valid: a second pass changes nothing.
        #expect(PortalAddress(url)?.text == url)
    }

    @Test(arguments: [
        "http://", "http:///x", "http://?x", "http://user@x/", "http://a:b@x/", "http://x:0/", "http://x:65536/",
        "http://x:/", "http://x:1x/", "http://[::1", "http://[x]/", "http://[]/", "http://a b/", "http://$(id)/",
        "http://\(String(repeating: "a", count: 256))/", "http://a,b/", "ftp://x/", "http:/x", "//x/", "http://[::1]x/",
        "http://x:+1/",
    ])
    func `an address without a valid host and port is refused`(text: String) { #expect(PortalAddress(text) == nil) }
}
