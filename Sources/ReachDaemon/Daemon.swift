internal import Glibc
internal import Logging
package import ReachControl
internal import ReachCore
internal import ReachKernel
package import ReachLoop

/// The daemon: one engine that watches the kernel for the whole machine, and a socket on which anybody may ask it.
///
/// It lives on an event loop's thread, and nothing of it anywhere else.
package final class Daemon {
    package struct Options: Sendable {
        package var configurationFile: ConfigurationFile?
        /// `nil` is where the configuration says, or the usual place.
        package var socketPath: String?
        /// Print the events of the Internet on standard output, as `reach watch` does.
        package var printsEvents = false
        package var version = ""
        /// Where the event history is kept; `nil` is where the configuration says, or the usual place.
        package var stateDirectory: String?

        package init() {}
    }

    let loop: EventLoop
    let options: Options
    let log: Logger
    private let output: Log
    private let manager: ServiceManager
    private let transfers: SharedTransfers
    let watcher: TargetRegistry
    let examiner: QueryPool
    private var server: ControlServer?
    var stateDirectory: StateDirectory?
    var history: EventHistory?
    let queue: QueueController
    /// What clients ask of the queue is asked here.
    package let queueService: any QueueService
    private var hooks: HookRunner?
    var probes: ProbeServiceHandler?
    private var metrics: MetricsPublisher?
    /// Those who are told what happens to the Internet, by a number of their own.
    var internetSinks: [UInt64: (MonitorEvent) -> Void] = [:]
    private var lastSink: UInt64 = 0
    var configuration: Configuration

    package init(loop: EventLoop, options: Options, configuration: Configuration) {
        self.loop = loop
        self.options = options
        self.configuration = configuration
        output = Log(level: configuration.logLevel.level)
        log = output.logger
        manager = ServiceManager(environment: SocketPath.processEnvironment)
        transfers = SharedTransfers(loop: loop)
        watcher = TargetRegistry(loop: loop, configuration: configuration, transfers: transfers, log: log)
        examiner = QueryPool(on: loop)
        queue = QueueController(loop: loop, transfers: transfers, log: log)
        queueService = QueueServiceHandler(queue)
    }

    private var hookOptions: HookRunner.Options? {
        let usual = ConfigurationFile.directory(isRoot: getuid() == 0, environment: SocketPath.processEnvironment)
        guard let directory = configuration.hooks.directory ?? usual.map({ $0 + "/hooks.d" }) else { return nil }
        return HookRunner.Options(directory: HookDirectory(directory), timeout: configuration.hooks.timeout)
    }

    private func beginHooks() {
        guard let hookOptions else { return }
        hooks = HookRunner(on: loop, hookOptions) { [log] report in log.log(level: report.level, "\(report.text)") }
    }

    /// Begins to observe and to answer.
    ///
    /// - Throws: When another daemon has the state directory or the socket, or the socket cannot be had.
    package func start() throws(StartError) {
        try claimState()
        let listening = try listen()
        beginHistory()
        beginHooks()
        beginQueue()
        watcher.whenChanged = { [unowned self] change in take(change) }
        watcher.start()
        beginProbes()
        if let error = watcher.blindness {
            log.error("the kernel cannot be observed", metadata: ["error": "\(error)"])
        }
        manager.tell("READY=1\nSTATUS=Watching")
        manager.feedWatchdog(on: loop)
        log.info("listening", metadata: ["socket": "\(listening)"])
    }

    /// - Returns: What is listened on.
    private func listen() throws(StartError) -> String {
        let server = ControlServer(
            loop: loop, service: self,
            information: ServiceInformation(
                vendor: "reach", product: "reachd", version: options.version, url: "https://example.org/reach"),
            queue: queueService,
            authority: ControlAuthority(user: getuid(), group: configuration.socket.group.flatMap(Self.groupNumber)),
            limits: configuration.controlLimits)
        server.onWarning = { [log] in log.warning("\($0)") }
        self.server = server
        let inherited = manager.takeDescriptors()
        do throws(ListenError) {
            for descriptor in inherited { try server.listen(inheriting: descriptor) }
            if inherited.isEmpty { try server.listen(at: socketPath) }
        } catch {
            throw .cannotListen(error)
        }
        return inherited.isEmpty ? socketPath : "the service manager's"
    }

    private func take(_ change: ReachabilityChange) {
        history?.record(change)
        log.debug(
            "change",
            metadata: [
                "target": "\(change.state.target)", "status": "\(change.state.status.rawValue)",
                "interface": "\(change.state.interface ?? "")", "cause": "\(change.cause.rawValue)",
            ])
        // A state that was there before is no event.
        if !change.isInitial { hooks?.tell(HookEvent(change)) }
    }

    private func beginProbes() {
        let desk = ProbeServiceHandler(loop: loop, watcher: watcher, transfers: transfers) { [unowned self] in take($0)
        }
        probes = desk
        desk.take(configuration)
        metrics = MetricsPublisher(on: loop) { [unowned self] in snapshot }
        metrics?.whenTroubled = { [log] in log.warning("metrics", metadata: ["error": "\($0)"]) }
        metrics?.take(configuration.metrics)
    }

    private func take(_ event: ProbeEvent) {
        log.log(level: event.level, "\(event.text)")
        history?.record(event)
        for sink in internetSinks.values { sink(.probe(event)) }
    }

    private var snapshot: MetricsSnapshot {
        var snapshot = MetricsSnapshot(version: options.version)
        snapshot.states = watcher.namedStates
        snapshot.probes = probes?.records ?? []
        snapshot.resyncs = watcher.resyncs
        snapshot.isBlind = watcher.blindness != nil
        snapshot.control = server?.statistics
        return snapshot
    }

    func addSink(_ sink: @escaping (MonitorEvent) -> Void) -> UInt64 {
        lastSink += 1
        internetSinks[lastSink] = sink
        return lastSink
    }

    /// Where clients find it, if the service manager does not say otherwise.
    package var socketPath: String {
        options.socketPath ?? configuration.socket.path
            ?? SocketPath.default(uid: getuid(), environment: SocketPath.processEnvironment)
    }

    /// Takes a new configuration over: whole, or not at all.
    @discardableResult
    package func reload() -> ConfigurationError? {
        manager.tell("RELOADING=1\nMONOTONIC_USEC=\(ServiceManager.monotonicMicroseconds)")
        defer { manager.tell("READY=1") }
        guard let file = options.configurationFile else { return nil }
        do throws(ConfigurationError) {
            let fresh = try file.load()
            if fresh.socket != configuration.socket || fresh.limits != configuration.limits
                || fresh.history != configuration.history || fresh.queue != configuration.queue
            {
                log.warning("changes of [socket], [limits], [history] and [queue] hold from the next start")
            }
            configuration = fresh
            output.level = fresh.logLevel.level
            watcher.take(fresh)
            queue.take(fresh)
            let gone = Set(probes?.reports.map(\.name) ?? []).subtracting(fresh.probes.map(\.name))
            for name in gone.sorted() { history?.recordUnwatched(probe: name, at: SystemClock.now) }
            probes?.take(fresh)
            metrics?.take(fresh.metrics)
            if let hookOptions { hooks?.options = hookOptions }
            log.info("the configuration was read anew")
            return nil
        } catch {
            for line in error.lines { log.error("\(line)") }
            log.error("the configuration is refused, and the old one kept")
            return error
        }
    }

    /// Tells the service manager, and ends every connection.
    package func stop() {
        manager.tell("STOPPING=1")
        server?.stop()
        hooks?.stop()
        probes?.stop()
        metrics?.finish()
        // Within the two seconds of an orderly stop, with what the history may take.
        queue.close(patience: .milliseconds(900))
        history?.close(at: SystemClock.now, patience: .seconds(1))
        output.finish()
    }

    /// Calls `sink` with what happens to the Internet's target.
    package func watchInternet(_ sink: @escaping (MonitorEvent) -> Void) {
        _ = watcher.watch(.internet, sink)
        _ = addSink(sink)
    }

    /// Calls `sink` with what happens in the queue, whosever it is.
    package func watchQueue(_ sink: @escaping (QueueEventRecord) -> Void) {
        _ = queue.watch { if case .event(let record) = $0 { sink(record) } }
    }

    private static func groupNumber(_ name: String) -> UInt32? {
        if let number = UInt32(name) { return number }
        return getgrnam(name)?.pointee.gr_gid
    }
}
