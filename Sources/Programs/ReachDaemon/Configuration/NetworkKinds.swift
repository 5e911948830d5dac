internal import ReachCore
internal import ReachQueue
internal import ReachTOML

extension ConfigurationKind<SSID> {
    static var ssid: Self {
        Self(
            "the name of a Wi-Fi network in quotes, of 1 to 32 bytes, in which \\xNN is one byte and \\\\ a backslash",
            write: { TOMLLiteral.text($0.description) }
        ) { value in
            guard let text = value.text else { return .otherType }
            return Reading(SSID(text), else: "\"\(text)\" cannot be the name of a Wi-Fi network")
        }
    }
}

extension ConfigurationKind<HardwareAddress> {
    static var hardwareAddress: Self {
        Self(
            "a hardware address in quotes, such as \"00:00:5e:00:53:01\"", write: { TOMLLiteral.text($0.description) }
        ) { value in
            guard let text = value.text else { return .otherType }
            return Reading(HardwareAddress(text), else: "\"\(text)\" is not a hardware address")
        }
    }
}

extension ConfigurationKind<IPPrefix> {
    static var prefix: Self {
        Self(
            "a prefix in quotes, such as \"192.0.2.0/24\" or \"2001:db8::/64\"",
            write: { TOMLLiteral.text($0.description) }
        ) { value in
            guard let text = value.text else { return .otherType }
            return Reading(IPPrefix(text), else: "\"\(text)\" is not a prefix")
        }
    }
}

extension ConfigurationKind<ProvisioningDomain> {
    static var provisioningDomain: Self {
        Self(
            "the identifier of a provisioning domain in quotes, a domain name such as \"office.example.com\"",
            write: { TOMLLiteral.text($0.description) }
        ) { value in
            guard let text = value.text else { return .otherType }
            return Reading(ProvisioningDomain(text), else: "\"\(text)\" is not a domain name")
        }
    }
}

extension ConfigurationKind<NetworkCondition> {
    /// A condition of reach(1), for paths.
    static var condition: Self {
        Self(
            "a condition of reach(1) in quotes, such as \"unmetered\" or \"not network=hotspot\"",
            write: { $0 == .any ? nil : TOMLLiteral.text($0.description) }
        ) { value in
            guard let text = value.text else { return .otherType }
            do throws(NetworkConditionError) {
                let condition = try NetworkCondition(text)
                guard !condition.isTargetUnreachable, !condition.isTargetReachable else {
                    return .wrong("\"\(text)\" is about the target, not about the path to it")
                }
                return .value(condition)
            } catch {
                return .wrong(error.description)
            }
        }
    }
}

extension ConfigurationKind<MeteredBudget?> {
    static var meteredBudget: Self {
        Self(
            "bytes with a unit (B, KiB, MiB, GiB, TiB) a day, week or month in quotes, such as \"200 MiB/month\"",
            write: { $0.map { TOMLLiteral.text($0.description) } }
        ) { value in
            guard let text = value.text else { return .otherType }
            guard let budget = MeteredBudget(text) else { return .wrong("\"\(text)\" is no such amount") }
            return .value(budget)
        }
    }
}
