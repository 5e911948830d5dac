import ReachCore
import Testing

@Suite struct PublicNameTests {
    @Test(arguments: ["check.example.net", "example.net.", "CHECK.EXAMPLE.NET", "localhost.example.net"])
    func `a name in the public DNS is public`(name: String) { #expect(PublicName.isPublic(name)) }

    @Test(arguments: [
        "localhost", "router", "check.local", "check.LAN", "check.internal.", "check.home.arpa", "192.0.2.1",
        "2001:db8::1", "check.corp", "",
    ])
    func `an address, a single label and a name in a private zone are not public`(name: String) {
        #expect(!PublicName.isPublic(name))
    }

    @Test(arguments: [
        "10.1.2.3", "172.16.0.1", "172.31.255.255", "192.168.1.1", "127.0.0.53", "169.254.1.1", "100.64.0.1",
        "0.0.0.0", "224.0.0.1", "255.255.255.255", "::", "::1", "fe80::1", "fd00::1", "fc00::1", "ff02::1",
        "::ffff:192.0.2.1", "64:ff9b::10.0.0.1", "2002:c0a8:101::1",
    ])
    func `a private address cannot be the answer for a public name`(text: String) throws {
        #expect(PublicName.isPrivate(try #require(IPAddress(text))))
    }

    @Test(arguments: [
        "192.0.2.1", "198.51.100.1", "9.9.9.9", "172.32.0.1", "100.128.0.1", "2001:db8::1", "64:ff9b::102:304",
    ])
    func `another address can be`(text: String) throws { #expect(!PublicName.isPrivate(try #require(IPAddress(text)))) }

    @Test func `an address of the link's own network cannot be the answer for a public name`() throws {
        let subnets = [try #require(IPPrefix("198.51.100.0/24")), try #require(IPPrefix("2001:db8:1::/64"))]
        #expect(PublicName.isPrivate(try #require(IPAddress("198.51.100.1")), subnets: subnets))
        #expect(PublicName.isPrivate(try #require(IPAddress("2001:db8:1::9")), subnets: subnets))
        #expect(!PublicName.isPrivate(try #require(IPAddress("203.0.113.1")), subnets: subnets))
    }
}
