import ReachCore
import Testing

@testable import ReachTransfer

@Suite struct TransferProxiesTests {
    @Test(arguments: [
        ("http://shop.example.org/", "http://192.0.2.9:3128/"),
        ("https://shop.example.org/", "http://192.0.2.10:8080/"),
        ("https://intra.example.net/", nil), ("http://127.0.0.1/", nil), ("http://localhost:8080/", nil),
        ("http://[::1]/", nil),
        ("http://198.51.100.7/", nil),
    ])
    func `each scheme has its proxy, and neither exceptions nor this machine have one`(url: String, proxy: String?)
        throws
    {
        let proxies = TransferProxies(
            http: try TransferURL(proxy: "http://192.0.2.9:3128"),
            https: try TransferURL(proxy: "http://192.0.2.10:8080"),
            exceptions: ProxyExclusionList("example.net,198.51.100.0/24"))
        #expect(proxies.proxy(for: try TransferURL(url)).url?.description == proxy)
    }
}
