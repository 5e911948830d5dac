package import ReachCore

/// How a stream should be: its settings, and for each how a difference counts.
package struct StreamPlan: Hashable, Sendable {
    /// What a setting means for those who rely on it.
    enum Rule: Hashable, Sendable {
        /// The server cannot change it later.
        case fixed
        /// A larger number allows more; this number means no limit.
        case limit(unlimited: Int64)
        /// `true` forbids or guarantees something.
        case guarantee
        /// `false` forbids something.
        case prohibition
        /// A larger number guarantees more.
        case amount
        /// Another value is neither looser nor tighter.
        case neutral
    }

    struct Setting: Hashable, Sendable {
        let key: String
        let value: JSONValue
        let rule: Rule
    }

    package let name: String
    /// What it is for, in words for people.
    package let purpose: String
    let settings: [Setting]

    /// The configuration to create it with.
    package var configuration: JSONValue {
        .object(["name": .string(name)].merging(settings.map { ($0.key, $0.value) }) { $1 })
    }

    /// A setting that differs.
    package struct Difference: Hashable, Sendable {
        package enum Effect: String, CaseIterable, Hashable, Sendable {
            /// The plan is stricter or adds something: `setup --update` changes it.
            case tightens
            /// The plan is looser than what is there: nothing changes it.
            case loosens
            /// The server cannot change it: another stream would be needed.
            case fixed
        }

        package let key: String
        package let wanted: JSONValue
        package let found: JSONValue?
        package let effect: Effect
    }

    /// Compares with a configuration as the server returns it.
    package func differences(from found: JSONValue) -> [Difference] {
        settings.compactMap { setting in
            let value = found[setting.key]
            guard !setting.isEqual(to: value) else { return nil }
            return Difference(
                key: setting.key, wanted: setting.value, found: value, effect: setting.effect(replacing: value))
        }
    }

    /// The plan with the sizes and copies of what is there: how much is kept, and how often, is the operator's choice.
    package func adoptingSize(of found: JSONValue) -> StreamPlan {
        let chosen: Set = ["max_age", "max_bytes", "num_replicas"]
        let kept = settings.map { setting in
            guard chosen.contains(setting.key), setting.key != "max_age" || name == FleetNames.events else {
                return setting
            }
            // Without a limit the stream takes the room of all others.
            if setting.key == "max_bytes", found[setting.key]?.integer ?? -1 <= 0 { return setting }
            return Setting(key: setting.key, value: found[setting.key] ?? setting.value, rule: setting.rule)
        }
        return StreamPlan(name: name, purpose: purpose, settings: kept)
    }

    /// What is there, with the settings that tighten it.
    package func tightened(_ found: JSONValue) -> JSONValue {
        var members = found.object ?? [:]
        for difference in differences(from: found) where difference.effect == .tightens {
            members[difference.key] = difference.wanted
        }
        return .object(members)
    }
}

extension StreamPlan.Setting {
    fileprivate func isEqual(to found: JSONValue?) -> Bool {
        if let found { return found == value }
        // Servers omit what is off or zero.
        switch value {
        case .bool(false), .integer(0), .string("none"): return true
        default: return false
        }
    }

    fileprivate func effect(replacing found: JSONValue?) -> StreamPlan.Difference.Effect {
        switch rule {
        case .fixed: return .fixed
        case .neutral: return .tightens
        case .guarantee: return value == .bool(true) ? .tightens : .loosens
        case .prohibition: return value == .bool(false) ? .tightens : .loosens
        case .amount: return value.integer ?? 0 >= found?.integer ?? 0 ? .tightens : .loosens
        case .limit(let unlimited):
            let (wanted, there) = (value.integer ?? unlimited, found?.integer ?? unlimited)
            return there == unlimited || (wanted != unlimited && wanted < there) ? .tightens : .loosens
        }
    }
}
