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
        var reader = ConfigurationReader(AgentConfiguration(), tables)
        reader.read(TOMLDocument.parse(text), file: file)
        if reader.errors.isEmpty {
            reader.report(reader.root.contradictions { reader.places[$0] != nil }, file: file)
        }
        guard reader.errors.isEmpty else { throw ConfigurationError(file: file, errors: reader.errors) }
        return reader.root
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
