internal import ArgumentParser
internal import Glibc
internal import ReachControl
internal import ReachCore
internal import ReachFleet
internal import ReachFleetLink
internal import ReachLoop
internal import ReachTOML
internal import ReachTerminal

/// Options of the commands that concern this host.
struct AgentOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("The configuration; by default \(AgentConfiguration.standardPath).", valueName: "file"))
    var config: String = AgentConfiguration.standardPath

    @Option(help: ArgumentHelp("The daemon's control socket.", valueName: "path"))
    var socket: String?

    @Option(
        help: ArgumentHelp(
            "Where the agent says how it is; by default $RUNTIME_DIRECTORY or /run/reach-fleet.",
            valueName: "directory"))
    var runtime: String?

    func configuration() throws -> AgentConfiguration {
        do throws(ConfigurationError) {
            return try AgentConfiguration.load(config)
        } catch {
            for line in error.lines { StandardError.write("reach-fleet: \(line)\n") }
            throw FleetFailure(.badConfiguration)
        }
    }

    var socketPath: String {
        socket ?? SocketPath.forThisProcess
    }

    var runtimePath: String { runtime ?? Self.directory("RUNTIME_DIRECTORY") ?? "/run/reach-fleet" }

    static func directory(_ name: String) -> String? {
        DaemonDirectory.handed(SocketPath.processEnvironment(name))
    }
}

/// `reach-fleet agent`: reports what this host sees, until it is stopped.
struct AgentCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "agent",
        abstract: "Report this host's events and state to the fleet, until SIGTERM.",
        discussion: """
            Runs in the foreground, usually as the service reach-fleet. It reads the journal of reachd, and needs no \
            privilege but that. "reach fleet self" shows how it is.

            Exit status: 0 after an orderly stop, 78 bad configuration.

            Example: reach fleet agent --check-config
            """)

    @OptionGroup var options: AgentOptions

    @Option(
        help: ArgumentHelp(
            "Where it keeps what the engine acknowledged; by default $STATE_DIRECTORY or /var/lib/reach-fleet.",
            valueName: "directory"))
    var state: String?

    @Flag(help: "Check the configuration, and exit.")
    var checkConfig = false

    func run() throws {
        let configuration = try options.configuration()
        let settings: NATSSettings
        do throws(NATSError) {
            settings = try configuration.settings()
        } catch {
            throw FleetFailure(.badConfiguration, "\(options.config): \(error.description)")
        }
        if checkConfig { return }
        guard !configuration.servers.isEmpty else {
            throw FleetFailure(.badConfiguration, "\(options.config): no server is named, so nothing is sent")
        }
        NATSLibrary.useOneHeap()
        SignalSource.block([SIGINT, SIGTERM])
        let loop = try EventLoop()
        let places = Agent.Places(
            socket: options.socketPath,
            state: state ?? AgentOptions.directory("STATE_DIRECTORY") ?? "/var/lib/reach-fleet",
            runtime: options.runtimePath)
        let agent = Agent(configuration, settings, places, on: loop)
        try SignalSource.watch([SIGINT, SIGTERM], on: loop) { _ in
            agent.stop()
            loop.stop()
        }
        agent.start()
        loop.run()
    }
}
