internal import Glibc
internal import Logging
package import ReachControl
package import ReachCore
internal import ReachKernel
package import ReachLoop
package import ReachQueue
internal import ReachRecords
package import ReachTOML

/// The daemon: one engine that watches the kernel for the whole machine, and a socket that any program may query.
///
/// Confined to the event loop's thread.
package final class Daemon {
    package struct Options: Sendable {
        package var configurationFile: ConfigurationFile?
        /// The path of the control socket; `nil` means the configured path, or the default.
        package var socketPath: String?
        package var version = ""
        /// The directory of the history and the queue; `nil` means the configured directory, or the default.
        package var stateDirectory: String?

        package init() {}
    }

    let loop: EventLoop
    let options: Options
    var log: Logger { output.logger }
    private let output: Log
    private let manager: ServiceManager
    let transfers: SharedTransfers
    let registry: TargetRegistry
    let queries: QueryPool
    private var server: ControlServer?
    /// When the daemon was made.
    let started = SystemClock.boot
    var controlStatistics: ControlServer.Statistics? { server?.statistics }
    var stateDirectory: StateDirectory?
    let records: EventRecords
    /// The journal and the subscribers get a change encoded once.
    let encoder = ChangeEncoder(source: .daemon)
    /// Also answers the clients' queue calls.
    package let queue: QueueServiceHandler
    private(set) var hooks: DaemonHooks?
    private(set) lazy var targetHooks = TargetHooks(on: loop, records, log: log) { [unowned self] in
        registry.namedStates
    }
    /// What hooks and the log see of changes.
    private(set) lazy var joined = JoinedChanges(on: loop, patience: configuration.flapPatience) { [unowned self] in
        handle($0)
    }
    let internet: InternetReports
    var probes: ProbeServiceHandler?
    var metrics: MetricsPublisher?
    /// `nil` until the configuration names a directory for the page.
    var page: PagePublisher?
    /// Receivers of the Internet target's events, by their IDs.
    var internetSinks = NumberedTable<(TargetEvent) -> Void>()
    private var configurations: Configurations
    var configuration: Configuration { configurations.latest }

    package init(loop: EventLoop, options: Options, configuration: Configuration) {
        self.loop = loop
        self.options = options
        configurations = Configurations(atStart: configuration)
        output = Log(level: configuration.logLevel.level)
        let log = output.logger
        manager = ServiceManager(environment: SocketPath.processEnvironment)
        transfers = SharedTransfers(loop: loop)
        registry = TargetRegistry(loop: loop, configuration: configuration, transfers: transfers, log: log)
        transfers.serverRoute = { [weak engine = registry.engine] (server, bound) throws(SystemError) in
            guard let engine else { return bound }
            return try engine.interface(for: server, boundTo: bound)
        }
        queries = QueryPool(on: loop)
        records = EventRecords(on: loop) { [unowned registry] in registry.countedLinks(besides: $0) }
        internet = InternetReports(on: loop, records, log: log)
        queue = QueueServiceHandler(loop: loop, transfers: transfers, log: log)
        queue.rootCause = { [engine = registry.engine] in engine.rootCause(where: $0) }
        queue.networkNames = { [unowned self] in networkNames }
    }

    /// Starts observing the network and serving clients.
    ///
    /// - Throws: If another daemon holds the state directory or the socket, or the socket cannot be opened.
    package func start() throws(StartError) {
        try claimState()
        let listening = try listen()
        startNetworks()
        startHistory()
        startJournal()
        hooks = DaemonHooks(on: loop, configuration.hooks, queue: queue, down: records.down, log: log)
        targetHooks.apply(configuration.targetHooks, timeout: configuration.hooks.timeout)
        startQueue()
        registry.onChange = { [unowned self] change, name in handle(change, of: name) }
        registry.onQuality { [unowned self] in records.record($0) }
        registry.onWake = { [unowned self] in records.journal?.recordWake(slept: $1, at: $0) }
        registry.start()
        records.sampleTraffic()
        startProbes()
        if let error = registry.engine.observationError {
            log.error("the kernel cannot be observed", metadata: ["error": "\(error)"])
        }
        reportUnreadAdvertisements()
        manager.notify("READY=1\nSTATUS=Watching")
        manager.feedWatchdog(on: loop)
        log.info("listening", metadata: ["socket": "\(listening)"])
        FreeMemory.release()
    }

    private func reportUnreadAdvertisements() {
        guard let error = registry.engine.listeningError else { return }
        log.warning(
            "no network has a name by its pvd: reading routers' advertisements needs CAP_NET_RAW, see reach.toml(5)",
            metadata: ["error": "\(error)"])
    }

    /// - Returns: The socket's path, for the log.
    private func listen() throws(StartError) -> String {
        let server = ControlServer(
            loop: loop, service: self,
            information: ServiceInformation(
                vendor: "reach", product: "reachd", version: options.version, url: "https://example.org/reach"),
            queue: queue, encoder: encoder,
            authority: ControlAuthority(
                user: getuid(), group: groupNumber(configuration.socket.group, "socket.group"),
                journalGroup: groupNumber(configuration.journal.group, "journal.group"),
                fleetGroup: groupNumber(configuration.queue.fleetGroup, "queue.fleet_group")),
            limits: configuration.controlLimits)
        server.onWarning = { [log] in log.warning("\($0)") }
        self.server = server
        let inherited = PassedSockets(environment: SocketPath.processEnvironment).take()
        do throws(ListenError) {
            for descriptor in inherited { try server.listen(inheriting: descriptor) }
            if inherited.isEmpty { try server.listen(at: socketPath) }
        } catch {
            throw .cannotListen(error)
        }
        return inherited.isEmpty ? socketPath : "the service manager's"
    }

    /// The path of the control socket, unless the service manager passes a socket.
    package var socketPath: String {
        options.socketPath ?? configurations.atStart.socket.path
            ?? SocketPath.default(uid: getuid(), environment: SocketPath.processEnvironment)
    }

    /// Loads the configuration file again and applies it; an invalid file changes nothing.
    @discardableResult
    package func reload() -> ConfigurationError? {
        manager.notify("RELOADING=1\nMONOTONIC_USEC=\(ServiceManager.monotonicMicroseconds)")
        defer { manager.notify("READY=1") }
        guard let file = options.configurationFile else { return nil }
        do throws(ConfigurationError) {
            let loaded = try file.load()
            records.recordUnwatched(Set(configuration.targets.map(\.name)).subtracting(loaded.targets.map(\.name)))
            configurations.latest = loaded
            report(waiting: configurations.waitingKeys)
            output.level = loaded.logLevel.level
            joined.patience = loaded.flapPatience
            registry.apply(loaded)
            reportUnreadAdvertisements()
            queue.apply(loaded, version: options.version)
            records.apply(loaded)
            applyOutageTests()
            queue.reportUnknownNetworks(among: networkNames)
            let gone = Set(probes?.reports.map(\.name) ?? []).subtracting(loaded.probes.flatMap(\.names))
            records.recordUnwatched(gone.map(HistoryEntry.target(ofProbe:)))
            probes?.apply(loaded)
            metrics?.apply(loaded.metrics)
            applyPage()
            hooks?.apply(loaded.hooks)
            targetHooks.apply(loaded.targetHooks, timeout: loaded.hooks.timeout)
            hooks?.forget(probes: gone)
            log.info("the configuration was reloaded")
            return nil
        } catch {
            for line in error.lines { log.error("\(line)") }
            log.error(
                "the new configuration is invalid; the old one stays in effect",
                metadata: LoggedEvent.configurationRefused.metadata())
            return error
        }
    }

    /// The keys that have changed and count only at the next start.
    var waitingKeys: [String] { configurations.waitingKeys }

    /// Says which keys have changed and count only at the next start, also to who reads `systemctl status`.
    private func report(waiting keys: [String]) {
        guard !keys.isEmpty else { return manager.notify("STATUS=Watching") }
        let sentence = "changes to \(keys.listed) take effect at the next start"
        log.warning("\(sentence)")
        manager.notify("STATUS=Watching; \(sentence)")
    }

    /// Notifies the service manager, closes every connection and finishes all writes.
    package func stop() {
        manager.notify("STOPPING=1")
        let lastPage = page.map { _ in pageSnapshot }
        server?.stop()
        joined.endAll()
        hooks?.stop()
        targetHooks.stop()
        probes?.stop()
        metrics?.finish()
        // With these three limits an orderly stop takes less than two seconds.
        queue.close(patience: .milliseconds(900))
        records.close()
        output.finish()
        // From here on a disk that hangs delays only the end of the process.
        if let lastPage { page?.finish(lastPage) }
        records.finishTraffic()
        probes?.save()
    }

    /// Calls `sink` with every event of the Internet target.
    package func watchInternet(_ sink: @escaping (TargetEvent) -> Void) {
        _ = registry.watch(.internet, sink)
        _ = internetSinks.add(sink)
    }

    /// Calls `sink` with the queue events of all users.
    package func watchQueue(_ sink: @escaping (QueueEvent) -> Void) {
        _ = queue.watch { if case .event(let event) = $0 { sink(event) } }
    }

    /// - Parameter key: The key of the configuration that names the group.
    private func groupNumber(_ name: String?, _ key: String) -> UInt32? {
        guard let name else { return nil }
        let number = UInt32(name) ?? getgrnam(name)?.pointee.gr_gid
        if number == nil { log.warning("\(key): there is no group '\(name)', so this key gives no one access") }
        return number
    }
}

/// Why a daemon cannot start: another one holds what it needs, or the socket cannot be opened.
package enum StartError: Error, Hashable, Sendable, CustomStringConvertible {
    case cannotListen(ListenError)
    case stateInUse(directory: String, process: Int32?)

    package var description: String {
        switch self {
        case .cannotListen(let error): "\(error)"
        case .stateInUse(let directory, let process):
            "the state directory \(directory) belongs to \(process.map { "process \($0)" } ?? "another process")"
        }
    }
}

/// The configuration that was loaded last, and that of the start, of which some keys stay in effect.
private struct Configurations {
    let atStart: Configuration
    var latest: Configuration

    init(atStart: Configuration) { (self.atStart, latest) = (atStart, atStart) }

    /// The keys that differ and count only when the daemon starts: what is opened then, and who may do what.
    var waitingKeys: [String] {
        let (old, new) = (atStart, latest)
        return [
            ("[socket]", old.socket != new.socket), ("[limits]", old.limits != new.limits),
            ("history.directory", old.history.directory != new.history.directory),
            ("history.entries", (old.history.entries == 0) != (new.history.entries == 0)),
            ("journal.events", old.journal.opening != new.journal.opening),
            ("journal.group", old.journal.group != new.journal.group),
            ("queue.enabled", old.queue.isEnabled != new.queue.isEnabled),
            ("queue.fleet_group", old.queue.fleetGroup != new.queue.fleetGroup),
        ].filter(\.1).map(\.0)
    }
}

extension Configuration.Journal {
    /// Whether there is a journal, and whether the queue's file keeps events for it.
    fileprivate var opening: [Bool] { [events.isEmpty, events.contains(.queue)] }
}
