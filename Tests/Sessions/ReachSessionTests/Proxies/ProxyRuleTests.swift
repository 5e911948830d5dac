import ReachCore
import ReachSession
import ReachTesting
import ReachTransfer
import Testing

/// Which proxy a URL has.
@Suite struct ProxyRuleTests {
    @Test(arguments: [
        ("proxy.example", "http://proxy.example:1080"), ("http://proxy.example:3128/", "http://proxy.example:3128"),
        ("http://user:p%40ss@192.0.2.1:8080", "http://192.0.2.1:8080"),
        ("socks5://[2001:db8::1]", "socks5://[2001:db8::1]:1080"),
        ("SOCKS5H://Proxy.Example:9050", "socks5h://proxy.example:9050"),
    ])
    func `a proxy is shown without its password`(text: String, expected: String) throws {
        #expect(try Proxy(text).description == expected)
    }

    @Test(arguments: ["https://proxy.example", "socks4://proxy.example", "ftp://x", "http://", "http://x:0", "a b", ""])
    func `a proxy that cannot be used is refused, without its password in the message`(text: String) async {
        #expect(await failure { _ = try Proxy(text) } == "request bad-proxy")
        do {
            _ = try Proxy("https://user:secret@x")
        } catch {
            #expect(!error.description.contains("secret"))
        }
    }

    private static func proxies(_ variables: [String: String]) throws -> [String] {
        let settings = try ProxySettings(variables: variables)
        return [settings.http?.description ?? "-", settings.https?.description ?? "-"]
    }

    @Test(
        arguments: [
            ([:], ["-", "-"]),
            (["http_proxy": "a:1", "https_proxy": "b:2"], ["http://a:1", "http://b:2"]),
            (["HTTP_PROXY": "a:1", "HTTPS_PROXY": "b:2"], ["-", "http://b:2"]),
            (["https_proxy": "a:1", "HTTPS_PROXY": "b:2"], ["-", "http://a:1"]),
            (["all_proxy": "socks5h://a:1"], ["socks5h://a:1", "socks5h://a:1"]),
            (["ALL_PROXY": "a:1", "https_proxy": "b:2"], ["http://a:1", "http://b:2"]),
            (["all_proxy": "a:1", "http_proxy": ""], ["-", "http://a:1"]),
        ] as [([String: String], [String])])
    func `the environment is read by curl's rules`(variables: [String: String], expected: [String]) throws {
        #expect(try Self.proxies(variables) == expected)
    }

    @Test func `a proxy of the environment that cannot be used is an error`() async {
        #expect(await failure { _ = try ProxySettings(variables: ["http_proxy": "ftp://x"]) } == "request bad-proxy")
    }

    @Test(arguments: [
        ("*", "example.org", true), ("", "example.org", false), ("example.org", "example.org", true),
        ("example.org", "www.example.org", true), (".example.org", "www.example.org", true),
        (".example.org", "example.org", true), ("example.org.", "example.org", true),
        ("Example.ORG", "example.org", true),
        ("example.org", "badexample.org", false), ("example.org", "example.org.", true), ("org", "example.org", true),
        ("a.example, example.org", "example.org", true), ("a.example example.org", "example.org", true),
        ("example.org:443", "example.org", true), ("example.org:80", "example.org", false),
        ("example.org:x", "example.org", false), ("*.example.org", "www.example.org", false),
        ("192.0.2.1", "192.0.2.1", true), ("192.0.2.1:443", "192.0.2.1", true), ("192.0.2.1:80", "192.0.2.1", false),
        ("192.0.2.0/24", "192.0.2.9", true), ("192.0.2.0/24", "192.0.3.9", false), ("2.1", "192.0.2.1", false),
        ("192.0.2.0/24", "192.0.2.9.example", false), ("2001:db8::/32", "2001:db8::1", true),
        ("2001:db8::1", "2001:db8::1", true), ("[2001:db8::1]", "2001:db8::1", true),
        ("[2001:db8::1]:443", "2001:db8::1", true), ("[2001:db8::1]:80", "2001:db8::1", false),
        ("2001:DB8:0::1", "2001:db8::1", true), ("0.0.0.0/0", "2001:db8::1", false),
        ("192.0.2.0/33", "192.0.2.9", false),
    ])
    func `exceptions name domains, addresses, blocks and ports`(list: String, host: String, expected: Bool) {
        #expect(ProxyExceptions(list).contain(host, port: 443) == expected)
    }

    @Test func `a URL's scheme chooses its proxy`() throws {
        var settings = ProxySettings(http: try Proxy("a:1"), exceptions: ProxyExceptions("near.example"))
        let urls = try ["http://far.example/", "https://far.example/", "http://near.example/"].map {
            try TransferURL($0)
        }
        let a = TransferProxy.explicit(try TransferURL(proxy: "http://a:1"))
        let none = TransferProxy.none
        #expect(urls.map(settings.proxy) == [a, none, none])
        settings.https = try Proxy("socks5h://b:2")
        #expect(settings.proxy(for: urls[1]) == .explicit(try TransferURL(proxy: "socks5h://b:2")))
        #expect(urls.map(ProxySettings.none.proxy) == [none, none, none])
    }
}
