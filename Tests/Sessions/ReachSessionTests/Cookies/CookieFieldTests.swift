import ReachCore
import ReachSession
import Testing

/// Reading `Set-Cookie`, as RFC 6265 says.
@Suite struct CookieFieldTests {
    @Test(arguments: [
        ("Sun, 06 Nov 1994 08:49:37 GMT", "1994-11-06T08:49:37"),
        ("Sunday, 06-Nov-94 08:49:37 GMT", "1994-11-06T08:49:37"),
        ("Sun Nov  6 08:49:37 1994", "1994-11-06T08:49:37"),
        ("Mon, 10-Dec-2007 17:02:24 GMT", "2007-12-10T17:02:24"),
        ("Wed, 09 Dec 2009 16:27:23 GMT", "2009-12-09T16:27:23"),
        ("Thu, 1-Jan-70 00:00:01 GMT", "1970-01-01T00:00:01"),
        ("1 January 2030 1:2:3", "2030-01-01T01:02:03"),
        ("2030 feb 28 23:59:59", "2030-02-28T23:59:59"),
        ("10 Nov 2030 10:00:00pm", "2030-11-10T10:00:00"),
        ("x;10:00:00!10,november.69", "2069-11-10T10:00:00"),
        ("29 Feb 2032 00:00:00", "2032-02-29T00:00:00"),
        ("1 Jan 1601 00:00:00", "1970-01-01T00:00:00"),
        ("29 Feb 2400 00:00:00", "2200-01-01T00:00:00"),
        ("31 Dec 9999 23:59:59 GMT", "2200-01-01T00:00:00"),
    ])
    func `a date's parts are found wherever they stand`(text: String, expected: String) {
        #expect(CookieDate.parse(text) == Timestamp(expected + "Z"))
    }

    @Test(arguments: [
        "", "never", "06 Nov 1994", "08:49:37 06 Nov", "06 Nov 1994 24:00:00", "06 Nov 1994 08:60:00",
        "06 Nov 1994 08:49:61", "32 Nov 1994 08:49:37", "29 Feb 2030 08:49:37", "29 Feb 2300 08:49:37",
        "00 Nov 1994 08:49:37", "06 Nov 1600 08:49:37", "006 Nov 1994 08:49:37", "06 Nov 19945 08:49:37",
        "06 Nop 1994 08:49:37", "06 Nov 1994 8:49", "06 Nov 1994 008:49:37",
    ])
    func `a date with a part missing or impossible is none`(text: String) {
        #expect(CookieDate.parse(text) == nil)
    }

    @Test(arguments: [
        ("a=b", "a", "b"), (" a \t= b ; Path=/", "a", "b"), ("a=", "a", ""), ("a=b=c", "a", "b=c"),
        ("a=\"b c\"", "a", "\"b c\""), ("a=b,c=d", "a", "b,c=d"), ("a b=c", "a b", "c"),
    ])
    func `a name ends at the first equals sign, and a value at the first semicolon`(
        text: String, name: String, value: String
    ) throws {
        let field = try #require(SetCookieField(text))
        #expect(field.name == name && field.value == value)
    }

    @Test(arguments: [
        "", ";", "a", "=b", " =b", "a\u{1}=b", "a=b\u{7f}", "a=b\n; Path=/", "a=" + String(repeating: "x", count: 4096),
    ])
    func `what has no name, is too long or has control characters is no cookie`(text: String) {
        #expect(SetCookieField(text) == nil)
    }

    @Test func `attributes are read whatever their case, and the last of several counts`() throws {
        let field = try #require(
            SetCookieField("a=b; DOMAIN=.Example.ORG; pAth=/x; path = /y ;secure; HttpOnly=; Max-Age=1; max-age=-20"))
        #expect(field.domain == "example.org" && field.path == "/y" && field.maximumAge == -20)
        #expect(field.isSecure && field.isHTTPOnly && field.expires == nil)
    }

    @Test func `attributes that cannot be read are as if they were missing`() throws {
        let field = try #require(
            SetCookieField(
                "a=b; Max-Age=x1; Max-Age=; Max-Age=1.5; Expires=soon; Domain=; Path=x; SameSite=None; =; Extra"))
        #expect(field == SetCookieField("a=b"))
        let long = try #require(SetCookieField("a=b; Path=/" + String(repeating: "x", count: 1024)))
        #expect(long.path == nil)
        #expect(SetCookieField("a=b; Path=/x; Path=y")?.path == nil)
        #expect(SetCookieField("a=b; Max-Age=99999999999999999999")?.maximumAge == .max)
        #expect(SetCookieField("a=b; Max-Age=-99999999999999999999")?.maximumAge == .min)
    }

    @Test(arguments: [
        ("/", "/"), ("", "/"), ("x", "/"), ("/a", "/"), ("/a/", "/a"), ("/a/b", "/a"), ("/a/b/c.d", "/a/b"),
    ])
    func `a cookie without a path has that of its URL, up to the last slash`(path: String, expected: String) {
        #expect(CookieOrigin(host: "example.org", path: path).defaultPath == expected)
    }

    @Test(arguments: [
        ("/", "/", true), ("/a", "/", true), ("/a", "/a", true), ("/a/b", "/a", true), ("/a/b", "/a/", true),
        ("/ab", "/a", false), ("/", "/a", false), ("/a", "/a/", false), ("/A", "/a", false),
        ("/a\u{301}/x", "/a", false), ("/a\u{301}/x", "/a\u{301}", true),
    ])
    func `a path covers what is below it`(path: String, cookie: String, expected: Bool) {
        #expect(CookieOrigin(host: "example.org", path: path).isBelow(path: cookie) == expected)
    }

    @Test(arguments: [
        ("example.org", "example.org", true), ("www.example.org", "example.org", true),
        ("example.org", "www.example.org", false), ("badexample.org", "example.org", false),
        ("example.org", "", false), ("example.org", "org", true),
    ])
    func `a domain covers the hosts below it`(host: String, domain: String, expected: Bool) {
        #expect(CookieOrigin(host: host).isWithin(domain: domain) == expected)
    }

    @Test func `an address has no domain but itself`() {
        let origin = CookieOrigin(host: "192.0.2.1", isAddress: true)
        #expect(origin.isWithin(domain: "192.0.2.1") && !origin.isWithin(domain: "2.1"))
    }

    @Test(arguments: [
        ("com", true), ("co.uk", true), ("github.io", true), ("example", true), ("localhost", true),
        ("example.org", false), ("example.co.uk", false), ("me.github.io", false), ("a.b.example.org", false),
    ])
    func `libpsl's list says which domains are public suffixes`(domain: String, isPublic: Bool) {
        #expect(PublicSuffixes.answer(domain) == (isPublic ? .isPublic : .isPrivate))
    }
}
