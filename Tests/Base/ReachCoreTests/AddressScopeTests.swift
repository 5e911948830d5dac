import Testing

@testable import ReachCore

/// How far addresses are valid.
@Suite struct AddressScopeTests {
    @Test(arguments: [
        (
            AddressScope.nowhere,
            [
                "0.0.0.0", "0.1.2.3", "127.0.0.1", "127.255.255.255", "224.0.0.1", "239.1.2.3", "240.0.0.1",
                "255.255.255.255", "::", "::1", "::127.0.0.1", "::ffff:127.0.0.1", "::ffff:169.254.169.254",
                "::ffff:192.0.2.1", "::ffff:0:127.0.0.1", "64:ff9b::127.0.0.1", "64:ff9b::", "2002:7f00:1::1",
                // A client of Teredo has its bits turned over.
                "2001:0:c000:201::80ff:fffe", "100::1", "100:0:0:1::1", "2001:10::1", "ff02::1", "ff0e::1",
            ]
        ),
        (.link, ["169.254.169.254", "fe80::1", "febf::1", "64:ff9b::169.254.169.254", "2002:a9fe:a9fe::"]),
        (
            .site,
            [
                "10.255.255.255", "172.16.0.1", "172.31.255.255", "192.168.1.1", "192.0.0.1", "192.0.0.8",
                "192.0.0.170",
                "fc00::1", "fd00::1", "fec0::1", "64:ff9b::10.0.0.1", "2002:c0a8:101::1", "64:ff9b:1::1", "5f00::1",
            ]
        ),
        (.provider, ["100.64.0.1", "100.127.255.255", "64:ff9b::100.64.0.1"]),
        (
            .internet,
            [
                "1.0.0.1", "9.9.9.9", "100.63.255.255", "100.128.0.1", "126.255.255.255", "128.0.0.1", "169.253.0.1",
                "172.15.0.1", "172.32.0.1", "192.0.0.9", "192.0.0.10", "192.0.1.1", "192.0.2.1", "192.88.99.1",
                "192.167.0.1", "198.18.0.1", "198.51.100.1", "203.0.113.1", "223.255.255.255", "2001:1::1",
                "2001:db8::1", "2001:200::1", "2001:3::1", "2606::1", "3fff::1", "64:ff9b::192.0.2.1",
                "2002:c000:201::1",
                "::1:0:0:0", "101::1",
            ]
        ),
    ])
    func `an address goes as far as the most specific entry says`(scope: AddressScope, texts: [String]) throws {
        for text in texts { #expect(try #require(IPAddress(text)).scope == scope, "\(text)") }
    }

    @Test func `every prefix is listed once, and every one that ends before the Internet is given to the kernel`() {
        let prefixes = SpecialPurpose.entries.map(\.prefix)
        #expect(Set(prefixes).count == prefixes.count)
        #expect(IPPrefix.special(.ipv4).count == 10)
        #expect(IPPrefix.special(.ipv6).count == 11)
        for family in IPAddress.Family.allCases {
            for prefix in IPPrefix.special(family) { #expect(prefix.address.scope < .internet, "\(prefix)") }
        }
    }
}
