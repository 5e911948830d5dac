internal import Glibc
internal import ReachCore
internal import ReachFleet
internal import ReachFleetLink
internal import ReachLoop
internal import ReachTerminal

/// The host's agent: the machine, and what carries out its actions. Confined to the loop's thread.
final class Agent {
    struct Places: Sendable {
        /// The daemon's socket.
        var socket: String
        /// The directory of the agent's memory, which survives a restart.
        var state: String
        /// The directory of the agent's report, which other programs read.
        var runtime: String
    }

    private let loop: EventLoop
    private let places: Places
    private var machine: FleetMachine
    private var report: AgentReport
    private var written: AgentReport?
    private lazy var timer = DeadlineTimer(on: loop) { [unowned self] in handle(.tick) }
    private var reportTimer: TimerQueue.ID?
    private var tidyTimer: TimerQueue.ID?
    private var connection: EngineConnection?
    private var journal: JournalFollower?
    private var observer: HostObserver?
    /// `nil` if the configuration accepts no order from the fleet.
    private var desired: DesiredFollower?
    private var hasReleased = false
    private var isStopped = false
    private let isVerbose: Bool

    private static let memoryName = "memory.json"
    /// The shortest time between two reports, unless the word changed.
    private static let reportInterval: Duration = .seconds(5)
    /// The time between connecting and returning unused memory; by then the handshake and the first events are over.
    private static let tidyDelay: Duration = .seconds(10)

    init(_ configuration: AgentConfiguration, _ settings: NATSSettings, _ places: Places, on loop: EventLoop) {
        self.loop = loop
        self.places = places
        isVerbose = getenv("REACH_FLEET_DEBUG") != nil
        var machineSettings = FleetMachine.Settings(
            host: configuration.identity, boot: AgentConfiguration.hash(ofBoot: BootIdentity.current))
        machineSettings.lease = configuration.lease
        machineSettings.meteredLease = configuration.meteredLease
        machineSettings.metered = configuration.metered
        machineSettings.spread = configuration.spread
        let memory = SmallFile.text(places.state + "/" + Self.memoryName, limit: 4096)
            .flatMap { try? FleetMemory(Array($0.utf8)) }
        machine = FleetMachine(machineSettings, memory: memory, seed: UInt64.random(in: .min ... .max))
        report = AgentReport(
            host: configuration.identity, word: machine.word, since: SystemClock.now.wall,
            servers: configuration.servers.map(\.description), lease: configuration.lease)
        let handler: (FleetMachine.Input) -> Void = { [unowned self] input in handle(input) }
        connection = EngineConnection(configuration.identity, settings, on: loop, handler: handler)
        journal = JournalFollower(path: places.socket, configuration.filter, on: loop, handler: handler)
        observer = HostObserver(path: places.socket, configuration, on: loop, handler: handler)
        observer?.onDaemon = { [unowned self] in daemonReturned() }
        if configuration.accepted.contains(.queueHold), let connection {
            desired = DesiredFollower(
                path: places.socket, host: configuration.identity, groups: configuration.groups, connection, on: loop
            ) { [unowned self] revision in
                handle(.applied(revision))
                observer?.needsRefresh()
            }
        }
    }

    func start() {
        writeReport()
        observer?.start()
        handle(.start)
    }

    /// Sends the goodbye. Blocks until the server has it, for at most two seconds.
    func stop() {
        handle(.stop)
        isStopped = true
        connection?.finish()
        writeReport()
    }

    private func handle(_ input: FleetMachine.Input) {
        guard !isStopped else { return }
        if isVerbose { StandardError.write("reach-fleet: debug: \(input)\n") }
        if case .journal(let page) = input, !page.entries.isEmpty { observer?.needsRefresh() }
        connection?.connectivity = observer?.connectivity ?? .unknown
        for action in machine.handle(input, at: SystemClock.now) { perform(action) }
        switch input {
        case .connected:
            desired?.handle(.connected)
            scheduleTidying()
        case .disconnected: desired?.handle(.disconnected)
        default: break
        }
        if machine.wantsJournal { journal?.resume() } else { journal?.pause() }
        timer.set(to: machine.deadline)
        updateReport()
    }

    private func scheduleTidying() {
        guard tidyTimer == nil else { return }
        tidyTimer = loop.schedule(at: SystemClock.boot + Self.tidyDelay) { [unowned self] in
            tidyTimer = nil
            FreeMemory.release()
        }
    }

    private func daemonReturned() {
        if let desired { return desired.handle(.daemonReturned) }
        if !hasReleased { DesiredFollower.releaseUnwanted(path: places.socket) }
        hasReleased = true
    }

    private func perform(_ action: FleetMachine.Action) {
        switch action {
        case .connect: connection?.connect()
        case .disconnect:
            if !isStopping { connection?.close() }
            desired?.handle(.disconnected)
        case .readTail(let number): connection?.readTail(number)
        case .readMark(let number): connection?.readMark(number)
        case .openJournal(let cursor): journal?.open(after: cursor)
        case .closeJournal: journal?.close()
        case .publish(let number, let chunk, let tail): connection?.publish(number, chunk, expecting: tail)
        case .putState(let state): connection?.put(state)
        case .readLease: connection?.readLease()
        case .putLease(let lease): connection?.put(lease)
        case .deleteLease: connection?.deleteLease()
        case .remember(let memory): remember(memory)
        case .word(let word): report(word)
        }
    }

    /// Whether the goodbye is on its way; it must arrive before the connection is closed.
    private var isStopping: Bool { machine.word == .left }

    private func remember(_ memory: FleetMemory) {
        do {
            try AtomicFile.replace(places.state + "/" + Self.memoryName, with: memory.bytes, isSynced: false)
        } catch {
            StandardError.write("reach-fleet: \(error)\n")
        }
    }

    private func report(_ word: FleetWord) {
        report.word = word
        report.since = SystemClock.now.wall
        report.error = error(of: word)
        let reason = word.isHealthy ? nil : report.error
        StandardError.write("reach-fleet: \(word.rawValue): \(word.sentence)\(reason.map { " (\($0))" } ?? "")\n")
        writeReport()
    }

    private func error(of word: FleetWord) -> String? {
        word == .journalRefused ? journal?.lastRefusal : connection?.lastError
    }

    // MARK: - The report

    private func updateReport() {
        report.behind = machine.behind
        report.figures = machine.figures
        report.error = error(of: machine.word)
        report.accepts = desired == nil ? [] : [AgentConfiguration.Acceptance.queueHold.rawValue]
        report.queueIsHeld = desired?.applied?.isHeld ?? false
        report.queueReason = desired?.applied?.reason
        guard report != written, reportTimer == nil else { return }
        reportTimer = loop.schedule(at: SystemClock.boot + Self.reportInterval) { [unowned self] in
            reportTimer = nil
            writeReport()
        }
    }

    private func writeReport() {
        guard report != written else { return }
        written = report
        var json = JSONWriter()
        report.write(to: &json)
        json.newline()
        try? AtomicFile.replace(
            places.runtime + "/" + AgentReport.fileName, with: json.bytes, mode: 0o644, isSynced: false)
        try? AtomicFile.replace(
            places.runtime + "/" + AgentReport.metricsName, with: report.metrics, mode: 0o644, isSynced: false)
    }
}
