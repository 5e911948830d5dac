import ReachCore
import Testing

@Suite struct ProxyExclusionListTests {
    @Test(
        arguments: [
            ("", "a.example", 80, false), ("*", "a.example", 80, true), ("*", "192.0.2.1", 80, true),
            ("example.net", "example.net", 80, true), ("example.net", "a.example.net", 80, true),
            ("example.net", "a.example.net.", 80, true), ("example.net", "badexample.net", 80, false),
            ("example.net", "example.org", 80, false), ("..EXAMPLE.net.", "a.example.net", 80, true),
            ("example.net:8080", "example.net", 8080, true), ("example.net:8080", "example.net", 80, false),
            ("example.net:x", "example.net", 80, false), ("example.net/x", "example.net/x", 80, false),
            ("a.example example.net\tb.example,c.example", "c.example", 80, true),
            ("a.example example.net\tb.example,c.example", "b.example", 80, true),
            ("192.0.2.1", "192.0.2.1", 80, true), ("192.0.2.1", "192.0.2.2", 80, false),
            ("192.0.2.1:81", "192.0.2.1", 81, true), ("192.0.2.1:81", "192.0.2.1", 80, false),
            ("192.0.2.0/24", "192.0.2.255", 80, true), ("192.0.2.0/24", "192.0.3.0", 80, false),
            ("[2001:db8::1]:81", "2001:db8::1", 81, true), ("[2001:db8::1]:81", "2001:db8::1", 80, false),
            ("[2001:db8::1]", "2001:db8::1", 80, true), ("2001:db8::1", "2001:db8::1", 80, true),
            ("2001:db8::/32", "2001:db8:1::1", 80, true), ("2001:db8::/32", "2001:db9::1", 80, false),
            // A domain is no address, and an address is below no domain.
            ("2.1", "192.0.2.1", 80, false), (".", "a.example", 80, false),
        ] as [(String, String, UInt16, Bool)])
    func `a host is reached without a proxy where the list says so, and nowhere else`(
        list: String, host: String, port: UInt16, isContained: Bool
    ) {
        #expect(ProxyExclusionList(list).contain(host, port: port) == isContained)
    }
}
