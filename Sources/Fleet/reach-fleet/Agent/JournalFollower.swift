internal import ReachControl
internal import ReachCore
internal import ReachFleet
internal import ReachLoop

/// Reads the daemon's journal from a cursor on, on the loop's thread. It connects again after the daemon restarted, and
/// reads only while there is room.
final class JournalFollower {
    private let path: String
    private let filter: PrivacyFilter
    private let loop: EventLoop
    private let handler: (FleetMachine.Input) -> Void
    /// Where to read on; `nil` while nothing is wanted.
    private var query: JournalQuery?
    private var stream: Stream?
    private var retry: TimerQueue.ID?
    private var pauses = Backoff(first: .seconds(1), longest: .seconds(30))
    private var isWatching = false
    /// Why the daemon hands out no events; `nil` if it does.
    private(set) var lastRefusal: String?

    /// A box, since an optional property cannot hold a noncopyable value that is used in place.
    private final class Stream {
        var journal: JournalStream
        init(_ journal: consuming JournalStream) { self.journal = journal }
    }

    init(
        path: String, _ filter: PrivacyFilter, on loop: EventLoop, handler: @escaping (FleetMachine.Input) -> Void
    ) {
        self.path = path
        self.filter = filter
        self.loop = loop
        self.handler = handler
    }

    func open(after cursor: JournalCursor?) {
        close()
        query = JournalQuery(log: cursor?.log, after: cursor.map { Int64(clamping: $0.n) }, limit: 500)
        connect()
    }

    func close() {
        disconnect()
        query = nil
        retry.map(loop.cancel)
        retry = nil
    }

    private func disconnect() {
        if let stream, isWatching { loop.unwatch(stream.journal.descriptor) }
        (stream, isWatching) = (nil, false)
    }

    private func connect() {
        retry = nil
        guard let query else { return }
        do throws(ControlError) {
            stream = Stream(try JournalStream(path: path, query, patience: .seconds(1)))
            resume()
        } catch {
            fail(error)
        }
    }

    private func fail(_ error: ControlError) {
        disconnect()
        retry = loop.schedule(at: SystemClock.boot + pauses.wait()) { [unowned self] in connect() }
        guard case .refused(let refusal) = error else {
            lastRefusal = nil
            return handler(.daemon(isThere: false))
        }
        // It answers, and says why it has no events for this agent: it records none, or its files cannot be opened, or
        // too many read them.
        let reason = if case .notAvailable(let reason)? = MonitorError(refusal) { reason } else { error.description }
        lastRefusal = reason
        handler(reason.containsUTF8("keeps no journal") ? .noJournal : .journalRefused)
    }

    /// Reads on after ``pause()``.
    func resume() {
        guard let stream, !isWatching else { return }
        isWatching =
            (try? loop.watch(stream.journal.descriptor, for: .readable) { [unowned self] _ in read() }) != nil
        // Pages that arrived with the last one do not make the socket readable.
        loop.afterEvents { [weak self] in self?.read() }
    }

    /// Leaves what comes in the socket, which stops the daemon from sending more.
    func pause() {
        guard let stream, isWatching else { return }
        loop.unwatch(stream.journal.descriptor)
        isWatching = false
    }

    private func read() {
        guard let stream, isWatching else { return }
        let before = query
        do throws(ControlError) {
            guard let page = try stream.journal.next(within: .zero) else { return }
            pauses.reset()
            lastRefusal = nil
            query = query?.following(page)
            handler(.daemon(isThere: true))
            // The answer may have closed this stream or opened another.
            guard self.stream === stream else { return }
            handler(.journal(EntryPage(page, filter)))
        } catch {
            query = before
            return fail(error)
        }
        if self.stream === stream { loop.afterEvents { [weak self] in self?.read() } }
    }
}

extension EntryPage {
    init(_ page: JournalPage, _ filter: PrivacyFilter) {
        self.init(
            page.events.map { JournalEntry($0, filter) },
            newest: JournalCursor(log: page.current, n: UInt64(max(0, page.last))), isComplete: page.isComplete)
    }
}

extension JournalEntry {
    init(_ record: JournalRecord, _ filter: PrivacyFilter) {
        let boot = AgentConfiguration.hash(ofBoot: record.boot)
        let number = UInt64(max(0, record.number))
        if record.type == "gap" {
            let missing = record.missing
            self.init(
                gap: record.json["reason"]?.string ?? "unknown", log: record.log,
                first: missing.map { UInt64(max(1, $0.lowerBound)) } ?? number,
                last: missing.map { UInt64(max(1, $0.upperBound)) } ?? number, boot: boot, moment: record.moment)
        } else {
            self.init(
                log: record.log, n: number, boot: boot, moment: record.moment,
                user: record.type == "queue" ? record.json["user"]?.integer.flatMap { UInt32(exactly: $0) } : nil,
                line: filter.line(of: record.json, log: record.log, n: number))
        }
    }
}
