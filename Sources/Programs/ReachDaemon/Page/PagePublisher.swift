internal import CReachLinux
internal import Glibc
internal import ReachCore
internal import ReachLoop

/// Writes the page of this machine, on a thread of its own that ends with each page. Without a directory it has no
/// timer, and a change costs one comparison. Confined to the engine's loop.
final class PagePublisher {
    private let loop: EventLoop
    private let loopReference = LoopReference<PagePublisher>()
    private let snapshot: () -> PageSnapshot
    private let thread = SerialThread(named: "reach-page")
    private var directory: String?
    private var timer: TimerQueue.ID?
    private var due: BootTime?
    private var pace = PagePace()
    private var archives = PageArchives()
    /// Whether the thread writes a page. A directory that hangs keeps it forever; nothing else waits for it.
    private var isWriting = false
    /// What changed meanwhile.
    private var change: PagePace.Change?
    /// The failure that was last reported; `nil` since pages are written.
    private var failure: String?
    /// Receives one line about each problem that an operator should know, and that it is over.
    var onNotice: (String) -> Void = { _ in }
    /// Called after each page, which leaves free memory behind.
    var onPage: () -> Void = {}

    /// How long an orderly stop waits for the last page.
    private static let lastPatience: Duration = .milliseconds(200)

    init(on loop: EventLoop, snapshot: @escaping () -> PageSnapshot) {
        self.loop = loop
        self.snapshot = snapshot
        loopReference.owner = self
    }

    deinit { loopReference.owner = nil }

    /// Begins to write into a directory, or ends with `nil`.
    func apply(_ fresh: String?) {
        guard fresh != directory else { return }
        directory = fresh
        (failure, change, pace, archives) = (nil, nil, PagePace(), PageArchives())
        timer.map(loop.cancel)
        (timer, due) = (nil, nil)
        if fresh != nil { note(.state) }
    }

    func note(_ change: PagePace.Change) {
        guard directory != nil else { return }
        guard !isWriting else { return self.change = max(self.change ?? .none, change) }
        let time = pace.time(of: change, at: SystemClock.boot)
        if let due, due <= time { return }
        timer.map(loop.cancel)
        due = time
        timer = loop.schedule(at: time) { [weak self] in self?.write() }
    }

    private func write() {
        (timer, due) = (nil, nil)
        guard let directory, !isWriting else { return }
        isWriting = true
        pace.begin(at: SystemClock.boot)
        var snapshot = snapshot()
        snapshot.archives = archives
        let (reference, mailbox) = (loopReference, loop.mailbox)
        thread.run { [snapshot] in
            // What it took of a processor: on a busy machine it waits for its turns, and must not be the rarer for it.
            let begin = SystemClock.threadTime
            let failure = Self.write(snapshot, directory)
            let duration = SystemClock.threadTime - begin
            mailbox.post { _ in reference.owner?.end(failure, after: duration, in: directory) }
        }
    }

    private static func write(_ snapshot: PageSnapshot, _ directory: String) -> String? {
        // Reading a history must not take the processor from the engine's thread.
        setpriority(__priority_which_t(PRIO_PROCESS.rawValue), id_t(reach_thread_id()), 10)
        do throws(PageDirectory.Failure) {
            try PageDirectory(directory).write(snapshot.html())
            return nil
        } catch {
            return "\(error)"
        }
    }

    private func end(_ problem: String?, after duration: Duration, in written: String) {
        isWriting = false
        pace.end(after: duration)
        onPage()
        defer { note(change ?? .none); change = nil }
        guard written == directory, problem != failure else { return }
        if let problem {
            onNotice("the page cannot be written: \(problem)")
        } else {
            onNotice("the page can be written again")
        }
        failure = problem
    }

    /// Writes the last page, which says that the daemon ended, and waits briefly for it. Call it only after the
    /// engine's loop has ended.
    ///
    /// - Parameter snapshot: What was before anything stopped.
    func finish(_ snapshot: PageSnapshot) {
        guard let directory, !isWriting, let signal = try? FinishSignal() else { return }
        timer.map(loop.cancel)
        var snapshot = snapshot
        snapshot.isLast = true
        thread.run { [snapshot] in
            _ = Self.write(snapshot, directory)
            signal.value.markFinished()
        }
        signal.value.waitUntilFinished(Self.lastPatience)
    }
}

/// Shares a signal between two threads.
private final class FinishSignal: Sendable {
    let value: WorkerSignal

    init() throws(SystemError) { value = try WorkerSignal() }
}
