internal import Glibc
internal import Logging
internal import ReachControl
internal import ReachCore
internal import ReachLoop
internal import ReachProbe
internal import ReachQueue
internal import ReachQueueRuntime
internal import ReachTransfer

/// The daemon's request queue: opens it with the state directory, publishes its events, and answers its clients.
/// Confined to the loop.
package final class QueueServiceHandler {
    let loop: EventLoop
    /// `nil` before it is opened, and where it cannot be.
    private(set) var opened: QueueEngine?
    private var options = QueueEngine.Options()
    var policy: QueuePolicy { options.policy }
    private let log: Logger
    private let checker: EndpointPathChecker
    let uploads: QueueUploads
    /// Returns why no default route satisfies a condition; `nil` if one does, or if that is not known.
    var rootCause: (NetworkCondition) -> RootCause? = { _ in nil }
    /// The names of the configuration's networks.
    var networkNames: () -> [String] = { [] }
    /// Called when a request was answered with success.
    var onAnswer: () -> Void = {}
    /// Called with the events of the queue's file itself, which no transaction causes.
    var onFileEvent: (QueueEvent) -> Void = { _ in }
    var opening = QueueOpening()
    private var openNow: () -> Void = {}
    private var sinks = NumberedTable<(QueueNotice) -> Void>()
    /// When the disk was last measured.
    private var measured: BootTime?
    /// What happened to requests since the start, for the metrics.
    private(set) var counts = QueueCounts()

    init(loop: EventLoop, transfers: SharedTransfers, log: Logger) {
        self.loop = loop
        self.log = log
        uploads = QueueUploads(loop: loop)
        checker = EndpointPathChecker(loop: loop, transfers: transfers)
    }

    /// Called when an attempt failed and the endpoints did not answer over its path either.
    var onBrokenPath: () -> Void {
        get { checker.onBrokenPath }
        set { checker.onBrokenPath = newValue }
    }

    /// Returns how long a check over an interface may take.
    var checkLimit: (_ interface: String, IPAddress.Family) -> Duration {
        get { checker.patience }
        set { checker.patience = newValue }
    }

    /// Opens the queue in a directory below the state directory. Where that fails, as on a full disk, it is logged, and
    /// there is none until ``openAgain()`` succeeds.
    ///
    /// - Parameter outbox: Where the events of requests go; `nil` if they are not recorded.
    func open(
        in stateDirectory: String, _ configuration: Configuration, version: String, network: any QueueNetwork,
        outbox: QueueOutbox? = nil
    ) {
        apply(configuration, version: version)
        openNow = { [unowned self] in open(in: stateDirectory, network: network, outbox: outbox) }
        openNow()
    }

    private func open(in stateDirectory: String, network: any QueueNetwork, outbox: QueueOutbox?) {
        do {
            let directory = try QueueDirectory(stateDirectory + "/queue")
            let engine = QueueEngine(
                loop: loop, network: network, options: options, checker: checker,
                onEvent: { [unowned self] in publish($0) }, notify: { [unowned self] in handle($0) })
            engine.onProgress = { [unowned self] in publish(.progress($0)) }
            // The limits in force until the file is read; the disk answers the calls before this one, too.
            try engine.driver.setDisk(DiskSpace.measure(at: directory.spoolPath))
            try engine.open(directory, outbox: outbox)
            opened = engine
            // Many requests take longer to restore than the start.
            engine.driver.whenRestored(upTo: .max) { FreeMemory.release() }
        } catch {
            fail("\(error)")
        }
    }

    /// Tries to open the queue that could not be opened: when somebody asks for it, or the daemon is awake anyway.
    func openAgain() {
        guard opened == nil, opening.isDueAgain(at: SystemClock.boot) else { return }
        openNow()
    }

    private func fail(_ reason: String) {
        let (waited, isFirst) = opening.fail(reason, at: SystemClock.boot)
        if isFirst {
            log.error(
                "there is no queue, and it is tried again: \(reason)", metadata: LoggedEvent.queueUnavailable.metadata()
            )
        }
        opened = nil
        begin(waited)
    }

    /// Their receiver has the recorded events up to this one safe.
    func trimOutbox(upTo number: Int64) { opened?.driver.trimOutbox(upTo: number) }

    /// Applies what a new configuration says of limits, sizes, times and proxies, also to what waits already.
    func apply(_ configuration: Configuration, version: String) {
        options = configuration.queueOptions(version: version)
        opened?.apply(options.policy, options.attempts)
        checker.use(configuration.connectivity.endpoints, by: configuration.connectivity.proxies.resolved)
    }

    /// Logs which networks requests ask for and no table names: after a reload that dropped the name, no one would
    /// know.
    func reportUnknownNetworks(among names: [String]) {
        for (condition, count) in opened?.driver.scheduler.conditions ?? [:] {
            guard let name = condition.unknownNetwork(among: names) else { continue }
            log.notice("no [[network]] is named '\(name)', and \(count) requests ask for it: \(condition)")
        }
    }

    /// Runs `work` when the file is open, or cannot be. Opening it, the store removes files that no request names:
    /// nothing that is to stay may be there before.
    func whenOpen(_ work: @escaping () -> Void) {
        if !opening.keeps(work) { work() }
    }

    /// Measures the disk again, of which requests and uploads may fill a share: at most once a second, and without
    /// waiting.
    func measureDisk() {
        let now = SystemClock.boot
        guard measured.map({ now - $0 >= Self.measuringInterval }) ?? true, let spool = opened?.spool else { return }
        measured = now
        spool.measure { [weak self] in self?.opened?.driver.setDisk($0) }
    }

    /// What the queue itself writes counts at once, so only other programs can fill the disk unnoticed for as long as
    /// this.
    private static let measuringInterval: Duration = .seconds(1)

    private func begin(_ waited: [() -> Void]) {
        measured = nil
        measureDisk()
        waited.forEach { $0() }
    }

    /// - Parameter survey: What probes have proved.
    func update(survey: ConnectivitySurvey?) { opened?.update(survey: survey) }

    /// Ends attempts, and lets the store finish.
    func close(patience: Duration) {
        guard let engine = opened else { return }
        if !engine.close(patience: patience) { log.warning("the queue's file could not be written to the end") }
        opened = nil
    }

    // MARK: Subscribers

    /// - Returns: A number for ``unwatch(_:)``.
    func watch(_ sink: @escaping (QueueNotice) -> Void) -> UInt64 { sinks.add(sink) }

    func unwatch(_ number: UInt64) { sinks[number] = nil }

    private func publish(_ event: QueueEvent) {
        if event.kind == .done { onAnswer() }
        if event.kind == .dead { reportDeath(event) }
        if event.kind == .meteredUsed, let budget = event.budget {
            log.notice("a budget for metered links is used up", metadata: ["scope": "\(budget.scope.text)"])
        }
        counts.count(event.kind)
        publish(.event(event))
    }

    /// More people read the log than may read the queue, so it names neither the address nor the user.
    private func reportDeath(_ event: QueueEvent) {
        log.notice(
            "a request was given up; `reach queue show` has more",
            metadata: LoggedEvent.requestGivenUp.metadata(
                shown: ["request": "\(event.request.map { "\($0)" } ?? "")", "reason": "\(event.reason ?? "")"]))
    }

    private func publish(_ notice: QueueNotice) { for sink in sinks.values { sink(notice) } }

    private func handle(_ notice: QueueDriver.Notice) {
        switch notice {
        case .opened(let count, let setAside):
            if let setAside {
                log.error("the queue's file was damaged, and is now \(setAside); the queue starts empty")
                publish(.storageReset)
            }
            let waited = opening.succeed()
            log.info("the queue is open, with \(count) request\(count == 1 ? "" : "s")")
            begin(waited)
        case .setAside(let rows):
            let examples = rows.examples.joined(separator: ", ") + (rows.count > rows.examples.count ? ", ..." : "")
            log.error("\(rows.count) rows of the queue's file meant nothing; its table set_aside has them: \(examples)")
        case .lost(let sentence): log.error("\(sentence)")
        case .failed(let error):
            fail("\(error)")
        case .degraded(let reason?):
            log.error("the queue's file cannot be written: \(reason)")
            publish(.degraded)
        case .degraded(nil):
            log.warning("the queue's file can be written again")
            publish(.recovered)
        }
    }

    /// The queue's figures for the metrics; `nil` without a queue.
    var metrics: QueueMetrics? {
        opened.map { QueueMetrics(statistics: $0.driver.scheduler.statistics(at: SystemClock.boot), counts: counts) }
    }

    /// Publishes an event of the queue as a whole.
    private func publish(_ kind: QueueEvent.Kind) {
        let event = QueueEvent(kind, at: SystemClock.now, epoch: opened?.driver.scheduler.publishedEpoch ?? 0)
        onFileEvent(event)
        publish(.event(event))
    }
}
