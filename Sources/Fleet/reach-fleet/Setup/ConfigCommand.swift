internal import ArgumentParser
internal import ReachCore
internal import ReachFleet
internal import ReachTerminal

struct ConfigCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "config",
        abstract: "Print a configuration of nats-server for the fleet.",
        discussion: """
            Each host gets the right to its own subjects and to nothing else; readers read everything and write \
            nothing. The keys are public halves, as `reach-fleet key` prints them. Nothing is connected to.

            With --accounts users have signed tokens instead: DIRECTORY gets the keys that sign them, if it has none, \
            and the configuration is the same for one host and for 100,000. Then `enroll`, `sign` and `revoke` say who \
            is let in.

            Example: reach fleet config --accounts keys --listen 127.0.0.1:4222 > nats.conf
            """)

    @Option(
        name: .customLong("accounts"),
        help: ArgumentHelp("The folder of the keys that sign users' tokens, which is secret.", valueName: "directory"))
    var accounts: String?

    @Option(
        name: .customLong("hosts"),
        help: ArgumentHelp(
            "The list of hosts, a line each: HOST KEY[,KEY] [GROUP ...] [LABEL=VALUE ...].", valueName: "file"))
    var hostsFile: String?

    @Option(
        name: .customLong("operators"),
        help: ArgumentHelp(
            "The list of operators, a line each: NAME KEY[,KEY] [GROUP ...]. With groups an operator holds, "
                + "releases and notes these groups' hosts only.", valueName: "file"))
    var operatorsFile: String?

    @Option(
        name: .customLong("admin"), help: ArgumentHelp("The key of who sets up. May be repeated.", valueName: "key"))
    var administrators: [String] = []

    @Option(
        name: .customLong("operator"),
        help: ArgumentHelp("The key of who looks, holds and releases. May be repeated.", valueName: "key"))
    var controllers: [String] = []

    @Option(name: .customLong("reader"), help: ArgumentHelp("The key of who looks. May be repeated.", valueName: "key"))
    var readers: [String] = []

    @Option(help: ArgumentHelp("The address and port to listen on.", valueName: "address"))
    var listen = "0.0.0.0:4222"

    @Option(name: .customLong("tls-certificate"), help: ArgumentHelp("The server's certificate.", valueName: "file"))
    var certificate: String?

    @Option(name: .customLong("tls-key"), help: ArgumentHelp("The certificate's key.", valueName: "file"))
    var key: String?

    @Option(
        name: .customLong("tls-client-ca"),
        help: ArgumentHelp("Authorities of clients' certificates, which are then required.", valueName: "file"))
    var clientAuthorities: String?

    @Option(help: ArgumentHelp("The folder of the streams.", valueName: "directory"))
    var store = "/var/lib/nats"

    @Option(
        name: .customLong("store-size"),
        help: ArgumentHelp("The most that streams may fill: 500MB, 20GB.", valueName: "size"))
    var storeSize = "10GB"

    @Option(name: .customLong("name"), help: "The server's name.")
    var name: String?

    @Option(
        name: .customLong("for"),
        help: ArgumentHelp("The version of nats-server that it is for.", valueName: "version"),
        transform: { text in
            guard let version = ServerVersion(text) else { throw ValidationError("'\(text)' is not a version") }
            return version
        })
    var version = ServerVersion.advised

    @Flag(help: "Print a JSON object with the text.")
    var json = false

    func validate() throws {
        for text in [listen, store] + [certificate, key, clientAuthorities, name].compactMap(\.self) {
            guard ServerConfiguration.canQuote(text) else {
                throw ValidationError("'\(text)' is empty or has a quote, a backslash or a control character")
            }
        }
        guard (certificate == nil) == (key == nil) else {
            throw ValidationError("--tls-certificate and --tls-key belong together")
        }
        guard clientAuthorities == nil || certificate != nil else {
            throw ValidationError("--tls-client-ca needs --tls-certificate and --tls-key")
        }
        let digits = storeSize.prefixScalars(while: \.isDigit)
        guard !digits.isEmpty, ["KB", "MB", "GB", "TB"].contains(String(storeSize[digits.endIndex...])) else {
            throw ValidationError("--store-size is a number and KB, MB, GB or TB")
        }
        // Without a last number, as in "2.9", it means the series.
        guard version >= ServerVersion(ServerVersion.floor.major, ServerVersion.floor.minor, 0) else {
            throw ValidationError("nats-server \(version) is too old; \(ServerVersion.floor) is the oldest that works")
        }
        for key in administrators + controllers + readers { try check(key) }
        let lists = [hostsFile, operatorsFile].compactMap(\.self) + administrators + controllers + readers
        guard accounts == nil || lists.isEmpty else {
            throw ValidationError(
                "with --accounts nobody is listed: `reach-fleet sign` and `reach-fleet enroll` let users in")
        }
        let isLocal = ["127.", "localhost:", "[::1]:"].contains { listen.hasUTF8Prefix($0) }
        guard certificate != nil || isLocal else {
            throw ValidationError(
                "hosts connect with TLS: --tls-certificate and --tls-key, or --listen 127.0.0.1:4222 for this "
                    + "machine only"
            )
        }
    }

    private func check(_ text: String) throws {
        do throws(NKeyText.Fault) {
            _ = try NKeyText.readUserPublic(text)
        } catch {
            throw ValidationError((error == .secret ? "a key" : "'\(text)'") + ": \(error.sentence)")
        }
    }

    func run() throws {
        var configuration = ServerConfiguration(version: version, listen: listen, store: store, storeBytes: storeSize)
        configuration.hosts = try hostsFile.map(FleetArgument.hosts) ?? HostList()
        configuration.operators = try operatorsFile.map(FleetArgument.hosts) ?? HostList()
        configuration.administrators = administrators
        configuration.controllers = controllers
        configuration.readers = readers
        configuration.name = name
        configuration.tokens = try accounts.map { try AccountFolder.open(orMake: $0).serverTokens() }
        if let certificate, let key {
            configuration.tls = .init(certificate: certificate, key: key, clientAuthorities: clientAuthorities)
        }
        guard json else { return StandardOutput.write(configuration.text) }
        StandardOutput.writeJSON {
            $0.object {
                $0.field("v", 1)
                $0.field("type", "fleet-configuration")
                $0.field("version", version.description)
                $0.field("hosts", Int64(configuration.hosts.entries.count))
                $0.field("configuration", configuration.text)
            }
        }
    }
}
