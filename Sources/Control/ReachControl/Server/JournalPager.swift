internal import ReachCore

/// The connections that follow the journal: a limited number of each user.
final class JournalFollowers {
    private let service: any ControlService
    private let limit: Int
    private var counts: [UInt32: Int] = [:]

    init(service: any ControlService, limit: Int) {
        self.service = service
        self.limit = limit
    }

    func follow(
        _ query: JournalQuery, of owner: UInt32?, _ connection: Connection
    ) throws(MonitorError) -> JournalPager {
        let user = connection.caller.user
        guard counts[user, default: 0] < limit else {
            throw .notAvailable(reason: "a user may follow the journal \(limit) times")
        }
        let follower = try JournalPager(query, of: owner, connection, service)
        counts[user, default: 0] += 1
        follower.onEnd = { [weak self] in self?.release(user) }
        return follower
    }

    private func release(_ user: UInt32) {
        let count = counts[user, default: 0] - 1
        counts[user] = count > 0 ? count : nil
    }
}

/// Sends the journal to one connection, a page at a time. The next page is read when the client has received the one
/// before, so that a slow client costs no memory: its events wait in the journal's files.
final class JournalPager {
    private let service: any ControlService
    private let owner: UInt32?
    private weak var connection: Connection?
    private var query: JournalQuery
    /// The answer to send next.
    private var frame: [UInt8]?
    private var isFirst = true
    private var isReading = false
    /// Whether events may follow the last page.
    private var isDue = true
    private var stopFollowing: () -> Void = {}
    fileprivate var onEnd: () -> Void = {}

    fileprivate init(
        _ query: JournalQuery, of owner: UInt32?, _ connection: Connection, _ service: any ControlService
    ) throws(MonitorError) {
        self.service = service
        self.owner = owner
        self.connection = connection
        self.query = query
        stopFollowing = try service.followJournal { [weak self] in self?.resume() }
    }

    /// Ends the following.
    func end() {
        stopFollowing()
        stopFollowing = {}
        connection = nil
        onEnd()
        onEnd = {}
    }

    /// The next answer; `nil` if there is none yet. Then the connection gets a turn when there is one.
    func next() -> [UInt8]? {
        defer { frame = nil }
        if frame == nil { read() }
        return frame
    }

    /// New events were written.
    private func resume() {
        isDue = true
        if frame == nil, !isReading { connection?.proceedSoon() }
    }

    private func read() {
        guard isDue, !isReading, let connection else { return }
        isReading = true
        isDue = false
        service.journal(query, of: owner, for: connection.caller) { [weak self] in self?.receive($0) }
    }

    private func receive(_ result: Result<JournalSlice, MonitorError>) {
        isReading = false
        switch result {
        case .success(let slice):
            (query.log, query.after) = (slice.log, slice.next)
            isDue = isDue || !slice.isComplete
            if isFirst || !slice.events.isEmpty { frame = Self.frame(slice) }
            isFirst = false
            if frame != nil || isDue { connection?.proceedSoon() }
        case .failure:
            // It may work again; the client continues from its cursor.
            connection?.close()
        }
    }

    private static func frame(_ slice: JournalSlice) -> [UInt8] {
        var json = JSONWriter()
        json.object {
            $0.field("parameters", object: { slice.write(to: &$0) })
            $0.field("continues", true)
        }
        json.end(with: 0)
        return json.bytes
    }
}
