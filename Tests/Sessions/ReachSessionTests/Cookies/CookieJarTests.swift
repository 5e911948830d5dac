import ReachCore
import ReachSession
import ReachTesting
import Testing

/// Which cookies are stored, and which are sent where.
@Suite struct CookieJarTests {
    /// 2030-01-01T00:00:00Z.
    private static let now = Timestamp(nanosecondsSince1970: 1_893_456_000_000_000_000)
    private static let suffixes: CookieJar.SuffixRule = {
        ["com", "uk", "co.uk", "localhost", "github.io"].contains($0) ? .isPublic : .isPrivate
    }

    /// The jar after these cookies, each of a URL's host and path.
    private static func jar(
        _ fields: [(url: String, field: String)], suffixes: CookieJar.SuffixRule = suffixes,
        limits: CookieJar.Limits = CookieJar.Limits()
    ) -> CookieJar {
        var jar = CookieJar(limits: limits)
        for (url, text) in fields {
            guard let field = SetCookieField(text) else { continue }
            jar.store(field, from: origin(url), at: now, suffixes: suffixes)
        }
        return jar
    }

    private static func origin(_ url: String) -> CookieOrigin {
        let parts = url.split(separator: "://", maxSplits: 1)
        let rest = parts[1]
        let host = rest.prefix { $0 != "/" }
        let path = rest.dropFirst(host.count)
        return CookieOrigin(
            host: String(host), path: path.isEmpty ? "/" : String(path), isSecure: parts[0] == "https",
            isAddress: IPAddress(String(host)) != nil)
    }

    private static func sent(_ jar: CookieJar, to url: String, later: Duration = .zero) -> String {
        var jar = jar
        let time = Timestamp(nanosecondsSince1970: now.nanosecondsSince1970 + later.components.seconds * 1_000_000_000)
        return jar.header(for: origin(url), at: time) ?? ""
    }

    @Test(arguments: [
        // The host alone.
        ("http://www.example.com/", "a=b", "http://www.example.com/", "a=b"),
        ("http://www.example.com/", "a=b", "http://example.com/", ""),
        ("http://example.com/", "a=b", "http://www.example.com/", ""),
        // A domain.
        ("http://www.example.com/", "a=b; Domain=example.com", "http://other.example.com/", "a=b"),
        ("http://www.example.com/", "a=b; Domain=.example.com", "http://example.com/", "a=b"),
        ("http://www.example.com/", "a=b; Domain=www.example.com", "http://x.www.example.com/", "a=b"),
        ("http://www.example.com/", "a=b; Domain=other.example.com", "http://other.example.com/", ""),
        ("http://example.com/", "a=b; Domain=www.example.com", "http://www.example.com/", ""),
        ("http://badexample.com/", "a=b; Domain=example.com", "http://example.com/", ""),
        // Public suffixes.
        ("http://example.co.uk/", "a=b; Domain=co.uk", "http://example.co.uk/", ""),
        ("http://example.co.uk/", "a=b; Domain=uk", "http://other.co.uk/", ""),
        ("http://me.github.io/", "a=b; Domain=github.io", "http://you.github.io/", ""),
        ("http://github.io/", "a=b; Domain=github.io", "http://github.io/", "a=b"),
        ("http://github.io/", "a=b; Domain=github.io", "http://you.github.io/", ""),
        ("http://localhost/", "a=b; Domain=localhost", "http://localhost/", "a=b"),
        // Addresses.
        ("http://192.0.2.1/", "a=b; Domain=192.0.2.1", "http://192.0.2.1/", "a=b"),
        ("http://192.0.2.1/", "a=b; Domain=2.1", "http://192.0.2.1/", ""),
        // Paths.
        ("http://example.com/x/y", "a=b", "http://example.com/x/z", "a=b"),
        ("http://example.com/x/y", "a=b", "http://example.com/xx", ""),
        ("http://example.com/x/y", "a=b; Path=/", "http://example.com/", "a=b"),
        ("http://example.com/x/y", "a=b; Path=/z", "http://example.com/z/1", "a=b"),
        // Secure.
        ("https://example.com/", "a=b; Secure", "https://example.com/", "a=b"),
        ("https://example.com/", "a=b; Secure", "http://example.com/", ""),
        ("https://example.com/", "a=b", "http://example.com/", "a=b"),
        ("http://example.com/", "a=b; Secure", "https://example.com/", ""),
        // Lives.
        ("http://example.com/", "a=b; Max-Age=0", "http://example.com/", ""),
        ("http://example.com/", "a=b; Max-Age=-1", "http://example.com/", ""),
        ("http://example.com/", "a=b; Expires=Tue, 01 Jan 2030 00:00:00 GMT", "http://example.com/", ""),
        ("http://example.com/", "a=b; Expires=Tue, 01 Jan 2030 00:00:01 GMT", "http://example.com/", "a=b"),
        ("http://example.com/", "a=b; Max-Age=1; Expires=Sat, 01 Jan 2000 00:00:00 GMT", "http://example.com/", "a=b"),
        ("http://example.com/", "a=b; Max-Age=0; Expires=Wed, 01 Jan 2031 00:00:00 GMT", "http://example.com/", ""),
        // Prefixes.
        ("https://example.com/", "__Secure-a=b; Secure", "https://example.com/", "__Secure-a=b"),
        ("https://example.com/", "__Secure-a=b", "https://example.com/", ""),
        ("http://example.com/", "__Secure-a=b; Secure", "https://example.com/", ""),
        ("https://example.com/", "__Host-a=b; Secure; Path=/", "https://example.com/x", "__Host-a=b"),
        ("https://example.com/", "__Host-a=b; Secure", "https://example.com/", ""),
        ("https://example.com/", "__Host-a=b; Path=/", "https://example.com/", ""),
        ("https://example.com/", "__Host-a=b; Secure; Path=/; Domain=example.com", "https://example.com/", ""),
        ("https://example.com/", "__hOST-a=b; Secure; Path=/x", "https://example.com/x", ""),
    ])
    func `a cookie is stored and sent where its attributes say`(
        from: String, field: String, to: String, expected: String
    ) {
        #expect(Self.sent(Self.jar([(from, field)]), to: to) == expected)
    }

    @Test(arguments: [
        ("http://www.example.com/", "a=b; Domain=example.com", "http://www.example.com/", "a=b"),
        ("http://www.example.com/", "a=b; Domain=example.com", "http://example.com/", ""),
        ("http://www.example.com/", "a=b; Domain=com", "http://other.com/", ""),
        ("http://www.example.com/", "a=b; Domain=other.com", "http://www.example.com/", ""),
    ])
    func `without a list of public suffixes a cookie stays with the host that set it`(
        from: String, field: String, to: String, expected: String
    ) {
        #expect(Self.sent(Self.jar([(from, field)]) { _ in .unknown }, to: to) == expected)
    }

    @Test func `longer paths are sent first, then older cookies, and a replaced one keeps its place`() {
        let jar = Self.jar([
            ("http://example.com/", "a=1"), ("http://example.com/", "b=2"), ("http://example.com/x/y", "c=3"),
            ("http://example.com/", "a=4"), ("http://example.com/x/y", "a=5"),
        ])
        #expect(Self.sent(jar, to: "http://example.com/x/z") == "c=3; a=5; a=4; b=2")
    }

    @Test func `an expired cookie removes the one that it replaces`() {
        let jar = Self.jar([("http://example.com/", "a=1; Max-Age=9"), ("http://example.com/", "a=; Max-Age=0")])
        #expect(jar.count == 0 && jar.bytes == 0)
    }

    @Test func `a cookie is sent until it expires, within 400 days`() {
        let jar = Self.jar([
            ("http://example.com/", "a=1; Max-Age=60"), ("http://example.com/", "b=2; Max-Age=999999999"),
        ])
        #expect(Self.sent(jar, to: "http://example.com/", later: .seconds(59)) == "a=1; b=2")
        #expect(Self.sent(jar, to: "http://example.com/", later: .seconds(60)) == "b=2")
        #expect(Self.sent(jar, to: "http://example.com/", later: .seconds(400 * 86_400)) == "")
    }

    @Test(arguments: [
        ("http://example.com/", "a=evil", "s=1; a=good"),
        ("http://example.com/x/", "a=evil", "s=1; a=good"),
        ("http://www.example.com/", "a=evil; Domain=example.com", "s=1; a=good"),
        ("http://example.com/", "b=fine", "s=1; a=good; b=fine"),
        ("https://example.com/", "a=new", "s=1; a=new"),
    ])
    func `what comes in the clear neither replaces nor hides a secure cookie`(
        from: String, field: String, expected: String
    ) {
        let jar = Self.jar([
            ("https://example.com/", "s=1; Path=/x/"), ("https://example.com/", "a=good; Secure"), (from, field),
        ])
        #expect(Self.sent(jar, to: "https://example.com/x/") == expected)
    }

    @Test func `a domain's cookies are bounded in number and bytes, insecure and unused ones going first`() {
        var limits = CookieJar.Limits()
        limits.cookiesOfDomain = 3
        var jar = Self.jar(
            [
                ("https://example.com/", "s=1; Secure"), ("https://example.com/", "a=1"),
                ("https://example.com/", "b=1"),
            ],
            limits: limits)
        jar.store(
            SetCookieField("c=1")!, from: Self.origin("http://example.com/"), at: Self.now, suffixes: Self.suffixes)
        #expect(jar.all(at: Self.now).map(\.name) == ["s", "b", "c"])
        limits.bytesOfDomain = 1000
        let long = String(repeating: "x", count: 400)
        jar = Self.jar(["a", "b", "c"].map { ("http://example.com/", "\($0)=\(long)") }, limits: limits)
        #expect(jar.all(at: Self.now).map(\.name) == ["b", "c"])
    }

    @Test func `all cookies are bounded in number and bytes, expired and unused ones going first`() {
        var limits = CookieJar.Limits()
        limits.cookies = 4
        var jar = CookieJar(limits: limits)
        for (index, age) in [100, 1, 100, 100].enumerated() {
            let field = SetCookieField("a=\(index); Max-Age=\(age)")!
            jar.store(field, from: Self.origin("http://h\(index).com/"), at: Self.now, suffixes: Self.suffixes)
        }
        let later = Timestamp(nanosecondsSince1970: Self.now.nanosecondsSince1970 + 2_000_000_000)
        _ = jar.header(for: Self.origin("http://h0.com/"), at: later)
        for index in 4...5 {
            let field = SetCookieField("a=\(index)")!
            jar.store(field, from: Self.origin("http://h\(index).com/"), at: later, suffixes: Self.suffixes)
        }
        #expect(jar.all(at: later).map(\.domain) == ["h0.com", "h3.com", "h4.com", "h5.com"])
        limits.bytes = 30
        let small = Self.jar((0..<9).map { ("http://h\($0).com/", "a=1") }, limits: limits)
        #expect(small.bytes <= 30 && small.count == 3)
    }

    @Test func `no more is sent than a server reads`() {
        let long = String(repeating: "x", count: 3000)
        let jar = Self.jar(["a", "b", "c"].map { ("http://example.com/", "\($0)=\(long)") })
        #expect(Self.sent(jar, to: "http://example.com/") == "a=\(long); b=\(long)")
    }

    @Test func `a repeated cookie changes nothing, so that its file need not be written`() {
        var jar = CookieJar()
        let (field, origin) = (SetCookieField("a=1")!, Self.origin("http://example.com/"))
        let changes = (0..<2).map { _ in jar.store(field, from: origin, at: Self.now, suffixes: Self.suffixes) }
        #expect(changes == [true, false])
    }

    @Test func `a jar that received anything stays within its limits and counts right`() {
        var generator = SeededGenerator(seed: 7)
        var limits = CookieJar.Limits()
        (limits.cookies, limits.cookiesOfDomain, limits.bytes) = (20, 6, 300)
        var jar = CookieJar(limits: limits)
        for step in 0..<3000 {
            let host = "h\(Int.random(in: 0..<9, using: &generator)).com"
            let age = Int.random(in: -1...60, using: &generator)
            let field = SetCookieField("n\(Int.random(in: 0..<9, using: &generator))=\(step); Max-Age=\(age)")!
            let time = Timestamp(nanosecondsSince1970: Self.now.nanosecondsSince1970 + Int64(step) * 1_000_000_000)
            jar.store(field, from: Self.origin("http://\(host)/"), at: time, suffixes: Self.suffixes)
            let all = jar.all(at: Self.now)
            #expect(jar.count == all.count && jar.count <= 20 && jar.bytes <= 300)
            #expect(Dictionary(grouping: all, by: \.domain).values.allSatisfy { $0.count <= 6 })
        }
        jar.remove { _ in true }
        #expect(jar.count == 0 && jar.bytes == 0)
    }
}
