internal import Glibc
package import ReachControl
package import ReachCore
package import ReachLoop
package import ReachQueue
package import ReachQueueRuntime

/// Records events on disk, numbered, for readers that continue where they were. Confined to the loop.
///
/// Without events its thread sleeps, and there is no timer. Events are on the disk within ``syncInterval``; a crash of
/// the daemon loses at most those of the turn of the loop in which it happens, milliseconds; of the queue none.
package final class Journal {
    package typealias Options = JournalOptions

    /// A loss of power loses the events of this time at most; of the queue none, since its file has them until then.
    package static let syncInterval: Duration = .seconds(30)
    /// Rows of the outbox that wait for this to pass.
    private static let unsafeRows = 1024

    private let loop: EventLoop
    private var kinds: Set<JournalKind>
    private let limits: SharedValue<JournalStore.Options>
    private let boot: String
    private let jobs: RecordJobs<JournalWriter>
    private let replies: LoopReplies
    private let loopReference = LoopReference<Journal>()
    private var followers = NumberedTable<() -> Void>()
    private let encoder: ChangeEncoder
    /// How many events were recorded in this turn of the loop.
    private var recorded = 0
    /// So many of a turn do not wait for its end: the thread's queue is bounded.
    private static let most = 1024
    private var syncTimer: TimerQueue.ID?
    private var safeRow: Int64 = 0
    private(set) var statistics = JournalStatistics()
    /// Called with the number of a row of the queue's outbox, when that and all before it are no longer needed.
    package var onSafe: (Int64) -> Void = { _ in }

    /// Opens the journal and records the start of the run.
    ///
    /// - Parameters:
    ///   - encoder: Encodes the changes of targets.
    ///   - report: Receives a message on another thread when the files cannot be written, and when they can again.
    package init(
        _ files: JournalFiles, _ options: Options, loop: EventLoop, at moment: Instant, boot: String,
        encoder: ChangeEncoder = ChangeEncoder(source: .daemon), report: @escaping @Sendable (String) -> Void
    ) throws(SystemError) {
        self.loop = loop
        self.encoder = encoder
        self.boot = boot
        kinds = options.kinds
        replies = LoopReplies(loop: loop)
        let limits = SharedValue(JournalStore.Options(options))
        self.limits = limits
        jobs = try RecordJobs(of: "journal", report: report) { () throws(SystemError) in
            let store = try JournalStore(files, limits.current, boot: boot)
            var writer = JournalWriter(store, boot: boot, limits: limits, report: report)
            writer.write([.event(JournalEvents.started(at: moment, lastSeen: writer.lastSeen, boot: boot))])
            return writer
        } deliver: { [loopReference, mailbox = loop.mailbox] statistics in
            mailbox.post { _ in loopReference.owner?.update(statistics) }
        }
        loopReference.owner = self
    }

    deinit {
        syncTimer.map(loop.cancel)
        loopReference.owner = nil
    }

    /// Records these kinds within these limits, from the next event on. Whether events of requests are recorded stays
    /// as it is, since the queue's file was opened with that.
    package func apply(_ options: Options) {
        let requests = kinds.intersection([.queue])
        kinds = options.kinds.subtracting([.queue]).union(requests)
        limits.current = JournalStore.Options(options)
    }

    // MARK: Recording

    package func record(_ change: ReachabilityChange) {
        let isProof = !change.aspects.isEmpty && change.aspects.allSatisfy(\.isOfProof)
        guard kinds.contains(isProof ? .connectivity : .status) else { return }
        var target: QuotedTarget?
        record(encoder.encode(.change(change), of: &target))
    }

    package func record(_ event: ProbeEvent) {
        guard kinds.contains(event.kind == .result ? .probeResult : .probe) else { return }
        record(.probe(event))
    }

    /// Records an event of the queue that its outbox does not have: one of its file.
    package func record(_ event: QueueEvent) {
        if kinds.contains(.queue) { record(.queue(event)) }
    }

    package func recordWake(slept: Duration, at moment: Instant) {
        if kinds.contains(.wake) { record(.wake(slept: slept, at: moment)) }
    }

    /// Records an event. A thousand targets that change together wake the thread once.
    private func record(_ event: EncodedEvent) {
        jobs.add(.event(JournalEvents.encode(event, boot: boot)))
        recorded += 1
        if recorded == 1 {
            loop.afterEvents { [weak self] in
                self?.recorded = 0
                self?.jobs.start()
            }
        } else if recorded.isMultiple(of: Self.most) {
            jobs.start()
        }
    }

    /// Where the queue's file puts the events of its transactions; `nil` if they are not wanted.
    package var outbox: QueueOutbox? {
        guard kinds.contains(.queue) else { return nil }
        return QueueOutbox { [boot] event in
            JournalEvents.encode(.queue(event), boot: boot)
        } deliver: { [jobs] rows, isRepeated in
            jobs.put(.rows(rows, isRepeated: isRepeated))
        }
    }

    /// Writes everything and records the end of the run.
    ///
    /// - Returns: Whether that was done within this time.
    @discardableResult
    package func close(at moment: Instant, patience: Duration) -> Bool {
        jobs.close(with: .event(JournalEvents.stopped(at: moment, boot: boot)), patience: patience)
    }

    private func update(_ statistics: JournalStatistics) {
        let hasEvents = statistics.written != self.statistics.written
        self.statistics = statistics
        if statistics.safeRow != safeRow {
            safeRow = statistics.safeRow
            onSafe(safeRow)
        }
        // What could not be written is not safe after a sync either: only what was written is a reason for one.
        if hasEvents, statistics.unsafeRows > Self.unsafeRows { jobs.sync() }
        if statistics.needsSync, syncTimer == nil {
            syncTimer = loop.schedule(at: SystemClock.boot + Self.syncInterval) { [unowned self] in
                syncTimer = nil
                jobs.sync()
            }
        }
        if hasEvents { for follower in followers.values { follower() } }
    }

    // MARK: Reading

    /// Reads a part of a page: it may hold nothing and yet not be complete.
    ///
    /// - Parameter owner: The user whose events of requests are read; `nil` for everybody's.
    package func read(
        _ query: JournalQuery, of owner: UInt32?, for user: UInt32,
        reply: @escaping (Result<JournalSlice, MonitorError>) -> Void
    ) {
        let answer = replies.expect(reply)
        jobs.put(
            { writer in
                do throws(SystemError) {
                    guard let slice = try writer?.read(query, of: owner) else {
                        return answer(.failure(.notAvailable(reason: "the journal's files cannot be opened")))
                    }
                    answer(.success(slice))
                } catch {
                    answer(.failure(.notAvailable(reason: "the journal cannot be read: \(error)")))
                }
            }, for: user)
    }

    /// Calls `handler` on the loop after events were written.
    ///
    /// - Returns: A number for ``unfollow(_:)``.
    package func follow(_ handler: @escaping () -> Void) -> UInt64 { followers.add(handler) }

    package func unfollow(_ number: UInt64) { followers[number] = nil }
}

extension JournalStore.Options {
    fileprivate init(_ options: JournalOptions) {
        bytes = Int64(options.bytes)
        age = options.age
    }
}
