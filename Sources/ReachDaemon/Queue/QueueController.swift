internal import Glibc
internal import Logging
internal import ReachControl
internal import ReachCore
internal import ReachLoop
internal import ReachProbe
internal import ReachQueue
internal import ReachQueueRuntime
internal import ReachTransfer

/// The daemon's request queue: opened with the state directory, told of the network, and watched by clients. Confined to
/// the loop.
final class QueueController {
    let loop: EventLoop
    /// `nil` before it is opened, and where it cannot be.
    private(set) var engine: QueueEngine?
    private(set) var policy = QueuePolicy()
    private let log: Logger
    private let checker: EndpointPathChecker
    /// Told when a request was answered as it should be.
    var whenAnswered: () -> Void = {}
    /// What waits for the file to be open; `nil` when it is.
    private var early: [() -> Void]? = []
    private var sinks: [UInt64: (QueueWatchEvent) -> Void] = [:]
    private var lastSink: UInt64 = 0

    /// What happens in the queue, for those who watch it.
    enum QueueWatchEvent {
        case event(QueueEventRecord)
        case moved(AttemptProgress)
    }

    init(loop: EventLoop, transfers: SharedTransfers, log: Logger) {
        self.loop = loop
        self.log = log
        checker = EndpointPathChecker(loop: loop, transfers: transfers)
    }

    /// Told when an attempt failed and the endpoints did not answer by its path, either.
    var whenPathBroken: () -> Void {
        get { checker.whenBroken }
        set { checker.whenBroken = newValue }
    }

    /// Opens the queue in a directory below the state directory. Where that fails, it is logged, and there is none.
    func open(in stateDirectory: String, _ configuration: Configuration, version: String, network: any QueueNetwork) {
        let options = configuration.queueOptions(version: version)
        policy = options.policy
        take(configuration)
        do {
            let directory = try QueueDirectory(stateDirectory + "/queue")
            let engine = QueueEngine(
                loop: loop, network: network, options: options, checker: checker,
                tell: { [unowned self] in tell($0) }, notify: { [unowned self] in take($0) })
            engine.whenMoved = { [unowned self] in tell(.moved($0)) }
            try engine.open(directory)
            self.engine = engine
        } catch {
            log.error("there is no queue: \(error)")
            beOpen()
        }
    }

    /// What a new configuration changes at once: whom to ask whether paths work.
    func take(_ configuration: Configuration) { checker.use(configuration.connectivity.endpoints) }

    /// Runs `work` when the file is open, or cannot be. Opening it, the store removes files that no request names:
    /// nothing that is to stay may be there before.
    func whenOpen(_ work: @escaping () -> Void) {
        if early == nil { work() } else { early?.append(work) }
    }

    private func beOpen() {
        let waiting = early ?? []
        early = nil
        waiting.forEach { $0() }
    }

    /// What probes have proved.
    func learn(_ survey: ConnectivitySurvey?) { engine?.learn(survey) }

    /// Ends attempts, and lets the store finish.
    func close(patience: Duration) {
        guard let engine else { return }
        if !engine.close(patience: patience) { log.warning("the queue's file could not be written to the end") }
        self.engine = nil
    }

    // MARK: Those who watch

    /// - Returns: A number for ``unwatch(_:)``.
    func watch(_ sink: @escaping (QueueWatchEvent) -> Void) -> UInt64 {
        lastSink += 1
        sinks[lastSink] = sink
        return lastSink
    }

    func unwatch(_ number: UInt64) { sinks[number] = nil }

    private func tell(_ event: QueueEvent) {
        if event.kind == .done { whenAnswered() }
        if !sinks.isEmpty { tell(QueueEventRecord(event)) }
    }

    private func tell(_ record: QueueEventRecord) { tell(.event(record)) }

    private func tell(_ news: QueueWatchEvent) { for sink in sinks.values { sink(news) } }

    private func take(_ notice: QueueDriver.Notice) {
        switch notice {
        case .opened(let count, let setAside):
            if let setAside {
                log.error("the queue's file was damaged, and is now \(setAside); the queue begins anew")
                tellWhole("storage-reset")
            }
            log.info("the queue is open, with \(count) requests")
            beOpen()
        case .setAside(let rows):
            let examples = rows.examples.joined(separator: ", ") + (rows.count > rows.examples.count ? ", ..." : "")
            log.error("\(rows.count) rows of the queue's file meant nothing; its table set_aside has them: \(examples)")
        case .failed(let error):
            log.error("there is no queue: \(error)")
            engine = nil
            beOpen()
        case .degraded(let reason?):
            log.error("the queue's file cannot be written: \(reason)")
            tellWhole("degraded")
        case .degraded(nil):
            log.warning("the queue's file can be written again")
            tellWhole("recovered")
        }
    }

    private func tellWhole(_ event: String) {
        tell(QueueEventRecord(event, at: SystemClock.now, epoch: engine?.epoch ?? 0))
    }
}

extension QueueEventRecord {
    init(_ event: QueueEvent) {
        self.init(event.kind.rawValue, at: event.moment, epoch: event.epoch)
        id = event.request?.rawValue
        user = event.owner
        attempt = event.attempt
        reason = event.reason
        status = event.status
        interface = event.interface
        blockers = event.blockers.words
        notBefore = event.notBefore?.wall
        destination = event.destination?.description
        when = event.condition?.description
        count = event.count
    }
}
