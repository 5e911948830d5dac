import Glibc
import ReachCore
import ReachTesting
import ReachTransfer
import Testing

struct TransferURLTests {
    @Test(arguments: [
        ("http://example.org", "http", "example.org", 80),
        ("https://Example.ORG:8443/a?b#c", "https", "example.org", 8443),
        ("http://[2001:db8::1]:81/", "http", "2001:db8::1", 81),
        ("https://xn--bcher-kva.example/", "https", "xn--bcher-kva.example", 443),
        ("https://BÜCHER.example/", "https", "xn--bcher-kva.example", 443),
    ])
    func `a URL has the host and port to connect to`(text: String, scheme: String, host: String, port: UInt16) throws {
        let url = try TransferURL(text)
        #expect(url.scheme == scheme)
        #expect(url.host == host)
        #expect(url.port == port)
    }

    @Test(arguments: [
        ("http://[fe80::1%25eth0]/", "eth0"), ("http://[fe80::1%eth0]:81/a", "eth0"), ("http://[fe80::1]/", nil),
        ("http://a.example/", nil),
    ])
    func `an address has its zone, and is another host in another zone`(text: String, zone: String?) throws {
        let url = try TransferURL(text)
        #expect(url.zone == zone)
        #expect(try url.hasOrigin(of: TransferURL("http://[fe80::1%25lan0]/")) == false)
    }

    @Test func `an IPv4 address in the form of IPv6's is one of IPv4`() throws {
        let url = try TransferURL("http://[::ffff:192.0.2.7]:8080/")
        #expect(url.address == "192.0.2.7" && url.host == "::ffff:192.0.2.7")
    }

    @Test(arguments: [
        ("http://a.example/[x]?{y}|z w", "http://a.example/[x]?{y}|z%20w"),
        ("http://a.example/ä?ö#ü", "http://a.example/%C3%A4?%C3%B6"), ("http://127.1/", "http://127.0.0.1/"),
        ("http://bücher.example/", "http://xn--bcher-kva.example/"), ("http://a.example/x?", "http://a.example/x?"),
        ("http://a.example/a/../b/./c", "http://a.example/b/c"), ("http://a.example:080", "http://a.example:80/"),
    ])
    func `a URL is sent in a form that every parser reads alike`(text: String, sent: String) throws {
        #expect(try TransferURL(text).description == sent)
    }

    @Test(arguments: 0..<20)
    func `libcurl connects to the host that we read`(seed: UInt64) throws {
        let libcurl = try #require(CurlURLReader())
        var generator = SeededGenerator(seed: seed)
        let pieces = [
            "http://", "https://", "HTTP://", "a", "B", "1", "0", ".", "..", "/", "/.", "?", "#", ":", ":80", ":0",
            ":080", ":65536", "192.0.2.1", "127.1", "0x7f.1", "example", "-", "_", "~", "@", "%41", "%2e", "=", "&",
            "+",
            ",", ";", " ", "[::1]", "é", "\\", "!", "xn--", "x.", "1.a", "|", "{", "}", "[", "]", "%", "^", "\"", "<",
        ]
        var read = 0
        var last: TransferURL?
        for _ in 0..<5000 {
            var text = Bool.random(using: &generator) ? "http://a.example" : "https://192.0.2.1"
            if Int.random(in: 0..<4, using: &generator) == 0 { text = pieces[Int.random(in: 0...2, using: &generator)] }
            for _ in 0..<Int.random(in: 0...6, using: &generator) {
                text += pieces[Int.random(in: 0..<pieces.count, using: &generator)]
            }
            guard let url = try? TransferURL(text) else { continue }
            read += 1
            let other = libcurl.parts(of: url.description)
            let host = url.address?.family == .ipv6 ? "[\(url.host)]" : url.host
            #expect(
                other?.host.lowercased() == host && other?.port == url.port && other?.scheme == url.scheme, "\(text)")
            #expect(try TransferURL(url.description) == url, "\(text)")
            #expect(try TransferURL(text, like: last) == url && TransferURL(text, like: url) == url, "\(text)")
            last = url
        }
        #expect(read > 500)
    }

    @Test(arguments: [
        "", "example.org", "http://", "http://a b/", "http://h:99999/", "http://h:0/", "http://[::1/",
        "http://b℀cher.example/", "http://b\u{202e}cher.example/",
    ])
    func `text that is not a URL is refused`(text: String) {
        #expect(throws: TransferURL.ValidationError.self) { try TransferURL(text) }
    }

    @Test(arguments: ["file:///etc/passwd", "gopher://example.org/", "ftp://example.org/", "unix:/run/x"])
    func `other schemes are refused`(text: String) throws {
        let error = #expect(throws: TransferURL.ValidationError.self) { try TransferURL(text) }
        #expect(error?.kind == .unsupportedScheme)
        let base = try TransferURL("http://example.org/")
        let redirected = #expect(throws: TransferURL.ValidationError.self) { try base.resolving(text) }
        #expect(redirected?.kind == .unsupportedScheme)
    }

    @Test(
        arguments: [
            ("/x", "http://example.org/x"), ("x", "http://example.org/a/x"), ("../x?y", "http://example.org/x?y"),
            ("//other.example/", "http://other.example/"), ("https://s.example", "https://s.example/"),
            ("#part", "http://example.org/a/b"), ("x y?[z]|é", "http://example.org/a/x%20y?[z]|%C3%A9"),
            ("http:\\\\example.org", nil), ("\\x", "http://example.org/a/%5Cx"),
            ("/x%zz#a#b", "http://example.org/x%zz"),
        ] as [(String, String?)])
    func `a reference is resolved against its base`(reference: String, result: String?) throws {
        let base = try TransferURL("http://example.org/a/b")
        #expect((try? base.resolving(reference).description) == result)
    }
}

/// libcurl's own URL parser, to compare with.
private struct CurlURLReader {
    private typealias Make = @convention(c) () -> OpaquePointer?
    private typealias Set = @convention(c) (OpaquePointer?, UInt32, UnsafePointer<CChar>?, UInt32) -> UInt32
    private typealias Get =
        @convention(c) (OpaquePointer?, UInt32, UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>, UInt32) -> UInt32
    private typealias Clean = @convention(c) (OpaquePointer?) -> Void

    private let make: Make
    private let set: Set
    private let get: Get
    private let clean: Clean

    init?() {
        guard let library = dlopen("libcurl.so.4", RTLD_NOW), let make = dlsym(library, "curl_url"),
            let set = dlsym(library, "curl_url_set"), let get = dlsym(library, "curl_url_get"),
            let clean = dlsym(library, "curl_url_cleanup")
        else { return nil }
        self.make = unsafeBitCast(make, to: Make.self)
        self.set = unsafeBitCast(set, to: Set.self)
        self.get = unsafeBitCast(get, to: Get.self)
        self.clean = unsafeBitCast(clean, to: Clean.self)
    }

    func parts(of text: String) -> (scheme: String, host: String, port: UInt16)? {
        let handle = make()
        defer { clean(handle) }
        // CURLUPART_URL, then CURLUPART_SCHEME, _HOST, and _PORT with CURLU_DEFAULT_PORT.
        guard set(handle, 0, text, 0) == 0, let scheme = part(1, of: handle), let host = part(5, of: handle),
            let port = part(6, of: handle, flags: 1).flatMap({ UInt16($0) })
        else { return nil }
        return (scheme, host, port)
    }

    private func part(_ number: UInt32, of handle: OpaquePointer?, flags: UInt32 = 0) -> String? {
        var value: UnsafeMutablePointer<CChar>?
        defer { free(value) }
        return get(handle, number, &value, flags) == 0 ? value.map { String(cString: $0) } : nil
    }
}
