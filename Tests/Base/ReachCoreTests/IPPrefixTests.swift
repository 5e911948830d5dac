import ReachCore
import Testing

@Suite struct IPPrefixTests {
    @Test(arguments: [
        ("192.0.2.0/24", "192.0.2.0/24"), ("192.0.2.77/24", "192.0.2.0/24"), ("0.0.0.0/0", "0.0.0.0/0"),
        ("255.255.255.255/0", "0.0.0.0/0"), ("10.1.2.3/32", "10.1.2.3/32"), ("2001:db8::1/32", "2001:db8::/32"),
        ("::/0", "::/0"), ("::1/128", "::1/128"), ("2001:db8:ffff::/33", "2001:db8:8000::/33"),
    ])
    func `a prefix is read, and the bits after its length are cleared`(text: String, written: String) {
        #expect(IPPrefix(text)?.description == written)
    }

    @Test(arguments: [
        "192.0.2.0", "192.0.2.0/", "/24", "/", "", "192.0.2.0/33", "::/129", "192.0.2.0/-1", "192.0.2.0/+8",
        "192.0.2.0/24/24", "192.0.2.0/ 24", "192.0.2.0/255.255.255.0", "192.0.2/24", "::/99999999999999999999",
        "192.0.2.0/٢٤",
    ])
    func `anything else is no prefix`(text: String) {
        #expect(IPPrefix(text) == nil)
    }

    @Test func `exactly the addresses of each block lie in it`() throws {
        let blocks = ["127.0.0.0/8", "10.0.0.0/24", "192.168.0.0/20", "::1/128", "fe80::/64"]
        let members: [[String]] = [
            ["127.0.0.1", "127.0.0.2", "127.255.255.255"], ["10.0.0.0", "10.0.0.1", "10.0.0.255"],
            ["192.168.0.0", "192.168.15.255"], ["::1"], ["fe80::", "fe80::ffff:ffff:ffff:ffff"],
        ]
        let strangers = [
            "128.0.0.1", "10.0.1.0", "192.168.16.0", "::2", "fe80:0:0:1::", "0.0.0.1", "::", "255.255.255.255",
        ]
        for (index, text) in blocks.enumerated() {
            let block = try #require(IPPrefix(text))
            for (other, group) in members.enumerated() {
                for member in group {
                    #expect(block.contains(try #require(IPAddress(member))) == (index == other), "\(member) in \(text)")
                }
            }
            for stranger in strangers { #expect(!block.contains(try #require(IPAddress(stranger)))) }
        }
    }

    @Test(arguments: [
        ("192.0.2.0/24", "192.0.2.1"), ("192.0.2.5/32", "192.0.2.5"), ("192.0.2.4/31", "192.0.2.4"),
        ("192.0.2.4/30", "192.0.2.5"), ("0.0.0.0/0", "0.0.0.1"), ("2001:db8::/64", "2001:db8::1"),
        ("2001:db8::5/128", "2001:db8::5"), ("2001:db8::4/127", "2001:db8::4"), ("::/0", "::1"),
    ])
    func `a block is represented by its first host`(text: String, host: String) {
        #expect(IPPrefix(text)?.representative.description == host)
    }

    @Test func `no prefix is longer than an address of its family`() {
        #expect(IPPrefix(IPAddress(ipv4: 0), length: 33) == nil)
        #expect(IPPrefix(IPAddress(ipv6: 0, 0), length: 33)?.length == 33)
        #expect(IPPrefix(IPAddress(ipv6: 0, 0), length: 129) == nil)
        #expect(IPPrefix(IPAddress(ipv4: 0), length: -1) == nil)
    }
}
