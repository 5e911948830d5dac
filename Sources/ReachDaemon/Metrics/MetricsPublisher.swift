internal import CReachLinux
internal import Glibc
internal import ReachCore
internal import ReachLoop
internal import Synchronization

/// Has the metrics served and written by a thread of their own, which lives only while the configuration wants them: the engine
/// does no more for a scrape than take a snapshot.
final class MetricsPublisher {
    private let loop: EventLoop
    private let snapshot: () -> MetricsSnapshot
    private var wanted = Configuration.Metrics()
    /// The loop of the thread.
    private var thread: Mailbox?
    private var end = ThreadEnd()
    private var retry: TimerQueue.ID?
    /// Is told what an operator should know: one line of text.
    var whenTroubled: @Sendable (String) -> Void = { _ in }

    /// An address may come later than the daemon; a port may be somebody else's for a while.
    private static let retryInterval = Duration.seconds(5)
    /// Of the two seconds in which the daemon ends.
    private static let endPatience = Duration.milliseconds(500)

    init(on loop: EventLoop, snapshot: @escaping () -> MetricsSnapshot) {
        self.loop = loop
        self.snapshot = snapshot
    }

    func take(_ configuration: Configuration.Metrics) {
        guard configuration != wanted else { return }
        stop()
        wanted = configuration
        begin()
    }

    /// Ends the thread.
    func stop() {
        retry.map(loop.cancel)
        retry = nil
        thread?.post { $0.stop() }
        thread = nil
    }

    /// Ends the thread, and waits for it a moment: the file is to be gone when the process is. Only when the engine has ended.
    func finish() {
        let isRunning = thread != nil
        stop()
        let deadline = SystemClock.boot + Self.endPatience
        while isRunning, !end.hasCome, SystemClock.boot < deadline { usleep(1000) }
    }

    private func begin() {
        guard wanted.listen != nil || wanted.file != nil else { return }
        var listener: CInt?
        do throws(SystemError) {
            listener = try wanted.listen.map { place throws(SystemError) in try MetricsServer.listen(at: place) }
            let loop = try EventLoop()
            thread = loop.mailbox
            run(loop, listener)
        } catch {
            whenTroubled("\(wanted.listen?.description ?? ""): \(error)")
            if let listener { close(listener) }
            retry = self.loop.schedule(at: SystemClock.boot + Self.retryInterval) { [unowned self] in
                retry = nil
                begin()
            }
        }
    }

    private func run(_ threadLoop: EventLoop, _ listener: CInt?) {
        let source = MetricsSource(
            engine: loop.mailbox, publisher: PublisherReference(self), replyTo: threadLoop.mailbox)
        let (file, interval) = (wanted.file, wanted.interval)
        let box = LoopTransfer(loop: threadLoop)
        let end = ThreadEnd()
        self.end = end
        BackgroundThread.start(named: "reach-metrics") { [whenTroubled] in
            // Writing megabytes must not keep the engine waiting for a CPU.
            setpriority(__priority_which_t(PRIO_PROCESS.rawValue), id_t(reach_thread_id()), 10)
            let loop = box.loop
            let server = listener.map { MetricsServer(listener: $0, on: loop, source) }
            let writer = file.map { MetricsFile(path: $0, every: interval, on: loop, source, report: whenTroubled) }
            writer?.begin()
            loop.run()
            writer?.end()
            server?.stop()
            end.come()
        }
    }

    /// Called on the engine's thread.
    fileprivate func takeSnapshot() -> MetricsSnapshot { snapshot() }
}

/// Whether a thread has done all that it ever will.
private final class ThreadEnd: Sendable {
    private let flag = Atomic(false)

    var hasCome: Bool { flag.load(ordering: .acquiring) }

    func come() { flag.store(true, ordering: .releasing) }
}

/// Asks the engine for a snapshot, from the metrics' thread.
struct MetricsSource: Sendable {
    fileprivate let engine: Mailbox
    fileprivate let publisher: PublisherReference
    fileprivate let replyTo: Mailbox

    /// Calls `completion` on the metrics' loop; not at all if the daemon is ending.
    func ask(_ completion: @escaping @Sendable (MetricsSnapshot) -> Void) {
        engine.post { [publisher, replyTo] _ in
            guard let snapshot = publisher.publisher?.takeSnapshot() else { return }
            replyTo.post { _ in completion(snapshot) }
        }
    }
}

/// Carries the publisher's reference through the metrics' thread, which never opens it: only the engine's does.
private struct PublisherReference: @unchecked Sendable {
    weak var publisher: MetricsPublisher?

    init(_ publisher: MetricsPublisher) { self.publisher = publisher }
}

/// Hands a new loop over to the thread that will run it; nobody else keeps it.
private struct LoopTransfer: @unchecked Sendable {
    let loop: EventLoop
}
