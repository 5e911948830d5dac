package import ReachCore

/// A `[[network]]` table as written; ``rule`` is the network that it names.
package struct NetworkEntry: Hashable, Sendable {
    package var name = ""
    package var ssid: [SSID] = []
    package var bssid: [HardwareAddress] = []
    package var gatewayMAC: [HardwareAddress] = []
    package var prefix: [IPPrefix] = []
    package var pvd: [ProvisioningDomain] = []
    package var metered: Bool?
    package var trusted: Bool?

    package var rule: NetworkRule {
        var rule = NetworkRule(name: name)
        rule.ssids = ssid
        rule.bssids = bssid
        rule.gateways = gatewayMAC
        rule.prefixes = prefix
        rule.domains = pvd
        rule.isMetered = metered
        rule.isTrusted = trusted ?? false
        return rule
    }

    /// A contradiction between keys: the key to report, the problem, and what is expected.
    func contradiction() -> (key: String, problem: String, expected: String)? {
        guard NetworkRule.isIdentifier(name) else { return nil }
        return (
            "name", "\"\(name)\" looks like the identifier of a network without a name",
            "a name that does not begin with \"\(NetworkRule.identifierPrefix)\""
        )
    }
}

extension Configuration {
    /// The networks that the file names, in its order.
    package var networkRules: [NetworkRule] { networks.map(\.rule) }
}
