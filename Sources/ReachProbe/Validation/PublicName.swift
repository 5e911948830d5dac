package import ReachCore

/// Whether an address may be the answer to a question for a name in the public DNS.
///
/// Portals and home routers answer every name with an address of their own: then it is their page that is fetched, and
/// whatever it says proves nothing (as Android's NetworkMonitor and VintageNet have it).
package enum PublicName {
    /// Names that stand for something public: neither addresses, nor single labels, nor below a name that is set apart
    /// for private use.
    package static func isPublic(_ host: String) -> Bool {
        guard IPAddress(host) == nil else { return false }
        let labels = host.lowercased().split(separator: ".")
        guard labels.count > 1, let last = labels.last else { return false }
        if labels.suffix(2) == ["home", "arpa"] { return false }
        return !privateZones.contains(String(last))
    }

    /// Set apart by RFC 2606, RFC 6761, RFC 6762 and ICANN ("internal"), or too often used for it to be delegated
    /// (ICANN's "corp", "home", "mail"; "lan" as routers have it).
    private static let privateZones: Set<String> = [
        "localhost", "local", "test", "invalid", "internal", "corp", "home", "mail", "lan", "intranet", "private",
    ]

    /// Whether the address is one that a public name cannot have.
    ///
    /// - Parameter subnets: The networks on the link itself.
    package static func isPrivate(_ address: IPAddress, subnets: [IPPrefix] = []) -> Bool {
        (reserved + subnets).contains { $0.contains(address) }
    }

    /// Prefixes of a family whose addresses are not beyond a gateway to the Internet.
    static func privatePrefixes(_ family: IPAddress.Family) -> [IPPrefix] {
        reserved.filter { $0.address.family == family }
    }

    /// Of the IANA registries of special-purpose addresses, those that are used on networks of one's own. The blocks for
    /// documentation are not among them: nobody uses them to answer names, and tests need some.
    private static let reserved = [
        "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12",
        "192.168.0.0/16", "224.0.0.0/3", "::/127", "fc00::/7", "fe80::/10", "ff00::/8",
        // IPv4 addresses in an IPv6 form that never leaves a machine (RFC 4291 2.5.5.2).
        "::ffff:0:0/96",
    ].compactMap { IPPrefix($0) }
}
