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
        address.scope < .internet || subnets.contains { $0.contains(address) }
    }
}
