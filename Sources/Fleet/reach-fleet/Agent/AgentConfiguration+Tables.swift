internal import ReachCore
internal import ReachFleet
internal import ReachFleetLink
internal import ReachTOML

extension AgentConfiguration {
    /// All keys. A new one needs a line here, one in reach-fleet.toml(5), and one in contrib/reach-fleet.toml.
    static let tables: [ConfigurationTable<AgentConfiguration>] = [
        .keys(
            nil,
            [
                ConfigurationKey("servers", \.servers, .list(of: .server, 1...16)),
                ConfigurationKey("credentials", \.credentials, .credentials),
                ConfigurationKey("certificate", \.certificate, .path(longest: 4000)),
                ConfigurationKey("key", \.key, .path(longest: 4000)),
                ConfigurationKey("ca", \.authorities, .path(longest: 4000)),
                ConfigurationKey("host", \.host, .optional(.fleetName)),
                ConfigurationKey("name", \.name, .optional(.label)),
                ConfigurationKey("groups", \.groups, .list(of: .fleetName, 0...HostState.labelLimit)),
                ConfigurationKey("send", \.filter.kinds, .set(of: .word, upTo: PrivacyFilter.Kind.allCases.count)),
                ConfigurationKey("accept", \.accepted, .set(of: .word, upTo: Acceptance.allCases.count)),
                ConfigurationKey("targets", \.filter.targets, .set(of: .targetName, upTo: 65_536)),
                ConfigurationKey("addresses", \.filter.addresses, .word),
                ConfigurationKey("urls", \.filter.urls, .word),
                ConfigurationKey("metered", \.metered, .word),
                ConfigurationKey("lease", \.lease, .duration(from: .seconds(10), upTo: .seconds(86_400))),
                ConfigurationKey(
                    "metered_lease", \.meteredLease, .duration(from: .seconds(10), upTo: .seconds(86_400))),
                ConfigurationKey("spread", \.spread, .duration(upTo: .seconds(86_400))),
            ]),
        .names("labels", .labels, .label, all: { $0.labels.sorted { $0.key < $1.key } }) { $0.labels[$1] = $2 },
    ]

    /// Contradictions between keys: the key to report, the problem, and the expected value.
    ///
    /// - Parameter isSet: Whether the file sets a key.
    func contradictions(isSet: (String) -> Bool) -> [(key: String, problem: String, expected: String?)] {
        var found: [(key: String, problem: String, expected: String?)] = []
        if (certificate == nil) != (key == nil) {
            found.append(
                (key == nil ? "certificate" : "key", "it is alone", "both certificate and key, or neither"))
        }
        if meteredLease < lease, isSet("metered_lease") {
            found.append(("metered_lease", "it is shorter than lease", "a duration of at least lease"))
        }
        if labels.count > HostState.labelLimit {
            found.append(("labels", "it has \(labels.count) texts", "at most \(HostState.labelLimit)"))
        }
        return found
    }
}

extension ConfigurationNames {
    fileprivate static let labels = ConfigurationNames("a name of 1 to \(HostState.labelBytes) bytes") { name in
        HostState.isLabel(name) ? nil : "\"\(name)\" cannot be the name of a label"
    }
}

extension ConfigurationKind<NATSServer> {
    fileprivate static var server: Self {
        Self(
            "a URL in quotes, such as \"tls://nats.example.net:4222\"", write: { TOMLLiteral.text($0.description) }
        ) { value in
            guard let text = value.text else { return .otherType }
            do throws(NATSError) {
                return .value(try NATSServer(text))
            } catch {
                return .wrong(error.description)
            }
        }
    }
}

extension ConfigurationKind<String?> {
    /// A file, or the name of one of systemd's credentials.
    fileprivate static var credentials: Self {
        let prefix = "credential:"
        let file = Self.path(longest: 4000)
        return Self("a file's absolute path in quotes, or \"\(prefix)NAME\"", write: file.write) { value in
            guard let text = value.text else { return .otherType }
            let isName =
                text.hasUTF8Prefix(prefix) && text.utf8.count > prefix.utf8.count
                && !text.utf8.contains(UInt8(ascii: "/"))
            return Reading(isName || text.hasUTF8Prefix("/") ? text : nil, else: "\"\(text)\" is neither")
        }
    }
}

extension ConfigurationKind<String> {
    /// The identity of a host, or the name of a group.
    fileprivate static var fleetName: Self {
        Self("a name in quotes of 1 to 64 letters, digits, hyphens and underscores", write: TOMLLiteral.text) { value in
            guard let text = value.text else { return .otherType }
            return Reading(FleetNames.hostIsValid(text) ? text : nil, else: "\"\(text)\" cannot be such a name")
        }
    }

    fileprivate static var label: Self {
        Self(
            "a text in quotes of 1 to \(HostState.labelBytes) bytes without control characters",
            write: TOMLLiteral.text
        ) { value in
            guard let text = value.text else { return .otherType }
            guard 1...HostState.labelBytes ~= text.utf8.count else { return .wrong("it has \(text.utf8.count) bytes") }
            return Reading(HostState.isLabel(text) ? text : nil, else: "it has a control character")
        }
    }

    /// A target as the file of reachd writes it: events have the same text.
    fileprivate static var targetName: Self {
        let target = ConfigurationKind<Target>.target
        return Self(target.expected, write: TOMLLiteral.text) { value in
            guard let text = value.text else { return .otherType }
            do throws(TargetError) {
                _ = try Target(text)
                return .value(text)
            } catch {
                return .wrong(error.description)
            }
        }
    }
}
