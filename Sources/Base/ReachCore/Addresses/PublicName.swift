/// Checks whether an address can be the answer for a name in the public DNS.
///
/// Portals and home routers may answer all names with an address of their own. The page behind it then proves nothing
/// (Android's NetworkMonitor and VintageNet check this too).
package enum PublicName {
    /// Whether a host is a name in the public DNS: not an address, not a single label, and not in a zone for private
    /// use.
    package static func isPublic(_ host: String) -> Bool {
        guard IPAddress(host) == nil else { return false }
        let labels = host.lowercased().split(scalar: ".")
        guard labels.count > 1, let last = labels.last else { return false }
        if labels.suffix(2) == ["home", "arpa"] { return false }
        return !privateZones.contains(String(last))
    }

    /// Zones reserved by RFC 2606, RFC 6761, RFC 6762 and ICANN ("internal"), and others in wide private use ("corp",
    /// "home" and "mail", which ICANN does not delegate; "lan" on routers).
    private static let privateZones: Set<String> = [
        "localhost", "local", "test", "invalid", "internal", "corp", "home", "mail", "lan", "intranet", "private",
    ]

    /// Whether a public name cannot have this address.
    ///
    /// - Parameter subnets: The link's own networks.
    package static func isPrivate(_ address: IPAddress, subnets: [IPPrefix] = []) -> Bool {
        (local + ofNetworks + subnets).contains { $0.contains(address) }
    }

    /// Whether an address is no host's at all, or this machine's: filters of advertisements give it to names that they block.
    package static func isSinkhole(_ address: IPAddress) -> Bool { nowhere.contains { $0.contains(address) } }

    /// Whether an address is this machine, or is valid on one link only, or names no host: behind no router is a host with it.
    package static func isLocal(_ address: IPAddress) -> Bool { local.contains { $0.contains(address) } }

    /// The prefixes of a family that are not part of the Internet.
    package static func privatePrefixes(_ family: IPAddress.Family) -> [IPPrefix] {
        (local + ofNetworks).filter { $0.address.family == family }
    }

    /// The prefixes in IANA's special-purpose address registries that private networks use. Documentation prefixes are
    /// left out: no network uses them, and tests need some.
    private static let ofNetworks = [
        "10.0.0.0/8", "100.64.0.0/10", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7",
    ].compactMap { IPPrefix($0) }

    /// Those there that no host of another link has.
    private static let local = nowhere + ["169.254.0.0/16", "fe80::/10"].compactMap { IPPrefix($0) }

    /// Those of no host but this machine.
    private static let nowhere = [
        "0.0.0.0/8", "127.0.0.0/8", "224.0.0.0/3", "::/127", "ff00::/8",
        // IPv4-mapped addresses (RFC 4291 2.5.5.2), which never leave a machine.
        "::ffff:0:0/96",
    ].compactMap { IPPrefix($0) }
}
