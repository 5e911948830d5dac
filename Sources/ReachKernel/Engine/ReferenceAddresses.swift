package import ReachCore

/// The addresses that stand for the Internet. Only lookups use them; nothing is ever sent to them.
package enum ReferenceAddresses {
    /// Three of each family, run by different organisations in different parts of the address space: two root name
    /// servers, and an IPv4 resolver below 128.0.0.0, so that one half of a split default route (0.0.0.0/1) is not enough.
    package static let standard: [IPAddress] = [
        // a.root-servers.net, k.root-servers.net, dns.quad9.net
        IPAddress(ipv4: 0xc629_0004), IPAddress(ipv4: 0xc100_0e81), IPAddress(ipv4: 0x0909_0909),
        // a, k and m.root-servers.net
        IPAddress(ipv6: 0x2001_0503_ba3e_0000, 0x0000_0000_0002_0030),
        IPAddress(ipv6: 0x2001_07fd_0000_0000, 0x0000_0000_0000_0001),
        IPAddress(ipv6: 0x2001_0dc3_0000_0000, 0x0000_0000_0000_0035),
    ]
}
