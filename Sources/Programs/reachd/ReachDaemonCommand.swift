internal import ArgumentParser
internal import Glibc
internal import ReachControl
internal import ReachCore
internal import ReachDaemon
internal import ReachLoop
internal import ReachRecords
internal import ReachTOML
internal import ReachTerminal

/// The command `reachd`.
struct ReachDaemonCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reachd",
        abstract: "Watch the network for the whole machine, and serve its state to programs.",
        discussion: """
            Runs in the foreground. SIGHUP reloads the configuration; SIGUSR1 writes the state to the log; SIGTERM and \
            SIGINT stop the daemon.

            Exit status: 0 after an orderly stop, 2 wrong usage, 73 another daemon owns the socket or the state \
            directory, 74 standard output cannot be written, 78 the configuration has errors.

            Example: reachd --check-config
            """,
        version: "reachd " + ProjectVersion.number)

    @Option(help: ArgumentHelp("The configuration file.", valueName: "file"), completion: .file())
    var config: String?

    @Option(help: ArgumentHelp("The path of the control socket.", valueName: "path"), completion: .file())
    var socket: String?

    @Option(
        help: ArgumentHelp("The directory of the event history and the queue.", valueName: "directory"),
        completion: .directory)
    var state: String?

    @Flag(help: "Print the events of the Internet and of the queue on standard output.")
    var events = false

    @Flag(help: "Check the configuration, and exit.")
    var checkConfig = false

    @Flag(help: "Print the configuration with all defaults as TOML, and exit.")
    var dumpConfig = false

    @Flag(help: "Print what the configuration says of paths, links and networks as a line of JSON, and exit.")
    var policy = false

    @Option(
        help: ArgumentHelp(
            "Make one attempt, print its result as \"reach probe --json\" does, and exit.", valueName: "url"))
    var probe: String?

    @Option(
        help: ArgumentHelp(
            "Test the way to a target layer by layer, print the result as \"reach explain --probe --json\" does, "
                + "and exit.",
            valueName: "target"))
    var diagnose: String?

    @Option(
        help: ArgumentHelp("With --probe: send over this interface only.", valueName: "name"),
        completion: .custom { _, _, _ in
            CompletionScript.offered(((try? DirectoryNames.read("/sys/class/net")) ?? []).sorted())
        })
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
            let message = fullMessage(for: error)
            guard code != .success else {
                StandardOutput.write(help: message)
                Glibc.exit(0)
            }
            StandardError.write(quoting: UsageMessage.short(message, program: "reachd"))
            Glibc.exit(code == .validationFailure ? usage : code.rawValue)
        }
    }

    /// - Returns: The exit status.
    private func serve() -> Int32 {
        if let probe { return attempt(probe) }
        if let diagnose { return test(diagnose) }
        var file = ConfigurationFile.find(
            named: config, isRoot: getuid() == 0, environment: SocketPath.processEnvironment)
        // There may be files in reach.d alone.
        if policy { file = file.map { ConfigurationFile(path: $0.path, isRequired: false) } }
        let read: ReadConfiguration
        do throws(ConfigurationError) {
            if let file { read = try file.readFiles() } else { read = try ReadConfiguration([]) }
        } catch {
            for line in error.lines { StandardError.write("reachd: \(line)\n") }
            return Self.badConfiguration
        }
        if dumpConfig {
            StandardOutput.write(read.text)
            return 0
        }
        if policy {
            StandardOutput.write(read.configuration.observationPolicy.line)
            return 0
        }
        if checkConfig {
            let files = read.files.map { "reachd: \($0) is good\n" }.joined()
            StandardOutput.write(
                lines: files.isEmpty ? "reachd: there is no configuration file; the defaults apply\n" : files)
            return 0
        }
        var options = Daemon.Options()
        options.configurationFile = file
        options.socketPath = socket
        options.stateDirectory = state
        options.version = ProjectVersion.number
        return Self.run(options, read.configuration, printsEvents: events)
    }

    private static func run(_ options: Daemon.Options, _ configuration: Configuration, printsEvents: Bool) -> Int32 {
        DescriptorLimit.raise()
        let signals = [SIGINT, SIGTERM, SIGHUP, SIGUSR1]
        SignalSource.block(signals)
        do {
            let loop = try EventLoop()
            let daemon = Daemon(loop: loop, options: options, configuration: configuration)
            try SignalSource.watch(signals, on: loop) { signal in
                switch signal {
                case SIGHUP: daemon.reload()
                case SIGUSR1: daemon.logState()
                default: loop.stop()
                }
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
            StandardError.write("reachd: \(error)\n")
            return cannotCreate
        } catch {
            StandardError.write("reachd: \(error)\n")
            return 1
        }
    }

    /// - Returns: The exit status: 0 ok, 1 failed, 2 the URL is invalid, 3 inconclusive, 4 no attempt could be made.
    private func attempt(_ url: String) -> Int32 {
        do {
            let limit = timeout.flatMap { DurationText.parse($0) }
            let (result, line) = try SingleProbe.run(url, by: interface, timeout: limit)
            StandardOutput.write(line)
            return result.outcome == .ok ? 0 : result.outcome.word == "fail" ? 1 : 3
        } catch let error as TargetError {
            StandardError.write("reachd: \(error)\n")
            return Self.usage
        } catch {
            StandardError.write("reachd: \(error)\n")
            return 4
        }
    }

    /// - Returns: The exit status: 0 it can be used, 1 it cannot, 2 the target is invalid, 3 unknown, 4 nothing was
    ///   tested.
    private func test(_ target: String) -> Int32 {
        do {
            let (diagnosis, line) = try SingleDiagnosis.run(target, configuration: config)
            StandardOutput.write(line)
            switch diagnosis.outcome {
            case .ok, .degraded: return 0
            case .failed: return 1
            case .unknown: return 3
            }
        } catch let error as TargetError {
            StandardError.write("reachd: \(error)\n")
            return Self.usage
        } catch let error as ConfigurationError {
            for line in error.lines { StandardError.write("reachd: \(line)\n") }
            return Self.badConfiguration
        } catch {
            StandardError.write("reachd: \(error)\n")
            return 4
        }
    }
}
