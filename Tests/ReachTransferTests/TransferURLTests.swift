import ReachTesting
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
        "http://a.example/", "https://a.example:8443/a/b.c?d=e&f=1,2+3", "http://192.0.2.1:81/~x_y-z/?n=1",
        "http://localhost/a//b",
    ])
    func `most URLs need no parser`(text: String) throws {
        #expect(try #require(TransferURL(plain: text)) == TransferURL(parsing: text))
    }

    @Test(arguments: 0..<20)
    func `what is read without the parser is what the parser reads`(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let pieces = [
            "http://", "https://", "HTTP://", "a", "B", "1", "0", ".", "..", "/", "/.", "?", "#", ":", ":80", ":0",
            ":080",
            ":65536", "192.0.2.1", "127.1", "0x7f.1", "example", "-", "_", "~", "@", "%41", "%2e", "=", "&", "+", ",",
            ";",
            " ", "[::1]", "é", "\\", "!", "xn--", "x.", "1.a",
        ]
        for _ in 0..<5000 {
            var text = Bool.random(using: &generator) ? "http://a.example" : "https://192.0.2.1"
            if Int.random(in: 0..<4, using: &generator) == 0 { text = pieces[Int.random(in: 0...2, using: &generator)] }
            for _ in 0..<Int.random(in: 0...6, using: &generator) {
                text += pieces[Int.random(in: 0..<pieces.count, using: &generator)]
            }
            guard let plain = TransferURL(plain: text) else { continue }
            #expect(try plain == TransferURL(parsing: text), "\(text)")
        }
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
