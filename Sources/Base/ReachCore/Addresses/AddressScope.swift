/// How far an address is valid: where hosts with it can be. Everything that asks whether an address is local asks this.
package enum AddressScope: Int, Hashable, Sendable, Comparable, CaseIterable {
    /// No host has it but this machine: filters of advertisements give it to names that they block.
    case nowhere
    /// Hosts of one link: behind no router is a host with it.
    case link
    /// Hosts of a private network.
    case site
    /// Hosts of a provider's network (RFC 6598).
    case provider
    /// Hosts of the Internet.
    case internet

    package static func < (left: AddressScope, right: AddressScope) -> Bool { left.rawValue < right.rawValue }
}

extension IPAddress {
    /// By the most specific entry of ``SpecialPurpose``. An address that stands for one of IPv4 goes as far as that.
    package var scope: AddressScope {
        switch SpecialPurpose.entry(of: self)?.meaning {
        case nil: .internet
        case .scope(let scope): scope
        case .standsFor(let address): address(self).scope
        }
    }
}

extension IPPrefix {
    /// The prefixes of a family that are not part of the Internet, but for those that stand for addresses of IPv4.
    package static func special(_ family: IPAddress.Family) -> [IPPrefix] {
        SpecialPurpose.entries.compactMap { entry in
            guard case .scope(let scope) = entry.meaning, scope < .internet, entry.prefix.address.family == family
            else {
                return nil
            }
            return entry.prefix
        }
    }
}

/// IANA's registries of special-purpose addresses (RFC 6890, RFC 8190) and what they leave to others: multicast, the
/// addresses of IPv6 that stand for some of IPv4, and those for use within a site of RFC 3879.
enum SpecialPurpose {
    enum Meaning: Sendable {
        case scope(AddressScope)
        /// For an address of IPv4.
        case standsFor(@Sendable (IPAddress) -> IPAddress)
    }

    struct Entry: Sendable {
        let prefix: IPPrefix
        let meaning: Meaning
    }

    /// The most specific entry; `nil` for an ordinary address.
    static func entry(of address: IPAddress) -> Entry? {
        // By its place, since an entry would be copied for each look at it.
        entries.indices.first { entries[$0].prefix.contains(address) }.map { entries[$0] }
    }

    /// The longest prefixes first.
    static let entries: [Entry] =
        (scopes.flatMap { scope, texts in texts.map { Entry(prefix: prefix($0), meaning: .scope(scope)) } }
        + substitutes.map { Entry(prefix: prefix($0), meaning: .standsFor($1)) })
        .sorted { $0.prefix.length > $1.prefix.length }

    private static func prefix(_ text: String) -> IPPrefix {
        guard let prefix = IPPrefix(text) else { preconditionFailure("\(text) is no prefix") }
        return prefix
    }

    private static let scopes: [(AddressScope, [String])] = [
        (
            .nowhere,
            [
                "0.0.0.0/8", "127.0.0.0/8",
                // Multicast, addresses kept for the future, and the broadcast address.
                "224.0.0.0/4", "240.0.0.0/4",
                // Without an address, loopback, and the deprecated addresses that had one of IPv4 at their end.
                "::/96",
                // IPv4-mapped addresses: sockets connect to IPv4 by them, and no packet has one (RFC 4291, 2.5.5.2).
                "::ffff:0:0/96",
                // Discarded (RFC 6666), never a host's (RFC 9780, RFC 4843), multicast.
                "100::/64", "100:0:0:1::/64", "2001:10::/28", "ff00::/8",
            ]
        ),
        (.link, ["169.254.0.0/16", "fe80::/10"]),
        (
            .site,
            [
                "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7", "fec0::/10",
                // Between a customer and its provider's DS-Lite (RFC 6333), and other protocols.
                "192.0.0.0/24",
                // NAT64 with a prefix of the network's own (RFC 8215), and segments of IPv6 (RFC 9602).
                "64:ff9b:1::/48", "5f00::/16",
            ]
        ),
        (.provider, ["100.64.0.0/10"]),
        (
            .internet,
            [
                // Anycast: PCP, TURN, DNS service discovery, AS112, AMT, and relays of 6to4 that were.
                "192.0.0.9/32", "192.0.0.10/32", "2001:1::1/128", "2001:1::2/128", "2001:1::3/128", "192.31.196.0/24",
                "192.175.48.0/24", "2001:4:112::/48", "2620:4f:8000::/48", "192.52.193.0/24", "2001:3::/32",
                "192.88.99.0/24",
                // Identifiers of hosts and drones (RFC 7343, RFC 9374).
                "2001:20::/28", "2001:30::/28",
                // Documentation: no network uses them, and tests need some.
                "192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24", "2001:db8::/32", "3fff::/20",
                // Benchmarks: programs that bring names into a tunnel give them such an address.
                "198.18.0.0/15", "2001:2::/48",
            ]
        ),
    ]

    private static let substitutes: [(String, @Sendable (IPAddress) -> IPAddress)] = [
        // NAT64 (RFC 6052) and SIIT (RFC 2765), 6to4 (RFC 3056), Teredo's clients (RFC 4380).
        ("64:ff9b::/96", { IPAddress(ipv4: UInt32(truncatingIfNeeded: $0.low)) }),
        ("::ffff:0:0:0/96", { IPAddress(ipv4: UInt32(truncatingIfNeeded: $0.low)) }),
        ("2002::/16", { IPAddress(ipv4: UInt32(truncatingIfNeeded: $0.high >> 16)) }),
        ("2001::/32", { IPAddress(ipv4: ~UInt32(truncatingIfNeeded: $0.low)) }),
    ]
}
