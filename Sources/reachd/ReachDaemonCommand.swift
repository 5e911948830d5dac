internal import ArgumentParser
internal import Glibc
internal import ReachControl
internal import ReachCore
internal import ReachDaemon
internal import ReachLoop
internal import ReachTOML

/// The command `reachd`.
struct ReachDaemonCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reachd",
        abstract: "Watch the network for the whole machine, and serve its state to programs.",
        discussion: """
            Runs in the foreground. SIGHUP reloads the configuration; SIGTERM and SIGINT stop the daemon.

            Exit status: 0 after an orderly stop, 2 wrong usage, 73 another daemon owns the socket or the state \
            directory, 78 the configuration has errors.
            """,
        version: "reachd " + ProjectVersion.number)

    @Option(help: ArgumentHelp("The configuration file.", valueName: "file"))
    var config: String?

    @Option(help: ArgumentHelp("The path of the control socket.", valueName: "path"))
    var socket: String?

    @Option(help: ArgumentHelp("The directory of the event history and the queue.", valueName: "directory"))
    var state: String?

    @Flag(help: "Print the events of the Internet and of the queue on standard output.")
    var events = false

    @Flag(help: "Check the configuration, and exit.")
    var checkConfig = false

    @Option(
        help: ArgumentHelp(
            "Make one attempt, print its result as \"reach probe --json\" does, and exit.", valueName: "url"))
    var probe: String?

    @Option(help: ArgumentHelp("With --probe: send over this interface only.", valueName: "name"))
    var interface: String?

    @Option(help: ArgumentHelp("With --probe: how long the attempt may take.", valueName: "duration"))
    var timeout: String?

    func validate() throws {
        if let timeout {
            guard let duration = DurationText.parse(timeout), duration >= .milliseconds(1), duration <= .seconds(300)
            else { throw ValidationError("--timeout is a duration from 1ms to 300s") }
        }
        if probe == nil, interface != nil || timeout != nil {
            throw ValidationError("--interface and --timeout go with --probe")
        }
    }

    private static let usage: Int32 = 2
    private static let cannotCreate: Int32 = 73
    private static let badConfiguration: Int32 = 78

    static func runAndExit() -> Never {
        signal(SIGPIPE, SIG_IGN)
        do {
            var command = try parseAsRoot()
            if let command = command as? ReachDaemonCommand { Glibc.exit(command.serve()) }
            try command.run()
            Glibc.exit(0)
        } catch {
            let code = exitCode(for: error)
            printLine(fullMessage(for: error), to: code == .success ? STDOUT_FILENO : STDERR_FILENO)
            Glibc.exit(code == .success ? 0 : code == .validationFailure ? usage : code.rawValue)
        }
    }

    /// - Returns: The exit status.
    private func serve() -> Int32 {
        if let probe { return attempt(probe) }
        let file = ConfigurationFile.find(
            named: config, isRoot: getuid() == 0, environment: SocketPath.processEnvironment)
        let configuration: Configuration
        do throws(ConfigurationError) {
            configuration = try file?.load() ?? Configuration()
        } catch {
            for line in error.lines { Self.printLine("reachd: \(line)", to: STDERR_FILENO) }
            return Self.badConfiguration
        }
        if checkConfig { return 0 }
        var options = Daemon.Options()
        options.configurationFile = file
        options.socketPath = socket
        options.stateDirectory = state
        options.version = ProjectVersion.number
        return Self.run(options, configuration, printsEvents: events)
    }

    private static func run(_ options: Daemon.Options, _ configuration: Configuration, printsEvents: Bool) -> Int32 {
        DescriptorLimit.raise()
        SignalSource.block([SIGINT, SIGTERM, SIGHUP])
        do {
            let loop = try EventLoop()
            let daemon = Daemon(loop: loop, options: options, configuration: configuration)
            try SignalSource.watch([SIGINT, SIGTERM, SIGHUP], on: loop) { signal in
                if signal == SIGHUP { daemon.reload() } else { loop.stop() }
            }
            try daemon.start()
            let printer = printsEvents ? EventLines(STDOUT_FILENO, on: loop, source: .daemon) { _ in loop.stop() } : nil
            if let printer {
                daemon.watchInternet { printer.write($0) }
                daemon.watchQueue { printer.write($0) }
            }
            loop.run()
            daemon.stop()
            printer?.finish()
            return 0
        } catch let error as StartError {
            printLine("reachd: \(error)", to: STDERR_FILENO)
            return cannotCreate
        } catch {
            printLine("reachd: \(error)", to: STDERR_FILENO)
            return 1
        }
    }

    /// - Returns: The exit status: 0 ok, 1 failed, 2 the URL is invalid, 3 inconclusive, 4 no attempt could be made.
    private func attempt(_ url: String) -> Int32 {
        do {
            let limit = timeout.flatMap { DurationText.parse($0) }
            let (result, line) = try SingleProbe.run(url, by: interface, timeout: limit)
            Self.printLine(String(decoding: line.dropLast(), as: UTF8.self), to: STDOUT_FILENO)
            return result.outcome == .ok ? 0 : result.outcome.word == "fail" ? 1 : 3
        } catch let error as TargetError {
            Self.printLine("reachd: \(error)", to: STDERR_FILENO)
            return Self.usage
        } catch {
            Self.printLine("reachd: \(error)", to: STDERR_FILENO)
            return 4
        }
    }

    private static func printLine(_ text: String, to descriptor: Int32) {
        var line = text + "\n"
        line.withUTF8 { _ = write(descriptor, $0.baseAddress, $0.count) }
    }
}
