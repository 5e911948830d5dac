internal import ArgumentParser
internal import Glibc
internal import ReachCore
internal import ReachFleet
internal import ReachFleetLink
internal import ReachLoop

/// How to reach the engine: options, or variables of the environment.
struct EngineOptions: ParsableArguments {
    @Option(
        name: .customLong("server"),
        help: ArgumentHelp(
            "A server of the fleet: tls://HOST:PORT, or nats://HOST:PORT on this machine. May be repeated. By default "
                + "those in REACH_FLEET_SERVER, separated by spaces.", valueName: "url"))
    var servers: [String] = []

    @Option(
        name: .customLong("key-file"),
        help: ArgumentHelp(
            "An nkey's seed or a .creds file; by default that in REACH_FLEET_KEY.", valueName: "file"))
    var keyFile: String?

    @Option(
        name: .customLong("ca"),
        help: ArgumentHelp(
            "Certificate authorities besides the system's; by default that in REACH_FLEET_CA.", valueName: "file"))
    var authorities: String?

    @Option(help: ArgumentHelp("A client's certificate, with --certificate-key.", valueName: "file"))
    var certificate: String?

    @Option(name: .customLong("certificate-key"), help: ArgumentHelp("The certificate's key.", valueName: "file"))
    var certificateKey: String?

    /// The settings of a connection.
    ///
    /// - Parameter reconnects: For commands that run until they are stopped.
    func settings(reconnects: Bool = false) throws -> NATSSettings {
        var settings = try Self.settings(servers: servers, authorities: authorities)
        do throws(NATSError) {
            if let file = keyFile ?? Self.variable("REACH_FLEET_KEY") {
                settings.identity = try NATSIdentity.read(file)
            }
        } catch {
            throw FleetFailure(.cannotRead, error.description)
        }
        settings.certificate = certificate
        settings.certificateKey = certificateKey
        settings.inbox = "\(FleetRights.readerInbox).\(SubjectToken.random())"
        if reconnects { settings.reconnection = .always(wait: .seconds(1), jitter: .seconds(1)) }
        return settings
    }

    /// The settings of a connection of nobody in particular.
    static func settings(servers: [String], authorities: String?) throws -> NATSSettings {
        let named =
            servers.isEmpty ? Self.variable("REACH_FLEET_SERVER")?.split(scalar: " ").map(String.init) : servers
        guard let named, !named.isEmpty else {
            throw FleetFailure(.usage, "no server is named: --server URL, or REACH_FLEET_SERVER in the environment")
        }
        do throws(NATSError) {
            var settings = NATSSettings(servers: [])
            for text in named { settings.servers.append(try NATSServer(text)) }
            settings.authorities = authorities ?? Self.variable("REACH_FLEET_CA")
            return settings
        } catch {
            throw FleetFailure(.usage, error.description)
        }
    }

    /// Connects for a command that asks and prints.
    func connect() throws -> NATSLink {
        // libnats' threads take this over. Half of the time of reading 500,000 messages was spent on passing them to
        // ours.
        ProcessorShare.preferThroughput()
        let settings = try settings()
        if settings.servers.count > 1, let link = connectToLed(settings) { return link }
        return try connect(settings)
    }

    /// A connection to one of several servers whose streams answer: one that has lost the others of its cluster accepts
    /// connections, and answers nothing.
    ///
    /// - Returns: `nil` if there is none.
    private func connectToLed(_ settings: NATSSettings) -> NATSLink? {
        for server in settings.servers.shuffled() {
            var single = settings
            single.servers = [server]
            single.connectLimit = settings.firstConnectLimit
            guard let link = try? NATSLink.connect(single) else { continue }
            var jetStream = JetStream(link)
            jetStream.limit = settings.firstConnectLimit
            do throws(NATSError) {
                _ = try jetStream.account()
                return link
            } catch {
                // Any other refusal is an answer.
                guard error.mayPass else { return link }
                link.close()
            }
        }
        return nil
    }

    func connect(
        _ settings: NATSSettings, onEvent: @escaping @Sendable (NATSLink.Event) -> Void = { _ in }
    ) throws -> NATSLink {
        do throws(NATSError) {
            return try NATSLink.connect(settings, onEvent: onEvent)
        } catch {
            let names = settings.servers.map(\.description).joined(separator: ", ")
            throw FleetFailure(FleetFailure(error).status, "\(names): \(error.description)")
        }
    }

    private static func variable(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
    }
}
