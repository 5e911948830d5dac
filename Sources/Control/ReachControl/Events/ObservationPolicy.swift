package import ReachCore

/// What a configuration says of links and networks, as `reachd --policy` prints it for commands that run without a daemon.
package struct ObservationPolicy: Equatable, Sendable {
    package var rules: [LinkPolicy.Rule]
    package var networks: [NetworkRule]

    package init(rules: [LinkPolicy.Rule], networks: [NetworkRule]) {
        self.rules = rules
        self.networks = networks
    }

    /// Whether a network that matters for money is known by advertisements alone, which only a daemon reads.
    package var needsDaemon: Bool { networks.contains { $0.isMetered != nil && !$0.domains.isEmpty } }

    package var line: [UInt8] {
        var json = JSONWriter()
        json.object { json in
            json.field("v", 1)
            json.field("type", "policy")
            json.field(
                "interfaces",
                array: { json in
                    for rule in rules {
                        json.object { json in
                            json.field("match", rule.pattern.pattern)
                            json.field("class", rule.linkClass?.rawValue)
                            if let isMetered = rule.isMetered { json.field("metered", isMetered) }
                        }
                    }
                })
            json.field(
                "networks",
                array: { json in
                    for rule in networks {
                        json.object { json in
                            json.field("name", rule.name)
                            json.field("ssid", rule.ssids.map(\.description))
                            json.field("bssid", rule.bssids.map(\.description))
                            json.field("gateway_mac", rule.gateways.map(\.description))
                            json.field("prefix", rule.prefixes.map(\.description))
                            json.field("pvd", rule.domains.map(\.description))
                            if let isMetered = rule.isMetered { json.field("metered", isMetered) }
                        }
                    }
                })
        }
        json.newline()
        return json.bytes
    }

    /// - Returns: `nil` for what is no such line.
    package init?(reading json: JSONValue) {
        guard json["type"]?.string == "policy", let interfaces = json["interfaces"]?.array,
            let networks = json["networks"]?.array
        else { return nil }
        rules = []
        for interface in interfaces {
            guard let pattern = interface["match"]?.string else { return nil }
            rules.append(
                LinkPolicy.Rule(
                    pattern: Glob(pattern), linkClass: interface["class"]?.string.flatMap { LinkClass(rawValue: $0) },
                    isMetered: interface["metered"]?.bool))
        }
        self.networks = []
        for network in networks {
            guard let name = network["name"]?.string else { return nil }
            func all<Value>(_ key: String, _ read: (String) -> Value?) -> [Value] {
                (network[key]?.array ?? []).compactMap { $0.string.flatMap(read) }
            }
            var rule = NetworkRule(name: name)
            rule.ssids = all("ssid") { SSID($0) }
            rule.bssids = all("bssid") { HardwareAddress($0) }
            rule.gateways = all("gateway_mac") { HardwareAddress($0) }
            rule.prefixes = all("prefix") { IPPrefix($0) }
            rule.domains = all("pvd") { ProvisioningDomain($0) }
            rule.isMetered = network["metered"]?.bool
            self.networks.append(rule)
        }
    }
}
