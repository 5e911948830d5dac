/// A network that the user names: a `[[network]]` table of the configuration. What it does not set stays open; what it
/// sets must all agree with the network, and of a list one element.
package struct NetworkRule: Hashable, Sendable {
    package var name: String
    package var ssids: [SSID] = []
    package var bssids: [HardwareAddress] = []
    package var gateways: [HardwareAddress] = []
    package var prefixes: [IPPrefix] = []
    package var domains: [ProvisioningDomain] = []
    /// Whether the network is metered; `nil` if the rule does not set it.
    package var isMetered: Bool?
    package var isTrusted = false

    package init(name: String) { self.name = name }

    /// What private identifiers of unnamed networks begin with, and names must not.
    package static let identifierPrefix = "net-"
    package static let longestName = 64

    /// Whether a text can name a network: in conditions names stand between commas and spaces.
    package static func isName(_ text: String) -> Bool {
        1...longestName ~= text.utf8.count && text.utf8.allSatisfy { $0.isOfHostName || $0 == UInt8(ascii: ".") }
    }

    /// Whether it is the identifier of a network without a name, which tells people nothing.
    package static func isIdentifier(_ network: String) -> Bool { network.hasUTF8Prefix(identifierPrefix) }

    func matches(_ identity: NetworkIdentity) -> Bool {
        func agree<Value: Equatable>(_ wanted: [Value], _ actual: [Value]) -> Bool {
            wanted.isEmpty || actual.contains(where: wanted.contains)
        }
        return agree(ssids, identity.wireless?.ssid.map { [$0] } ?? [])
            && agree(bssids, identity.wireless?.bssid.map { [$0] } ?? []) && agree(gateways, identity.gateways)
            && agree(domains, identity.domains)
            && (prefixes.isEmpty
                || identity.prefixes.contains { prefix in
                    prefixes.contains { $0.length <= prefix.length && $0.contains(prefix.address) }
                })
    }
}

/// The networks that the user names, and the key for the identifiers of all others.
package struct NetworkPolicy: Hashable, Sendable {
    /// In order: the first that matches names the network, and the first that also says whether it is metered decides
    /// that.
    package var rules: [NetworkRule] = []
    /// `nil` where unnamed networks get no identifier.
    package var key: NetworkKey?

    package init(rules: [NetworkRule] = [], key: NetworkKey? = nil) {
        self.rules = rules
        self.key = key
    }

    /// Whether anybody wants to know the networks behind links.
    package var identifiesNetworks: Bool { self != NetworkPolicy() }

    /// Whether a rule depends on prefixes.
    package var usesPrefixes: Bool { rules.contains { !$0.prefixes.isEmpty } }

    /// Whether a rule depends on provisioning domains, for which advertisements of routers have to be read.
    package var usesDomains: Bool { rules.contains { !$0.domains.isEmpty } }

    /// What follows for a link from the network behind it.
    func membership(of identity: NetworkIdentity) -> NetworkMembership {
        let matching = rules.filter { $0.matches(identity) }
        var membership = NetworkMembership()
        membership.network = matching.first?.name ?? key.flatMap(identity.identifier)
        membership.isMetered = matching.lazy.compactMap(\.isMetered).first
        membership.isTrusted = matching.first?.isTrusted ?? false
        membership.accessPoint = identity.wireless?.bssid
        return membership
    }
}

/// The network to which a link belongs.
package struct NetworkMembership: Hashable, Sendable {
    /// A configured name, or a private identifier; `nil` if the network is not known.
    package var network: String?
    /// Whether the user says that it is metered; `nil` if not.
    package var isMetered: Bool?
    package var isTrusted = false
    package var accessPoint: HardwareAddress?
}

/// Why a link counts as metered.
public enum MeteredReason: String, Hashable, Sendable, CaseIterable {
    /// The configuration, or an option of the command, says so.
    case configuration
    /// A mobile connection carries it.
    case wwan
    /// The DHCP server says that it is an Android phone that shares its mobile connection.
    case androidHotspot = "android-hotspot"
    /// The network is the one that Apple's devices make when they share their mobile connection.
    case appleHotspot = "apple-hotspot"
    /// It is a tunnel, and every link that could carry it is metered.
    case carriedBy = "carried-by"
}
