import ReachProbe
import Testing

@Suite struct ConnectivityEndpointTests {
    @Test(arguments: [
        ("http://check.example.net/generate_204", "check.example.net", 80, "/generate_204", false),
        ("HTTPS://check.example.net", "check.example.net", 443, "/", true),
        ("http://check.example.net:8080?now", "check.example.net", 8080, "/?now", false),
        ("http://check.example.net/a?b#c", "check.example.net", 80, "/a?b", false),
        ("http://192.0.2.7/", "192.0.2.7", 80, "/", false),
        ("https://[2001:db8::7]:8443/x", "2001:db8::7", 8443, "/x", true),
        ("http://[2001:db8::7]", "2001:db8::7", 80, "/", false),
    ])
    func `an endpoint is parsed`(url: String, host: String, port: UInt16, path: String, isSecure: Bool) throws {
        let endpoint = try #require(ConnectivityEndpoint(url))
        #expect(endpoint.host == host)
        #expect(endpoint.port == port)
        #expect(endpoint.path == path)
        #expect(endpoint.isSecure == isSecure)
        #expect(endpoint.url == url)
    }

    @Test func `letters outside ASCII are sent, and shown as a portal's address, as browsers send them`() throws {
        let endpoint = try #require(ConnectivityEndpoint("https://Über.example:8443/ü?x"))
        #expect(endpoint.host == "xn--ber-goa.example" && endpoint.path == "/%C3%BC?x")
        #expect(endpoint.url == "https://xn--ber-goa.example:8443/%C3%BC?x")
    }

    @Test(arguments: [
        "", "check.example.net", "http:/x", "http://", "ftp://check.example.net/", "file:///etc/passwd",
        "http://user@check.example.net/", "http://user:word@check.example.net/", "http://check.example.net:0/",
        "http://check.example.net:65536/", "http://check.example.net:8o/", "http://check example.net/",
        "http://[2001:db8::7/", "http://[2001:db8::7]8/", "http://[fe80::1%25eth0]/", "http://-/",
        "http://check.example.net/\u{7}", "http://über℀.example/", "http://check.example.net/\u{85}",
        "http://\(String(repeating: "a", count: 2000)).example/",
    ])
    func `anything but an absolute http or https URL is refused`(url: String) {
        #expect(ConnectivityEndpoint(url) == nil)
    }
}
