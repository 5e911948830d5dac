import ReachCore
import Testing

@testable import ReachQueue

@Suite struct RequestProxyTests {
    @Test(arguments: [
        ("http://Proxy.example.org:3128", "http://proxy.example.org:3128"),
        ("proxy.example.org", "http://proxy.example.org:1080"),
        ("socks5h://[2001:db8::1]:1081", "socks5h://[2001:db8::1]:1081"), ("none", "none"), ("", "none"),
    ])
    func `a proxy is read as curl reads it`(text: String, expected: String) throws {
        #expect(try RequestProxy(text).text == expected)
    }

    @Test(arguments: [
        "http://u:secret@p.example.org:1", "https://p.example.org", "ftp://p.example.org:1", "http://", "http://p:0",
    ])
    func `what cannot be used is refused, and no password is repeated`(text: String) {
        let error = #expect(throws: RequestValidationError.self) { try RequestProxy(text) }
        #expect(error?.field == .proxy && error?.description.contains("secret") == false)
    }

    @Test func `a destination by a proxy is another one, and comes back from its text`() throws {
        var request = try RequestSpecification(url: "https://shop.example.org/x")
        let direct = request.destination
        request.proxy = try RequestProxy("http://192.0.2.9:3128")
        #expect(request.destination != direct && request.destination.origin == direct.origin)
        #expect(request.destination.isSecure && request.destination.target?.subject == .name("shop.example.org"))
        #expect(request.destination.isAddress, "the proxy's address is known")
        let stored = Destination(stored: request.destination.description)
        #expect(stored.proxy == .server("http://192.0.2.9:3128") && stored == request.destination)
        request.proxy = .none
        #expect(request.destination.proxy == .none && request.destination.description.hasSuffix(" by none"))
        request.proxy = .usual
        #expect(request.destination == direct)
    }
}
