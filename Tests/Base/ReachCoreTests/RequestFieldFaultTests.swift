import ReachCore
import Testing

/// Which headers a caller may send.
struct RequestFieldFaultTests {
    @Test(
        arguments: [
            "Content-Length", "content-length", "CONTENT-LENGTH", "Transfer-Encoding", "transfer-encoding",
            "Connection",
            "Keep-Alive", "Upgrade", "HTTP2-Settings", "http2-settings", "TE", "te", "Trailer", "Expect",
            "Proxy-Authorization", "Proxy-Connection",
            "proxy-anything",
        ], ["", "3", "xchunked", "close"])
    func `a header of the connection is refused, in any case and with any value`(name: String, value: String) {
        let fault = RequestFieldFault(name, value)
        #expect(fault?.name == name)
        #expect(fault?.description.contains("'\(name)' may not be set") == true)
    }

    @Test(arguments: [
        ("Accept", "*/*"), ("Authorization", "Bearer x"), ("Cookie", "a=b"), ("X-Content-Length", "3"),
        ("Content-Type", "text/plain"), ("Content-Encoding", "gzip"), ("Range", "bytes=0-1"), ("Proxy", "x"),
        ("Trailers", "x"), ("X", ""), ("X", "a\tb"), ("X", "gr\u{fc}n"), ("If-Match", "\"a\""),
        ("Host", "example.net"), ("host", "example.net:8080"), ("Host", "192.0.2.1:80"), ("Host", "[2001:db8::1]"),
        ("HOST", "[2001:db8::1]:443"), ("Host", "a%20b"), ("Host", "a_b"), ("Host", "example.net:"),
    ])
    func `a header of the request is sent`(name: String, value: String) {
        #expect(RequestFieldFault(name, value) == nil)
    }

    @Test(arguments: [
        "", " ", "a b", "user@example.net", "a/b", "a?b", "a#b", "a:b", "a:99999", "a:-1", "a:1:2", ":80", "a%2",
        "a%zz",
        "[2001:db8::1", "2001:db8::1", "[192.0.2.1]", "[]", "[::1]x", "a\\b", "a,b c", "\u{fc}.example", "a\"b", "a<b",
    ])
    func `an invalid host is refused`(value: String) {
        #expect(RequestFieldFault("Host", value)?.description.contains("'Host'") == true, "\(value)")
    }

    @Test(arguments: ["", "a b", "a:", "a\n", "a\r", "(x)", "\u{fc}", "a\0", " a", "Content-Length "])
    func `a name is a token`(name: String) {
        #expect(RequestFieldFault(name, "x") != nil)
    }

    @Test(arguments: ["a\r\nb", "\n", "\r", "a\0b", "\u{1}", "\u{7f}", "\u{1b}[0m", "\u{b}"])
    func `a value has no control characters`(value: String) {
        #expect(RequestFieldFault("X", value) != nil)
    }

    @Test func `the first of several is named, and a host may be given once`() {
        func first(_ fields: KeyValuePairs<String, String>) -> RequestFieldFault? {
            RequestFieldFault.first(in: fields.map { HeaderField($0.key, $0.value) })
        }
        #expect(first(["A": "b", "host": "a.example", "C": "d"]) == nil)
        #expect(first(["A": "b", "TE": "x", "Upgrade": "y"])?.name == "TE")
        let twice = first(["Host": "a.example", "HOST": "a.example"])
        #expect(twice?.description == "the header 'HOST' is given more than once")
    }

    @Test func `a name in a message is cut short, and safe to print`() {
        let fault = RequestFieldFault("\u{1b}[31m" + String(repeating: "a", count: 1000), "x")
        #expect(fault.map { !$0.description.contains("\u{1b}") && $0.description.count < 200 } == true)
    }
}
