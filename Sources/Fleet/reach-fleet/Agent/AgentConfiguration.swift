internal import Glibc
internal import ReachCore
internal import ReachFleet
internal import ReachFleetLink
internal import ReachLoop
internal import ReachTOML

/// What the agent's file says: `/etc/reach/reach-fleet.toml`.
struct AgentConfiguration: Sendable {
    enum Acceptance: String, CaseIterable {
        /// The fleet may hold and release the queue.
        case queueHold = "queue-hold"
    }

    static let standardPath = "/etc/reach/reach-fleet.toml"

    var servers: [NATSServer] = []
    /// A path, or `credential:NAME` for one of systemd's.
    var credentials: String?
    var certificate: String?
    var key: String?
    var authorities: String?
    /// The host's identity; without it one is derived from the machine's.
    var host: String?
    var name: String?
    var labels: [String: String] = [:]
    var groups: [String] = []
    /// What the fleet may do to this host.
    var accepted: Set<Acceptance> = []
    var filter = PrivacyFilter()
    /// So that somebody is called within two minutes; about 1 MB a day.
    var lease: Duration = .seconds(30)
    var meteredLease: Duration = .seconds(600)
    var metered: FleetMachine.MeteredRule = .all
    var spread: Duration = .seconds(60)

    /// Reads a file; errors name the line and the key.
    static func load(_ path: String) throws(ConfigurationError) -> AgentConfiguration {
        guard let text = SmallFile.text(path, limit: 1 << 20) else {
            throw ConfigurationError(
                file: path,
                errors: [
                    ConfigurationValidationError(
                        line: nil, "it cannot be read: \(SystemError.text(errno))", expected: "a file that can be read")
                ])
        }
        return try parse(Array(text.utf8), file: path)
    }

    static func parse(_ text: [UInt8], file: String) throws(ConfigurationError) -> AgentConfiguration {
        let document = TOMLDocument.parse(text)
        var reader = AgentConfigurationReader(errors: document.errors)
        reader.read(document.table)
        guard reader.errors.isEmpty else { throw ConfigurationError(file: file, errors: reader.errors) }
        return reader.configuration
    }

    /// The identity: the configured one, or 32 digits made from the machine's, which they do not disclose.
    var identity: String {
        host
            ?? SHA256.digits(
                of: SHA256.authenticate(Array("reach-fleet host".utf8), key: Array(MachineIdentity.current.utf8)),
                bytes: 16)
    }

    /// A hash of the boot identifier, which differs from host to host of one image.
    static func hash(ofBoot boot: String) -> String {
        SHA256.digits(of: SHA256.authenticate(Array("reach-fleet boot".utf8), key: Array(boot.utf8)), bytes: 8)
    }

    /// The path of a credential: systemd's directory for `credential:NAME`.
    static func path(ofCredential text: String) -> String? {
        guard text.hasUTF8Prefix("credential:") else { return text }
        let name = text.dropFirst("credential:".count)
        guard let directory = getenv("CREDENTIALS_DIRECTORY").map({ String(cString: $0) }) else { return nil }
        return directory + "/" + name
    }

    func settings() throws(NATSError) -> NATSSettings {
        var settings = NATSSettings(servers: servers)
        settings.inbox = FleetRights.hostInbox(identity)
        settings.name = "reach-fleet \(identity)"
        if let credentials {
            guard let path = Self.path(ofCredential: credentials) else {
                throw NATSError(
                    .invalid, "\(credentials): systemd hands no credentials to this process (LoadCredential=)")
            }
            settings.identity = try NATSIdentity.read(path)
        }
        (settings.certificate, settings.certificateKey) = (certificate, key)
        settings.authorities = authorities
        return settings
    }
}

/// Reads the keys of the agent's file.
struct AgentConfigurationReader {
    var configuration = AgentConfiguration()
    var errors: [ConfigurationValidationError]

    private typealias Key = (
        expected: String, read: (TOMLNode.Value, inout AgentConfiguration) -> Bool
    )

    mutating func read(_ table: TOMLTable) {
        let keys = Self.keys
        for entry in table.entries {
            guard let key = keys[entry.key] else {
                let known = keys.keys.sorted()
                let meant = NearestWord.find(entry.key, among: known)
                let hint = meant.map { "unknown key; did you mean '\($0)'?" } ?? "unknown key"
                errors.append(
                    ConfigurationValidationError(
                        line: entry.line, key: entry.key, hint,
                        expected: meant == nil ? "one of " + known.joined(separator: ", ") : nil))
                continue
            }
            if !key.read(entry.node.value, &configuration) {
                errors.append(
                    ConfigurationValidationError(
                        line: entry.node.line, key: entry.key, "it is something else", expected: key.expected))
            }
        }
        check(table)
    }

    private mutating func check(_ table: TOMLTable) {
        guard errors.isEmpty else { return }
        if (configuration.certificate == nil) != (configuration.key == nil) {
            let name = configuration.key == nil ? "certificate" : "key"
            errors.append(
                ConfigurationValidationError(
                    line: table[name]?.line, key: name, "it is alone", expected: "both certificate and key, or neither")
            )
        }
        if configuration.meteredLease < configuration.lease, table["metered_lease"] != nil {
            errors.append(
                ConfigurationValidationError(
                    line: table["metered_lease"]?.line, key: "metered_lease", "it is shorter than lease",
                    expected: "a duration of at least lease"))
        }
    }

    private static var keys: [String: Key] {
        [
            "servers": (
                "a list of 1 to 16 URLs such as tls://nats.example.net:4222",
                { value, configuration in
                    guard let texts = value.texts, (1...16).contains(texts.count) else { return false }
                    let servers = texts.compactMap { try? NATSServer($0) }
                    configuration.servers = servers
                    return servers.count == texts.count
                }
            ),
            "credentials": (
                "a file, or \"credential:NAME\"",
                { value, configuration in
                    configuration.credentials = value.file(orPrefix: "credential:")
                    return configuration.credentials != nil
                }
            ),
            "certificate": file(\.certificate), "key": file(\.key), "ca": file(\.authorities),
            "host": (
                "1 to 64 letters, digits, '-' and '_'",
                { value, configuration in
                    configuration.host = value.text
                    return configuration.host.map(FleetNames.hostIsValid) ?? false
                }
            ),
            "name": (
                "a text of 1 to \(HostState.labelBytes) bytes without control characters",
                { value, configuration in
                    configuration.name = value.label
                    return configuration.name != nil
                }
            ),
            "labels": (
                "at most \(HostState.labelLimit) texts of 1 to \(HostState.labelBytes) bytes by their names",
                { value, configuration in
                    guard case .table(let table) = value, table.entries.count <= HostState.labelLimit else {
                        return false
                    }
                    for entry in table.entries {
                        guard let text = entry.node.value.label, TOMLNode.Value.isLabel(entry.key) else { return false }
                        configuration.labels[entry.key] = text
                    }
                    return true
                }
            ),
            "groups": (
                "a list of at most \(HostState.labelLimit) names of letters, digits, '-' and '_'",
                { value, configuration in
                    guard let texts = value.texts, texts.count <= HostState.labelLimit else { return false }
                    configuration.groups = texts
                    return texts.allSatisfy(FleetNames.hostIsValid)
                }
            ),
            "send": (
                "a list of " + PrivacyFilter.Kind.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: ", "),
                { value, configuration in
                    guard let texts = value.texts else { return false }
                    configuration.filter.kinds = Set(texts.compactMap(PrivacyFilter.Kind.init))
                    return texts.allSatisfy { PrivacyFilter.Kind(rawValue: $0) != nil }
                }
            ),
            "accept": (
                "a list of "
                    + AgentConfiguration.Acceptance.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: ", "),
                { value, configuration in
                    guard let texts = value.texts else { return false }
                    configuration.accepted = Set(texts.compactMap(AgentConfiguration.Acceptance.init))
                    return texts.allSatisfy { AgentConfiguration.Acceptance(rawValue: $0) != nil }
                }
            ),
            "targets": (
                "a list of targets",
                { value, configuration in
                    configuration.filter.targets = Set(value.texts ?? [])
                    return value.texts.map { $0.allSatisfy { (try? Target($0)) != nil } } ?? false
                }
            ),
            "addresses": word(\.filter.addresses), "urls": word(\.filter.urls), "metered": word(\.metered),
            "lease": duration(\.lease, .seconds(10)), "metered_lease": duration(\.meteredLease, .seconds(10)),
            "spread": duration(\.spread, .zero),
        ]
    }

    private static func file(_ place: WritableKeyPath<AgentConfiguration, String?>) -> Key {
        (
            "a file's absolute path",
            { value, configuration in
                configuration[keyPath: place] = value.file(orPrefix: nil)
                return configuration[keyPath: place] != nil
            }
        )
    }

    private static func word<Word: RawRepresentable & CaseIterable>(
        _ place: WritableKeyPath<AgentConfiguration, Word>
    ) -> Key where Word.RawValue == String {
        (
            "one of " + Word.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: ", "),
            { value, configuration in
                guard let word = value.text.flatMap(Word.init) else { return false }
                configuration[keyPath: place] = word
                return true
            }
        )
    }

    private static func duration(
        _ place: WritableKeyPath<AgentConfiguration, Duration>, _ shortest: Duration
    ) -> Key {
        (
            "a duration from \(DurationText.describe(shortest)) to 1 d, such as \"2m\"",
            { value, configuration in
                guard let duration = value.text.flatMap(DurationText.parse), duration >= shortest,
                    duration <= .seconds(86_400)
                else { return false }
                configuration[keyPath: place] = duration
                return true
            }
        )
    }
}

extension TOMLNode.Value {
    fileprivate var texts: [String]? {
        guard case .array(let nodes) = self else { return nil }
        let texts = nodes.compactMap(\.value.text)
        return texts.count == nodes.count ? texts : nil
    }

    fileprivate var label: String? { text.flatMap { Self.isLabel($0) ? $0 : nil } }

    fileprivate static func isLabel(_ text: String) -> Bool {
        (1...HostState.labelBytes).contains(text.utf8.count) && DisplayText.sanitized(text) == text
    }

    /// An absolute path, or a text with this prefix and a name behind it.
    fileprivate func file(orPrefix prefix: String?) -> String? {
        guard let text else { return nil }
        if text.hasUTF8Prefix("/") { return text }
        guard let prefix, text.hasUTF8Prefix(prefix), text.count > prefix.count, !text.unicodeScalars.contains("/")
        else {
            return nil
        }
        return text
    }
}
