import ReachTransfer
import Testing

struct TransferURLTests {
    @Test(arguments: [
        ("http://example.org", "http", "example.org", 80),
        ("https://Example.ORG:8443/a?b#c", "https", "example.org", 8443),
        ("http://[2001:db8::1]:81/", "http", "2001:db8::1", 81),
        ("https://xn--bcher-kva.example/", "https", "xn--bcher-kva.example", 443),
    ])
    func `a URL says whom to connect to`(text: String, scheme: String, host: String, port: UInt16) throws {
        let url = try TransferURL(text)
        #expect(url.scheme == scheme)
        #expect(url.host == host)
        #expect(url.port == port)
    }

    @Test(arguments: [
        "", "example.org", "http://", "http://a b/", "http://h:99999/", "http://h:0/", "http://[::1/",
        "http://bücher.example/",
    ])
    func `what is not a URL is refused`(text: String) {
        #expect(throws: TransferURL.Mistake.self) { try TransferURL(text) }
    }

    @Test(arguments: ["file:///etc/passwd", "gopher://example.org/", "ftp://example.org/", "unix:/run/x"])
    func `other schemes are refused`(text: String) throws {
        let mistake = #expect(throws: TransferURL.Mistake.self) { try TransferURL(text) }
        #expect(mistake?.kind == .unsupportedScheme)
        let base = try TransferURL("http://example.org/")
        let redirected = #expect(throws: TransferURL.Mistake.self) { try base.resolving(text) }
        #expect(redirected?.kind == .unsupportedScheme)
    }

    @Test(arguments: [
        ("/x", "http://example.org/x"), ("x", "http://example.org/a/x"), ("../x?y", "http://example.org/x?y"),
        ("//other.example/", "http://other.example/"), ("https://s.example", "https://s.example/"),
        ("#part", "http://example.org/a/b"),
    ])
    func `a reference is read against where it stood`(reference: String, result: String) throws {
        let base = try TransferURL("http://example.org/a/b")
        #expect(try base.resolving(reference).description == result)
    }
}
