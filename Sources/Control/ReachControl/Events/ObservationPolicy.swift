package import ReachCore

/// What a configuration says of the kernel's paths, links and networks, as `reachd --policy` prints it for commands
/// that run without a daemon.
package struct ObservationPolicy: Equatable, Sendable {
    /// A name for a target.
    package struct NamedTarget: Equatable, Sendable {
        package var name: String
        package var target: Target

        package init(name: String, target: Target) {
            self.name = name
            self.target = target
        }
    }

    package var rules: [LinkPolicy.Rule] = []
    package var networks: [NetworkRule] = []
    package var targets: [NamedTarget] = []
    /// `nil` for the built-in ones.
    package var anchors: [IPAddress]?
    package var mark: UInt32?
    /// The host of the proxy by which the Internet is reached where no default route leads to it.
    package var proxy: Target?
    package var hold = HoldDown()

    package init() {}

    /// Whether a network that matters for money is known by advertisements alone, which only a daemon reads.
    package var needsDaemon: Bool { networks.contains { $0.isMetered != nil && !$0.domains.isEmpty } }

    package var line: [UInt8] {
        var json = JSONWriter()
        json.object { json in
            json.field("v", 1)
            json.field("type", "policy")
            if let anchors { json.field("anchors", anchors.map(String.init)) }
            json.field("mark", mark.map(Int64.init))
            if let proxy { json.field("proxy", proxy.description as String?) }
            json.field("hold_up_ns", hold.up.nanoseconds)
            json.field("hold_down_ns", hold.down.nanoseconds)
            json.field("hold_maximum_ns", hold.maximum.nanoseconds)
            json.objects("targets", targets) { json, named in
                json.field("name", named.name)
                json.field("target", named.target.description)
            }
            json.objects("interfaces", rules) { json, rule in
                json.field("match", rule.pattern.pattern)
                json.field("class", rule.linkClass?.rawValue)
                if let isMetered = rule.isMetered { json.field("metered", isMetered) }
                if let passes = rule.passesTunnels { json.field("past_tunnels", passes) }
            }
            json.objects("networks", networks) { json, rule in
                json.field("name", rule.name)
                json.field("ssid", rule.ssids.map(\.description))
                json.field("bssid", rule.bssids.map(\.description))
                json.field("gateway_mac", rule.gateways.map(\.description))
                json.field("prefix", rule.prefixes.map(\.description))
                json.field("pvd", rule.domains.map(\.description))
                if let isMetered = rule.isMetered { json.field("metered", isMetered) }
                json.field("trusted", rule.isTrusted)
            }
        }
        json.newline()
        return json.bytes
    }

    /// - Returns: `nil` for what is no such line.
    package init?(reading json: JSONValue) {
        guard json["type"]?.string == "policy", let interfaces = json["interfaces"]?.array,
            let networks = json["networks"]?.array
        else { return nil }
        anchors = json["anchors"]?.array?.compactMap { $0.string.flatMap { IPAddress($0) } }
        proxy = json["proxy"]?.string.flatMap { try? Target.host($0) }
        mark = json["mark"]?.integer.flatMap { UInt32(exactly: $0) }
        func time(_ key: String) -> Duration { .nanoseconds(max(0, json[key]?.integer ?? 0)) }
        hold = HoldDown(up: time("hold_up_ns"), down: time("hold_down_ns"), maximum: time("hold_maximum_ns"))
        for named in json["targets"]?.array ?? [] {
            guard let name = named["name"]?.string, let text = named["target"]?.string, let target = try? Target(text)
            else { return nil }
            targets.append(NamedTarget(name: name, target: target))
        }
        for interface in interfaces {
            guard let pattern = interface["match"]?.string else { return nil }
            rules.append(
                LinkPolicy.Rule(
                    pattern: Glob(pattern), linkClass: interface["class"]?.string.flatMap { LinkClass(rawValue: $0) },
                    isMetered: interface["metered"]?.bool, passesTunnels: interface["past_tunnels"]?.bool))
        }
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
            rule.isTrusted = network["trusted"]?.bool ?? false
            self.networks.append(rule)
        }
    }
}
