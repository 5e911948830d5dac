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

    private let state = Mutex(State())
    private let writer = Mutex<Writer?>(nil)
    private let thread: SerialThread
    private let finished: WorkerSignal
    private let deliver: @Sendable (Writer.Report) -> Void

    /// - Parameters:
    ///   - name: The thread's name.
    ///   - open: Opens the files, on the thread; `nil` if that fails.
    ///   - deliver: Called on the thread after something was written or synced.
    init(
        named name: String, open: @escaping @Sendable () -> sending Writer?,
        deliver: @escaping @Sendable (Writer.Report) -> Void = { _ in }
    ) throws(SystemError) {
        thread = SerialThread(named: name, lasting: true)
        finished = try WorkerSignal()
        self.deliver = deliver
        state.withLock { $0.isRunning = true }
        thread.run { [self] in
            writer.withLock { $0 = open() }
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
        while let share = next() { writer.withLock { work(on: share, &$0) } }
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

    private func work(on share: Share, _ writer: inout Writer?) {
        let hasRecords = !share.items.isEmpty || !share.dropped.isEmpty
        if hasRecords { writer?.write(share.items, dropped: share.dropped) }
        if share.mustSync { writer?.sync() }
        if hasRecords || share.mustSync {
            deliver(writer?.report ?? Writer.report(ofLost: share.items, dropped: share.dropped))
        }
        if let (user, turn) = share.reading {
            let start = SystemClock.boot
            turn(&writer)
            let time = SystemClock.boot - start
            state.withLock { $0.readings.charge(time, to: user) }
        }
        guard let last = share.last else { return }
        writer?.write([last], dropped: Writer.Dropped())
        writer?.close()
        writer = nil
        finished.markFinished()
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
