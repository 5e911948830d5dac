import Foundation
import ReachCore
import ReachSerialization
import ReachTesting
import Testing

@Suite struct WebAddressTests {
    @Test(arguments: [
        "http://example.com", "https://example.com/", "http://example.com:8080/a/b?c=d#e", "http://[2001:db8::1]:80/",
        "http://user:secret@example.com/", "http://192.0.2.1?x", "http://example.com/%C3%A4?%20",
        "ftp://example.com/a;b=c",
        "http://example.com?", "http://example.com/#", "http://[fe80::1%25eth0]/", "http://a_b.example/!$&'()*+,;=:@",
        "http://example.com//double//", "http://example.com/?a=b?c/d",
    ])
    func `a URL is kept as it was written`(text: String) throws {
        #expect(try WebAddress(text).description == text)
    }

    @Test(arguments: [
        ("http://a/[b] {c}", "http://a/%5Bb%5D%20%7Bc%7D"), ("http://a/ä?x=\"ö\"", "http://a/%C3%A4?x=%22%C3%B6%22"),
        ("http://a/\u{1f600}#|", "http://a/%F0%9F%98%80#%7C"),
    ])
    func `characters that browsers escape are escaped`(text: String, expected: String) throws {
        #expect(try WebAddress(text).description == expected)
        let reference = String(text.dropFirst("http://a/".count))
        #expect(try WebAddress("http://a/").resolving(reference).description == expected)
    }

    @Test(arguments: 0..<5)
    func `a reader that remembers the last server reads the same`(seed: UInt64) throws {
        let pieces = [
            "http://", "https://", "HTTP://", "a", "/", "/.", "..", "?", "#", ":80", "user:secret@", "example", "%41",
            "=",
            "%", " ", "[::1]", "é", "\\", "!", "\n",
        ]
        var generator = SeededGenerator(seed: seed)
        var reader = WebAddressReader()
        for _ in 0..<5000 {
            var text = Bool.random(using: &generator) ? "http://a.example" : "HTTPS://192.0.2.1:8080"
            if Int.random(in: 0..<8, using: &generator) == 0 { text = "" }
            for _ in 0..<Int.random(in: 0...5, using: &generator) {
                text += pieces[Int.random(in: 0..<pieces.count, using: &generator)]
            }
            func read(_ make: () throws(WebAddressError) -> WebAddress) -> Result<WebAddress, WebAddressError> {
                Result { () throws(WebAddressError) in try make() }
            }
            let known = read { () throws(WebAddressError) in try WebAddress(text) }
            let again = read { () throws(WebAddressError) in try reader.read(text) }
            #expect(again == known, "\(text)")
            // What is read in short is written as what is read at length.
            #expect((try? again.get())?.description == (try? known.get())?.description, "\(text)")
        }
    }

    @Test func `a URL is split into components`() throws {
        let address = try WebAddress("HTTP://user@Example.com:8080/a/b?c=d#e")
        #expect(address.scheme == "http" && address.userInformation == "user" && address.host == "Example.com")
        #expect(address.port == 8080 && address.path == "/a/b" && address.query == "c=d" && address.fragment == "e")
        #expect(address.requestTarget == "/a/b?c=d")
        #expect(try WebAddress("http://example.com:").port == nil)
        let international = try WebAddress("https://München.example/ü")
        #expect(international.host == "xn--mnchen-3ya.example")
        #expect(international.description == "https://xn--mnchen-3ya.example/%C3%BC")
        #expect(try international.resolving("//STRASSE.example/").host == "STRASSE.example")
        #expect(try international.resolving("//straße.example/").host == "xn--strae-oqa.example")
        #expect(try WebAddress("http://example.com?").query?.isEmpty == true)
        #expect(try WebAddress("http://example.com?x").requestTarget == "/?x")
    }

    @Test(arguments: [
        ("", WebAddressError.Fault.noScheme, 0), ("example.com/a", .noScheme, 0), ("//example.com", .noScheme, 0),
        ("1http://a", .badScheme, 0), ("h_t://a", .badScheme, 0), ("http:", .noHost, 5), ("http:///a", .noHost, 7),
        ("mailto:a@example.com", .noHost, 7), ("http://:80/", .noHost, 7), ("http://a:65536/", .badPort, 9),
        ("http://a:x/", .badPort, 9), ("http://a:-1/", .badPort, 9), ("http://[::1/", .badHost, 7),
        ("http://::1/", .badHost, 7), ("http://[1.2.3.4]/", .badHost, 7), ("http://[::g]/", .badHost, 7),
        ("http://a b/", .badCharacter(" "), 8), ("http://a/%", .badEscape, 9),
        ("http://a/%4", .badEscape, 9), ("http://a/%zz", .badEscape, 9), ("http://a/\n", .badCharacter("\n"), 9),
        ("http://-ä/", .internationalHost, 8),
        ("http://a/#b#c", .badCharacter("#"), 11),
        ("http://a@b@c/", .badHost, 7),
        ("http://a\\b/", .badCharacter("\\"), 8),

    ])
    func `an invalid URL is rejected with its position`(text: String, fault: WebAddressError.Fault, offset: Int) {
        let error = #expect(throws: WebAddressError.self) { try WebAddress(text) }
        #expect(error?.fault == fault && error?.offset == offset)
    }

    /// The normal and abnormal examples of RFC 3986, section 5.4.
    @Test(arguments: [
        ("g", "http://a/b/c/g"), ("./g", "http://a/b/c/g"), ("g/", "http://a/b/c/g/"), ("/g", "http://a/g"),
        ("//g", "http://g"), ("?y", "http://a/b/c/d;p?y"), ("g?y", "http://a/b/c/g?y"), ("#s", "http://a/b/c/d;p?q#s"),
        ("g#s", "http://a/b/c/g#s"), ("g?y#s", "http://a/b/c/g?y#s"), (";x", "http://a/b/c/;x"),
        ("g;x", "http://a/b/c/g;x"), ("g;x?y#s", "http://a/b/c/g;x?y#s"), ("", "http://a/b/c/d;p?q"),
        (".", "http://a/b/c/"), ("./", "http://a/b/c/"), ("..", "http://a/b/"), ("../", "http://a/b/"),
        ("../g", "http://a/b/g"), ("../..", "http://a/"), ("../../", "http://a/"), ("../../g", "http://a/g"),
        ("../../../g", "http://a/g"), ("../../../../g", "http://a/g"), ("/./g", "http://a/g"), ("/../g", "http://a/g"),
        ("g.", "http://a/b/c/g."), (".g", "http://a/b/c/.g"), ("g..", "http://a/b/c/g.."), ("..g", "http://a/b/c/..g"),
        ("./../g", "http://a/b/g"), ("./g/.", "http://a/b/c/g/"), ("g/./h", "http://a/b/c/g/h"),
        ("g/../h", "http://a/b/c/h"), ("g;x=1/./y", "http://a/b/c/g;x=1/y"), ("g;x=1/../y", "http://a/b/c/y"),
        ("g?y/./x", "http://a/b/c/g?y/./x"), ("g?y/../x", "http://a/b/c/g?y/../x"), ("g#s/./x", "http://a/b/c/g#s/./x"),
        ("https://b/c", "https://b/c"),
    ])
    func `references are resolved as in RFC 3986`(reference: String, whole: String) throws {
        #expect(try WebAddress("http://a/b/c/d;p?q").resolving(reference).description == whole)
    }

    /// The examples of AFHTTPSessionManager.h, except `foo/`, which is an error there: its NSURL keeps the slash.
    @Test(arguments: [
        ("http://example.com/v1/", "foo", "http://example.com/v1/foo"),
        ("http://example.com/v1/", "foo?bar=baz", "http://example.com/v1/foo?bar=baz"),
        ("http://example.com/v1/", "/foo", "http://example.com/foo"),
        ("http://example.com/v1/", "foo/", "http://example.com/v1/foo/"),
        ("http://example.com/v1/", "/foo/", "http://example.com/foo/"),
        ("http://example.com/v1/", "http://example2.com/", "http://example2.com/"),
        ("http://example.com/v1", "foo", "http://example.com/v1/foo"),
        ("http://example.com", "foo", "http://example.com/foo"), ("http://example.com", "", "http://example.com"),
        ("http://example.com/v1?a=b", "foo", "http://example.com/v1/foo"),
        ("http://example.com/v1?a=b", "", "http://example.com/v1/?a=b"),
    ])
    func `a base resolves references as in AFHTTPSessionManager`(base: String, reference: String, whole: String) throws
    {
        let request = try FormRequestSerializer().request("GET", reference, base: try WebAddress(base))
        #expect(request.url.description == whole)
    }

    @Test(arguments: [
        "foo", "foo?bar=baz", "/foo", "foo/", "/foo/", "http://example2.com/", "../up", "./a/../b", "?q=1", "#f",
        "a/b;c?d#e",
        "//other.example/x", "..", ".", "a//b",
    ])
    func `a reference is resolved as Foundation's URL resolves it`(reference: String) throws {
        let base = "http://example.com/v1/items/7?x=y"
        let expected = try #require(URL(string: reference, relativeTo: URL(string: base))).absoluteString
        #expect(try WebAddress(base).resolving(reference).description == expected)
    }

    @Test(arguments: [("mailto:x", 7), ("http:g", 5), ("b\tc", 1)])
    func `an invalid reference is rejected`(reference: String, offset: Int) throws {
        let base = try WebAddress("http://a/")
        let error = #expect(throws: WebAddressError.self) { try base.resolving(reference) }
        #expect(error?.offset == offset)
    }

    @Test(arguments: [
        ("http://a", "k=v", "http://a?k=v"), ("http://a/?", "k=v", "http://a/?k=v"),
        ("http://a/?x", "k=v", "http://a/?x&k=v"),
        ("http://a/?x#f", "k=v", "http://a/?x&k=v#f"), ("http://a/", "", "http://a/"),
        ("http://a/?x", "", "http://a/?x"),
    ])
    func `a query is appended to an existing one`(address: String, query: String, whole: String) throws {
        #expect(try WebAddress(address).appendingQuery(query).description == whole)
    }
}
