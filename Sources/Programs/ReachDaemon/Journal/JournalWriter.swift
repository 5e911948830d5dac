internal import ReachControl
internal import ReachCore
internal import ReachLoop
internal import ReachQueueRuntime

/// What the loop knows of the journal's files.
struct JournalStatistics: Hashable, Sendable {
    /// The bytes of the files.
    var bytes: Int64 = 0
    /// Events written, and events lost, since the start.
    var written: UInt64 = 0
    var lost: UInt64 = 0
    /// Whether events are perhaps not on the disk.
    var needsSync = false
    /// The number of the last row of the outbox that is safe on the disk; 0 for none.
    var safeRow: Int64 = 0
    /// Rows of the outbox that are not safe.
    var unsafeRows = 0
}

/// Numbers events and writes them. Confined to the journal's thread.
struct JournalWriter: RecordWriter, ~Copyable {
    enum Item: Sendable {
        case event([UInt8])
        /// Events of the queue. Repeated ones may be in the files already.
        case rows([QueueOutbox.Row], isRepeated: Bool)
    }

    /// Events that did not fit into the memory while the disk hung.
    struct Dropped: DroppedRecords {
        private(set) var count = 0
        /// The last row of the outbox among them.
        private(set) var lastRow: Int64?

        var isEmpty: Bool { count == 0 }

        mutating func add(_ item: Item) {
            count += Self.count(of: item)
            if case .rows(let rows, _) = item { lastRow = rows.last?.number ?? lastRow }
        }

        mutating func add(_ other: Dropped) {
            count += other.count
            lastRow = other.lastRow ?? lastRow
        }

        /// What an earlier run left is bounded by the outbox, and counts for nothing.
        static func count(of item: Item) -> Int {
            if case .rows(let rows, let isRepeated) = item { isRepeated ? 0 : rows.count } else { 1 }
        }
    }

    private var store: JournalStore
    private let boot: String
    private var failures: WriteFailures
    private let warn: @Sendable (String) -> Void
    /// The limits of the files, which a new configuration may change.
    private let limits: SharedValue<JournalStore.Options>?
    private(set) var statistics = JournalStatistics()
    /// Events that have no line yet: they could not be written.
    private var missing: Int64 = 0
    private var reason = JournalGap.Reason.refused
    /// The last row that has a line, or is among the missing.
    private var lastRow: Int64 = 0

    /// Rows of the outbox that wait for a disk that fails.
    private static let mostRows = 10_000

    /// - Parameter limits: Those of now; `nil` for those of the store.
    init(
        _ store: consuming JournalStore, boot: String, limits: SharedValue<JournalStore.Options>? = nil,
        report: @escaping @Sendable (String) -> Void
    ) {
        self.store = store
        self.limits = limits
        self.boot = boot
        failures = WriteFailures(of: "journal", "events", report: report)
        warn = report
        statistics.bytes = self.store.bytes
    }

    var lastSeen: Timestamp? { store.lastSeen }
    var report: JournalStatistics { statistics }

    /// Without files no row of the outbox is needed.
    static func report(ofLost items: [Item], dropped: Dropped) -> JournalStatistics {
        var statistics = JournalStatistics()
        for case .rows(let rows, _) in items { statistics.safeRow = rows.last?.number ?? statistics.safeRow }
        statistics.safeRow = dropped.lastRow ?? statistics.safeRow
        return statistics
    }

    /// Writes events in their order. Those that cannot be written are counted, and the next ones begin with a gap.
    ///
    /// - Parameter dropped: They are counted in the same way.
    mutating func write(_ items: [Item], dropped: Dropped = Dropped()) {
        if let limits { store.options = limits.current }
        missing += Int64(dropped.count)
        statistics.lost += UInt64(dropped.count)
        var lines = JournalBatch(log: store.log, last: store.last, boot: boot)
        if missing > 0 { lines.append(JournalGap(reason, store.last + 1...store.last + missing)) }
        var rows = 0
        for item in items {
            switch item {
            case .event(let event): lines.append(event)
            case .rows(let all, let isRepeated):
                for row in isRepeated ? unrecorded(all) : all {
                    if isRepeated, !JournalLine.isReadable(row.event, outbox: row.number) {
                        setAside(row, &lines)
                    } else {
                        lines.append(row.event, outbox: row.number)
                    }
                }
                lastRow = all.last?.number ?? lastRow
                rows += all.count
            }
        }
        lastRow = dropped.lastRow ?? lastRow
        statistics.unsafeRows += rows
        statistics.needsSync = statistics.needsSync || rows > 0
        guard !lines.isEmpty else { return }
        let countsRows = missing > 0 && (statistics.unsafeRows > rows || dropped.lastRow != nil)
        do throws(SystemError) {
            try store.append(lines.bytes, last: lines.last)
            succeed(lines)
        } catch {
            // Nothing is written, unless only what followed the lines failed.
            guard store.last < lines.last else { return succeed(lines) }
            missing += Int64(lines.count + lines.lost)
            statistics.lost += UInt64(lines.count + lines.lost)
            // The gap counts them. The outbox must not grow without end.
            if statistics.unsafeRows > Self.mostRows { releaseRows() }
            failures.fail(error)
        }
        statistics.bytes = store.bytes
        // The outbox still has rows that the gap counts. The next run would record them, so they go now.
        if countsRows, missing == 0 { sync() }
    }

    /// Records that an event is missing, in place of a row that was damaged in the queue's file.
    private func setAside(_ row: QueueOutbox.Row, _ lines: inout JournalBatch) {
        let text = DisplayText.excerpt(String(decoding: row.event.prefix(200), as: UTF8.self))
        warn("event \(row.number) of the queue's file is damaged, and is not recorded: \"\(text)\"")
        lines.skipDamaged()
    }

    /// The outbox need not keep the rows so far any longer.
    private mutating func releaseRows() {
        statistics.safeRow = lastRow
        statistics.unsafeRows = 0
    }

    private mutating func succeed(_ lines: borrowing JournalBatch) {
        // At most once for each file that is full.
        if let error = store.takeThinningError() {
            warn("the journal's older files cannot be rewritten, so its oldest events go, whosever they are: \(error)")
        }
        missing = 0
        statistics.written += UInt64(lines.count)
        statistics.lost += UInt64(lines.lost)
        statistics.needsSync = true
        statistics.bytes = store.bytes
        failures.succeed(lost: statistics.lost)
    }

    private func unrecorded(_ rows: [QueueOutbox.Row]) -> [QueueOutbox.Row] {
        let events = Dictionary(rows.map { ($0.number, $0.event) }) { first, _ in first }
        guard let found = try? store.recorded(events) else { return rows }
        return rows.filter { !found.contains($0.number) }
    }

    /// Waits for the disk. Then the rows of the outbox are no longer needed.
    mutating func sync() {
        do throws(SystemError) {
            try store.sync()
            statistics.needsSync = false
            guard missing == 0 else { return }
            // After a loss of power the next run finds out by the outbox's rows which of their events the files lack.
            if store.mayHaveLostWrites, statistics.unsafeRows <= Self.mostRows { return }
            releaseRows()
        } catch {
            failures.fail(error)
        }
    }

    mutating func close() {
        do throws(SystemError) {
            try store.close()
            statistics.needsSync = false
        } catch {
            failures.fail(error)
        }
    }

    /// Reads a part of a page.
    ///
    /// - Parameter user: The user whose events of requests are read; `nil` for everybody's.
    mutating func read(_ query: JournalQuery, of user: UInt32?) throws(SystemError) -> JournalSlice {
        // A reader of everything that is ahead has seen what these files have lost: they were rolled back.
        if user == nil, let after = query.after, after > store.last, query.log ?? store.log == store.log {
            let log = store.log
            try store.beginLog()
            warn("the journal was rolled back: a reader knows event \(after) of log \(log); a new log begins")
        }
        return try store.read(query, of: user)
    }
}

/// Lines to be written together.
private struct JournalBatch: ~Copyable {
    let log: String
    let boot: String
    private(set) var last: Int64
    private(set) var bytes: [UInt8] = []
    /// Events among the lines; gaps are none.
    private(set) var count = 0
    /// Events that are too large, or damaged: a gap stands for each.
    private(set) var lost = 0

    init(log: String, last: Int64, boot: String) {
        self.log = log
        self.last = last
        self.boot = boot
    }

    var isEmpty: Bool { bytes.isEmpty }

    mutating func append(_ event: [UInt8], outbox: Int64? = nil) {
        guard event.count <= JournalLine.longestEvent else {
            lost += 1
            return append(JournalGap(.tooLarge, last + 1...last + 1))
        }
        last += 1
        count += 1
        bytes += JournalLine.encode(event, log: log, number: last, outbox: outbox)
    }

    mutating func skipDamaged() {
        lost += 1
        append(JournalGap(.damaged, last + 1...last + 1))
    }

    mutating func append(_ gap: JournalGap) {
        last = gap.numbers?.upperBound ?? last
        bytes += JournalLine.encode(gap.event(at: SystemClock.now, boot: boot), log: log, number: last)
    }
}
