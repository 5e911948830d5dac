internal import CReachLinux
internal import Glibc
internal import ReachCore
internal import ReachLoop
internal import Synchronization

/// Publishes the metrics on a thread of their own, which exists only while the configuration enables them. The engine's
/// thread only takes the snapshots.
final class MetricsPublisher {
    private let loop: EventLoop
    private let loopReference = LoopReference<MetricsPublisher>()
    private let snapshot: () -> MetricsSnapshot
    private var configuration = Configuration.Metrics()
    /// The mailbox of the thread's loop; `nil` without a thread.
    private var thread: Mailbox?
    private var completion = ThreadCompletion()
    private var retry: TimerQueue.ID?
    /// The failure that was last reported; `nil` since metrics are published.
    private var warning: String?
    /// Receives one line about each problem that an operator should know.
    var onWarning: @Sendable (String) -> Void = { _ in }

    /// Makes an attempt for a scrape. Called on the engine's thread.
    var onScrape: (ScrapeOrder, ScrapeTicket, _ reply: @escaping (ScrapeAnswer) -> Void) -> Void = { _, _, reply in
        reply(.refusal("503 Service Unavailable", "there are no probes"))
    }
    /// Ends an attempt whose connection has ended. Called on the engine's thread.
    var onScrapeEnd: (ScrapeTicket) -> Void = { _ in }

    /// The interval of attempts to listen: an address may appear after the daemon starts, and a port may become free.
    private static let retryInterval = Duration.seconds(5)
    /// The time limit of ``finish()``, a part of the two seconds of an orderly stop.
    private static let finishPatience = Duration.milliseconds(500)

    init(on loop: EventLoop, snapshot: @escaping () -> MetricsSnapshot) {
        self.loop = loop
        self.snapshot = snapshot
        loopReference.owner = self
    }

    deinit { loopReference.owner = nil }

    func apply(_ fresh: Configuration.Metrics) {
        guard fresh != configuration else { return }
        stop()
        configuration = fresh
        begin()
    }

    /// Stops the thread without waiting for it.
    func stop() {
        retry.map(loop.cancel)
        retry = nil
        thread?.post { $0.stop() }
        thread = nil
    }

    /// Stops the thread and waits briefly for it to remove the file. Call it only after the engine's loop has ended,
    /// since it blocks the thread.
    func finish() {
        let isRunning = thread != nil
        stop()
        let deadline = SystemClock.boot + Self.finishPatience
        while isRunning, !completion.isComplete, SystemClock.boot < deadline { usleep(1000) }
    }

    private func begin() {
        guard configuration.listen != nil || configuration.file != nil else { return }
        var listener: CInt?
        do throws(SystemError) {
            listener = try configuration.listen.map { address throws(SystemError) in
                try ListeningSocket.open(at: address, backlog: 256)
            }
            let loop = try EventLoop()
            thread = loop.mailbox
            warning = nil
            run(loop, listener)
        } catch {
            warn(of: error)
            if let listener { close(listener) }
            retry = self.loop.schedule(at: SystemClock.boot + Self.retryInterval) { [unowned self] in
                retry = nil
                begin()
            }
        }
    }

    /// Warns once of each failure, not at every attempt.
    private func warn(of error: SystemError) {
        let place = configuration.listen?.description ?? ""
        let what = error.number == EADDRINUSE ? "\(place) already in use" : "\(place): \(error)"
        guard what != warning else { return }
        warning = what
        onWarning("\(what); trying again every \(Self.retryInterval.components.seconds) s")
    }

    private func run(_ threadLoop: EventLoop, _ listener: CInt?) {
        let source = MetricsSource(
            engine: loop.mailbox, publisher: loopReference, replyTo: threadLoop.mailbox)
        let (file, interval) = (configuration.file, configuration.interval)
        let transfer = LoopTransfer(loop: threadLoop)
        let completion = ThreadCompletion()
        self.completion = completion
        BackgroundThread.start(named: "reach-metrics") { [onWarning] in
            // Formatting megabytes of text must not take the CPU from the engine's thread.
            setpriority(__priority_which_t(PRIO_PROCESS.rawValue), id_t(reach_thread_id()), 10)
            let loop = transfer.loop
            let server = listener.map { MetricsServer(listener: $0, on: loop, source) }
            let writer = file.map { MetricsFile(path: $0, every: interval, on: loop, source, report: onWarning) }
            writer?.begin()
            loop.run()
            writer?.end()
            server?.stop()
            completion.complete()
        }
    }

    /// Takes a snapshot. Call it on the engine's thread.
    fileprivate func takeSnapshot() -> MetricsSnapshot { snapshot() }
}

/// Whether a thread has finished its work.
private final class ThreadCompletion: Sendable {
    private let flag = Atomic(false)

    var isComplete: Bool { flag.load(ordering: .acquiring) }

    func complete() { flag.store(true, ordering: .releasing) }
}

/// Requests snapshots from the engine's thread, for the metrics' thread.
struct MetricsSource: Sendable {
    fileprivate let engine: Mailbox
    /// Only the engine's thread uses it.
    fileprivate let publisher: LoopReference<MetricsPublisher>
    fileprivate let replyTo: Mailbox

    /// Calls `completion` with the answer to a scrape on the metrics' thread, or never if the daemon is stopping.
    func scrape(
        _ order: ScrapeOrder, _ ticket: ScrapeTicket, _ completion: @escaping @Sendable (ScrapeAnswer) -> Void
    ) {
        engine.post { [publisher, replyTo] _ in
            publisher.owner?.onScrape(order, ticket) { answer in replyTo.post { _ in completion(answer) } }
        }
    }

    /// Ends the attempt of a scrape, if it still runs.
    func end(_ ticket: ScrapeTicket) {
        engine.post { [publisher] _ in publisher.owner?.onScrapeEnd(ticket) }
    }

    /// Calls `completion` with a snapshot on the metrics' thread, or never if the daemon is stopping.
    func request(_ completion: @escaping @Sendable (MetricsSnapshot) -> Void) {
        engine.post { [publisher, replyTo] _ in
            guard let snapshot = publisher.owner?.takeSnapshot() else { return }
            replyTo.post { _ in completion(snapshot) }
        }
    }
}

/// Moves a new loop to the thread that runs it. No other thread keeps it.
private struct LoopTransfer: @unchecked Sendable {
    let loop: EventLoop
}
