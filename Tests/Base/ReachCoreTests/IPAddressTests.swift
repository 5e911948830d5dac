import ReachCore
import Testing

@Suite struct IPAddressTests {
    @Test(arguments: ["0.0.0.0", "192.0.2.1", "255.255.255.255", "::", "2001:db8::1", "fe80::ff:fe00:1", "ffff::ffff"])
    func `an address comes back from its bytes`(text: String) throws {
        let address = try #require(IPAddress(text))
        #expect(address.bytes.count == address.family.bitCount / 8)
        #expect(IPAddress(bytes: address.bytes) == address)
    }

    @Test func `bytes are in network order`() {
        #expect(IPAddress(ipv4: 0xc000_0201).bytes == [192, 0, 2, 1])
        #expect(
            IPAddress(ipv6: 0x2001_0db8_0000_0000, 0x1234).bytes
                == [0x20, 1, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x12, 0x34])
    }

    @Test(arguments: [0, 1, 3, 5, 8, 15, 17, 32])
    func `no address has another number of bytes`(count: Int) {
        #expect(IPAddress(bytes: [UInt8](repeating: 1, count: count)) == nil)
    }

    @Test func `an IPv4 address differs from the IPv6 address with the same number`() {
        #expect(IPAddress(ipv4: 1) != IPAddress(ipv6: 0, 1))
    }

    /// The kind of an address according to RFC 1122, 3927, 4291 and 5771.
    struct Kind: Sendable {
        let text: String
        var unspecified = false
        var loopback = false
        var linkLocal = false
        var multicast = false
    }

    @Test(arguments: [
        Kind(text: "0.0.0.0", unspecified: true), Kind(text: "::", unspecified: true), Kind(text: "0.0.0.1"),
        Kind(text: "127.0.0.1", loopback: true), Kind(text: "127.255.255.255", loopback: true),
        Kind(text: "126.255.255.255"), Kind(text: "128.0.0.0"),
        Kind(text: "::1", loopback: true), Kind(text: "::2"), Kind(text: "1::1"),
        Kind(text: "169.254.0.1", linkLocal: true), Kind(text: "169.253.255.255"), Kind(text: "169.255.0.0"),
        Kind(text: "fe80::1", linkLocal: true), Kind(text: "febf:ffff::1", linkLocal: true), Kind(text: "fec0::1"),
        Kind(text: "fe7f::1"), Kind(text: "fd00::1"),
        Kind(text: "224.0.0.1", multicast: true), Kind(text: "239.255.255.255", multicast: true),
        Kind(text: "223.255.255.255"), Kind(text: "240.0.0.0"), Kind(text: "255.255.255.255"),
        Kind(text: "ff02::1", multicast: true), Kind(text: "feff::1"),
    ])
    func `each kind of address begins and ends where its RFC says`(kind: Kind) throws {
        let address = try #require(IPAddress(kind.text))
        #expect(address.isUnspecified == kind.unspecified)
        #expect(address.isLoopback == kind.loopback)
        #expect(address.isLinkLocal == kind.linkLocal)
        #expect(address.isMulticast == kind.multicast)
    }

    /// The bits of an address, one by one.
    private func bits(_ address: IPAddress) -> [Bool] {
        address.bytes.flatMap { byte in (0..<8).map { byte >> (7 - $0) & 1 == 1 } }
    }

    @Test(arguments: ["203.0.113.77", "2001:db8:5555:aaaa:1234:5678:9abc:def1"])
    func `masking clears the bits after the length, and no others`(text: String) throws {
        let address = try #require(IPAddress(text))
        let whole = bits(address)
        for length in 0...address.family.bitCount {
            let kept = Array(whole.prefix(length)) + Array(repeating: false, count: whole.count - length)
            #expect(bits(address.masked(to: length)) == kept)
        }
    }

    @Test(arguments: ["203.0.113.77", "2001:db8:5555:aaaa:1234:5678:9abc:def1"])
    func `two addresses share a prefix up to the first bit that differs`(text: String) throws {
        let address = try #require(IPAddress(text))
        for flipped in 0..<address.family.bitCount {
            var bytes = address.bytes
            bytes[flipped / 8] ^= 0x80 >> UInt8(flipped % 8)
            let other = try #require(IPAddress(bytes: bytes))
            for length in 0...address.family.bitCount {
                #expect(address.shares(prefix: length, with: other) == (length <= flipped))
            }
        }
        #expect(address.shares(prefix: address.family.bitCount, with: address))
        #expect(!address.shares(prefix: address.family.bitCount + 1, with: address))
    }

    @Test func `addresses of different families share nothing, not even the empty prefix`() {
        #expect(!IPAddress(ipv4: 0).shares(prefix: 0, with: IPAddress(ipv6: 0, 0)))
    }
}
