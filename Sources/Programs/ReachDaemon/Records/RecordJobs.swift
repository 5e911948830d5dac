internal import ReachControl
internal import ReachCore
internal import ReachLoop
internal import Synchronization

/// Writes records to files. Confined to the thread of its ``RecordJobs``, since it waits for the disk.
protocol RecordWriter: ~Copyable, SendableMetatype {
    associatedtype Item: Sendable
    associatedtype Dropped: DroppedRecords where Dropped.Item == Item
    /// What the recording side learns after something was written or synced.
    associatedtype Report: Sendable

    var report: Report { get }
    mutating func write(_ items: [Item], dropped: Dropped)
    mutating func sync()
    /// Writes the end of the run, and closes the files.
    mutating func close()
    /// The report of records that are lost because the files cannot be opened.
    static func report(ofLost items: [Item], dropped: Dropped) -> Report
}

/// What is kept of records for which there was no room in memory while the disk hung.
protocol DroppedRecords: Sendable {
    associatedtype Item

    init()
    var isEmpty: Bool { get }
    mutating func add(_ item: Item)
    mutating func add(_ other: Self)
    /// How many records an item counts for.
    static func count(of item: Item) -> Int
}

extension DroppedRecords {
    /// The limit of records that wait: a thousand changes a second while a disk spins up.
    static var limit: Int { 4096 }
}

/// Does the work of the history's and of the journal's files on a thread of its own. What is to be written comes first,
/// then one reading for the user who has used the least time. The queue is bounded: a disk that hangs loses records,
/// but costs neither memory nor the callers' time.
final class RecordJobs<Writer: RecordWriter & ~Copyable>: Sendable {
    /// Reads from the files; from nothing if they cannot be opened.
    typealias Reading = @Sendable (inout Writer?) -> Void

    private struct State {
        var items: [Writer.Item] = []
        var count = 0
        var dropped = Writer.Dropped()
        var readings = FairTurns<Reading>()
        var mustSync = false
        /// The last item of the run; `nil` until it ends.
        var last: Writer.Item?
        var hasEnded = false
        var isRunning = false
    }

    /// The files, and what was lost while they could not be opened.
    private struct Files: ~Copyable {
        var writer: Writer?
        var missed = Writer.Dropped()
        /// Whether the run has ended.
        var isClosed = false
        /// When opening failed last; `nil` if it has not.
        var failed: BootTime?
    }

    private let state = Mutex(State())
    private let files = Mutex(Files())
    private let open: @Sendable () throws(SystemError) -> sending Writer
    private let name: String
    private let retryInterval: Duration
    private let report: @Sendable (String) -> Void
    /// Lasts as long as this object.
    let thread: SerialThread
    private let finished: WorkerSignal
    private let deliver: @Sendable (Writer.Report) -> Void

    /// - Parameters:
    ///   - name: What is written: `journal`.
    ///   - retryInterval: How long after a failure the next work tries again to open the files.
    ///   - report: Receives a message on the thread when the files cannot be opened, and when they can again.
    ///   - open: Opens the files, on the thread. Where that fails, as on a full disk, it is tried again.
    ///   - deliver: Called on the thread after something was written or synced.
    init(
        of name: String, retryingAfter retryInterval: Duration = .seconds(10),
        report: @escaping @Sendable (String) -> Void,
        open: @escaping @Sendable () throws(SystemError) -> sending Writer,
        deliver: @escaping @Sendable (Writer.Report) -> Void = { _ in }
    ) throws(SystemError) {
        thread = SerialThread(named: "reach-\(name)", lasting: true)
        finished = try WorkerSignal()
        (self.name, self.retryInterval, self.report) = (name, retryInterval, report)
        (self.open, self.deliver) = (open, deliver)
        state.withLock { $0.isRunning = true }
        thread.run { [self] in
            files.withLock { openFiles(&$0) }
            work()
        }
    }

    /// Enqueues a record within microseconds, whatever the disk does. The thread may sleep on until ``start()``.
    func add(_ item: Writer.Item) {
        state.withLock { state in
            guard state.last == nil, !state.hasEnded else { return }
            let count = Writer.Dropped.count(of: item)
            guard state.count < Writer.Dropped.limit || count == 0 else { return state.dropped.add(item) }
            state.items.append(item)
            state.count += count
        }
    }

    func put(_ item: Writer.Item) {
        add(item)
        start()
    }

    func put(_ reading: @escaping Reading, for user: UInt32) { enqueue { $0.readings.add(reading, for: user) } }

    func sync() { enqueue { $0.mustSync = true } }

    func start() { enqueue { _ in } }

    /// Writes what is left and closes the files. Later records are ignored.
    ///
    /// - Parameter last: The last record of the run, for which there is always room.
    /// - Returns: Whether that was done within this time.
    func close(with last: Writer.Item, patience: Duration) -> Bool {
        enqueue { $0.last = $0.hasEnded ? nil : last }
        return finished.waitUntilFinished(patience)
    }

    private func enqueue(_ change: (inout State) -> Void) {
        let starts = state.withLock { state in
            change(&state)
            defer { state.isRunning = true }
            return !state.isRunning
        }
        if starts { thread.run { [self] in work() } }
    }

    private struct Share {
        var items: [Writer.Item]
        var dropped: Writer.Dropped
        var reading: (user: UInt32, turn: Reading)?
        var mustSync: Bool
        var last: Writer.Item?
    }

    private func work() {
        while let share = next() { files.withLock { work(on: share, &$0) } }
    }

    private func openFiles(_ files: inout Files) {
        guard files.writer == nil, !files.isClosed,
            files.failed.map({ SystemClock.boot - $0 >= retryInterval }) ?? true
        else { return }
        do throws(SystemError) {
            files.writer = try open()
            if files.failed != nil { report("the \(name) is available again") }
            if !files.missed.isEmpty { files.writer?.write([], dropped: files.missed) }
            files.missed = Writer.Dropped()
            files.failed = nil
        } catch {
            if files.failed == nil { report("the \(name) is unavailable, and is tried again: \(error)") }
            files.failed = SystemClock.boot
        }
    }

    /// The next work; `nil` if there is none and the thread may end.
    private func next() -> Share? {
        state.withLock { state in
            let isEmpty = state.items.isEmpty && state.dropped.isEmpty && state.readings.isEmpty
            guard !isEmpty || state.mustSync || state.last != nil else {
                state.isRunning = false
                return nil
            }
            var share = Share(
                items: state.items, dropped: state.dropped, reading: state.readings.next(), mustSync: state.mustSync)
            if state.readings.isEmpty, let last = state.last {
                share.last = last
                (state.last, state.hasEnded) = (nil, true)
            }
            (state.items, state.count, state.dropped, state.mustSync) = ([], 0, Writer.Dropped(), false)
            return share
        }
    }

    private func work(on share: Share, _ files: inout Files) {
        openFiles(&files)
        let hasRecords = !share.items.isEmpty || !share.dropped.isEmpty
        if hasRecords { write(share, &files) }
        if share.mustSync { files.writer?.sync() }
        if hasRecords || share.mustSync {
            deliver(files.writer?.report ?? Writer.report(ofLost: share.items, dropped: share.dropped))
        }
        if let (user, turn) = share.reading {
            let start = SystemClock.boot
            turn(&files.writer)
            let time = SystemClock.boot - start
            state.withLock { $0.readings.charge(time, to: user) }
        }
        guard let last = share.last else { return }
        files.writer?.write([last], dropped: Writer.Dropped())
        files.writer?.close()
        files.writer = nil
        files.isClosed = true
        finished.markFinished()
    }

    private func write(_ share: Share, _ files: inout Files) {
        if files.writer != nil {
            files.writer?.write(share.items, dropped: share.dropped)
        } else {
            for item in share.items { files.missed.add(item) }
            files.missed.add(share.dropped)
        }
    }
}

/// Reports the first failure of a series of writes, and its end.
struct WriteFailures {
    /// What is written: `journal`.
    let name: String
    /// What it consists of: `events`.
    let contents: String
    let report: @Sendable (String) -> Void
    private var isFailing = false

    init(of name: String, _ contents: String, report: @escaping @Sendable (String) -> Void) {
        (self.name, self.contents, self.report) = (name, contents, report)
    }

    mutating func fail(_ error: SystemError) {
        if !isFailing { report("the \(name) cannot be written: \(error)") }
        isFailing = true
    }

    mutating func succeed(lost: some BinaryInteger) {
        if isFailing { report("the \(name) can be written again; \(lost) \(contents) were lost") }
        isFailing = false
    }
}

/// A value that the loop sets and a writer's thread reads, such as a limit of the configuration.
final class SharedValue<Value: Sendable>: Sendable {
    private let value: Mutex<Value>

    init(_ value: Value) { self.value = Mutex(value) }

    var current: Value {
        get { value.withLock { $0 } }
        set { value.withLock { $0 = newValue } }
    }
}
