internal import ReachCore
internal import ReachLoop
internal import ReachQueue

/// What is read back from the file.
extension QueueDatabase {
    /// All that goes on, for the scheduler.
    ///
    /// - Parameter now: What times of an earlier start of the machine are measured against.
    func contents(at now: Instant) throws(SQLiteError) -> StoreContents {
        var contents = try contentsBesideRequests(at: now)
        contents.requests = try requests(at: now)
        return contents
    }

    /// The same without the requests.
    func contentsBesideRequests(at now: Instant) throws(SQLiteError) -> StoreContents {
        try foldPending()
        var contents = StoreContents()
        contents.nextID = try lastNumber() + 1
        contents.breakers = try breakers(at: now)
        contents.metered = try meteredAccounts()
        try readJoins()
        let held = try database.prepare("SELECT owner FROM held_queue")
        while try held.step() { contents.heldQueues.append(UInt32(clamping: held.integer(0))) }
        return contents
    }

    private func requests(at now: Instant) throws(SQLiteError) -> [StoredRequest] {
        let rows = try database.prepare(
            "SELECT \(RequestColumn.schedulingList) FROM request WHERE state IN (0, 1, 3) ORDER BY id")
        var requests: [StoredRequest] = []
        // Those that are over are few, and without a condition SQLite counts without reading rows.
        requests.reserveCapacity(try rowCount())
        while try rows.step() { requests.append(storedRequest(rows, at: now)) }
        return requests
    }

    func storedRequest(_ row: SQLiteStatement, at now: Instant) -> StoredRequest {
        let deadline = moment(
            wall: row.integer(.deadlineWall), boot: row.integer(.deadlineBoot), in: row.integer(.boot), at: now)
        let created = BootTime(nanoseconds: deadline.boot.nanoseconds &- row.integer(.lifetime))
        var request = StoredRequest(
            RequestID(rawValue: row.integer(.id)), owner: UInt32(clamping: row.integer(.owner)),
            specification: schedulingPart(row), isRepeatable: row.flag(.repeatable), bytesHeld: row.integer(.bytes),
            created: Instant(wall: now.wall, boot: created), deadline: deadline)
        request.progress.attempts = Int(row.integer(.attempts))
        request.progress.networkFailures = Int(row.integer(.networkFailures))
        request.progress.tries = Int(row.integer(.tries))
        request.progress.isHeld = row.flag(.held)
        request.progress.isNetworkFailure = row.flag(.networkFailure)
        if let wall = row.optionalInteger(.notBeforeWall) {
            request.progress.notBefore = moment(
                wall: wall, boot: row.integer(.notBeforeBoot), in: row.integer(.notBeforeIn), at: now)
        }
        if let wall = row.optionalInteger(.waitsWall) {
            // The boot times of its writing mean nothing here: only the other clock says how long ago it was.
            request.progress.waitsSince = moment(wall: wall, boot: 0, in: -1, at: now)
        }
        request.state = state(row, at: now)
        request.answerBytes = row.integer(.kept)
        if request.terms.value.joinGroup != nil {
            request.bodyBytes = row.integer(.bodyBytes)
            request.carrier = row.optionalInteger(.carrier).map(RequestID.init(rawValue:))
        }
        if !request.destination.isSecure {
            request.exposesSecrets =
                row.integer(.bodyKind) != 0 || request.terms.value.interceptor != nil
                || !row.hasText("", in: .headers)
                    && !RequestColumns.headers(row.text(.headers) ?? "").allSatisfy(\.isHarmless)
        }
        return request
    }

    private func state(_ row: SQLiteStatement, at now: Instant) -> StoredRequest.State {
        switch RowState(rawValue: row.integer(.state)) {
        case .leased: return .leased
        case .dead:
            let reason = row.text(.reason).flatMap(DeathReason.init(rawValue:)) ?? .refused
            // It may have died in an earlier start of the machine: only the wall clock shows that.
            return .dead(reason, at: moment(wall: row.integer(.overWall), boot: 0, in: -1, at: now))
        default: return .waiting
        }
    }

    /// A time of this start of the machine by the clock that never jumps; one of another start by the wall clock.
    private func moment(wall: Int64, boot: Int64, in start: Int64, at now: Instant) -> Instant {
        let time = Timestamp(nanosecondsSince1970: wall)
        if start == self.boot { return Instant(wall: time, boot: BootTime(nanoseconds: boot)) }
        let ahead = wall.subtractingReportingOverflow(now.wall.nanosecondsSince1970)
        let distance: Duration = .nanoseconds(ahead.overflow ? (wall < 0 ? .min : .max) : ahead.partialValue)
        return Instant(wall: time, boot: now.boot + distance)
    }

    private func breakers(at now: Instant) throws(SQLiteError) -> [StoredBreaker] {
        let rows = try database.prepare(
            "SELECT destination, interface, until_wall, until_boot, boot, step FROM breaker")
        var breakers: [StoredBreaker] = []
        while try rows.step() {
            // Whose requests opened it was not kept by earlier versions: it is found out once more.
            guard let place = RequestColumns.breakerPlace(rows.text(1) ?? "") else { continue }
            breakers.append(
                StoredBreaker(
                    destination: Destination(stored: rows.text(0) ?? ""), interface: place.interface,
                    owner: place.owner,
                    openUntil: moment(wall: rows.integer(2), boot: rows.integer(3), in: rows.integer(4), at: now),
                    step: Int(rows.integer(5))))
        }
        return breakers
    }

    /// Reads which requests others carry that are not over.
    private func readJoins() throws(SQLiteError) {
        let rows = try database.prepare(
            "SELECT carrier, id FROM request WHERE carrier IS NOT NULL AND state IN (0, 1) ORDER BY id")
        joins = [:]
        while try rows.step() {
            joins[RequestID(rawValue: rows.integer(0)), default: []].append(RequestID(rawValue: rows.integer(1)))
        }
    }

    private func meteredAccounts() throws(SQLiteError) -> [MeteredAccount] {
        let rows = try database.prepare(
            "SELECT scope, first, bytes, reported, before_first, before_bytes, ahead FROM metered ORDER BY scope")
        var accounts: [MeteredAccount] = []
        while try rows.step() {
            guard let scope = MeteredScope(rows.text(0) ?? "") else { continue }
            var account = MeteredAccount(scope)
            account.first = Self.day(rows.optionalInteger(1))
            account.bytes = Self.bounded(rows.integer(2))
            account.reported = MeteredAccount.shares.last { $0 <= rows.integer(3) } ?? 0
            if let first = Self.day(rows.optionalInteger(4)) {
                account.before = MeteredAccount.Earlier(first: first, bytes: Self.bounded(rows.integer(5)))
            }
            account.ahead = Self.day(rows.optionalInteger(6))
            accounts.append(account)
        }
        return accounts
    }

    /// Whatever the file says, sums of it do not overflow.
    private static func bounded(_ bytes: Int64) -> Int64 { min(max(0, bytes), MeteredBudget.most) }

    /// A day of a time that a clock can show.
    private static func day(_ number: Int64?) -> Int64? { number.flatMap { 0...100_000 ~= $0 ? $0 : nil } }

    // MARK: One request

    /// What is to be sent.
    ///
    /// - Returns: `nil` if there is no such request.
    func specification(_ id: RequestID) throws(SQLiteError) -> QueuedRequest? {
        var found: [RequestID: QueuedRequest] = [:]
        try readSpecifications(of: id.rawValue...id.rawValue, into: &found)
        return found[id]
    }

    /// Reads what is to be sent of the requests with these numbers.
    func readSpecifications(
        of ids: ClosedRange<Int64>, into found: inout [RequestID: QueuedRequest]
    ) throws(SQLiteError) {
        let rows = statements.reading.specifications
        var bodies: [(RequestID, RequestColumns.Body)] = []
        try rows.bind([.integer(ids.lowerBound), .integer(ids.upperBound)])
        defer { rows.reset() }
        while try rows.step() {
            let (id, body) = (RequestID(rawValue: rows.integer(.id)), body(rows))
            found[id] = queuedRequest(rows)
            if body.kind != 0 { bodies.append((id, body)) }
        }
        for (id, body) in bodies {
            found[id]?.specification.body = try RequestColumns.body(body) { () throws(SQLiteError) in
                try statements.bodies.bytes.first(.integer(id.rawValue)) { $0.blob(0) } ?? []
            }
        }
    }

    private func body(_ row: SQLiteStatement) -> RequestColumns.Body {
        RequestColumns.Body(kind: row.integer(.bodyKind), path: row.text(.bodyPath), bytes: row.integer(.bodyBytes))
    }

    /// A request, without its body.
    private func queuedRequest(_ row: SQLiteStatement) -> QueuedRequest {
        var request = newSpecification(row)
        request.method = row.text(.method) ?? "GET"
        request.url = row.text(.url) ?? ""
        request.headers = RequestColumns.headers(row.text(.headers) ?? "")
        request.timeToLive = .nanoseconds(row.integer(.lifetime))
        return QueuedRequest(request, owner: UInt32(clamping: row.integer(.owner)))
    }

    /// The parts of a specification that the scheduler needs. Nearly all rows want the same as the row before.
    private func schedulingPart(_ row: SQLiteStatement) -> RequestSpecification {
        guard isPlain(row) else { return newSpecification(row) }
        if let plain = lastRead.plain, row.integer(.priority) == Int64(plain.request.priority.rawValue),
            row.hasText(plain.condition, in: .condition),
            row.hasText(plain.request.destination.description, in: .destination)
        {
            return plain.request
        }
        let made = newSpecification(row)
        lastRead.plain = (lastRead.terms, made)
        return made
    }

    /// Whether the scheduler needs nothing of it but a condition, a destination and a priority.
    private func isPlain(_ row: SQLiteStatement) -> Bool {
        Self.schedulingTerms.allSatisfy { column, isFlag in isFlag ? !row.flag(column) : row.isNull(column) }
    }

    private static let schedulingTerms = RequestColumn.terms.filter { $0.term.column?.isForScheduling == true }.map {
        ($0.column, isFlag: $0.term.form == .flag)
    }

    /// A specification without what the row does not give. Nearly all rows have the condition and the destination of
    /// the row before.
    private func newSpecification(_ row: SQLiteStatement) -> RequestSpecification {
        let (condition, name) = (row.text(.condition) ?? "any", row.text(.destination) ?? "")
        if condition != lastRead.terms {
            lastRead.terms = condition
            lastRead.condition = (try? NetworkCondition(stored: condition)) ?? NetworkCondition(unreadable: condition)
        }
        if name != lastRead.destination.description { lastRead.destination = Destination(stored: name) }
        var request = RequestSpecification(method: "", stored: "", to: lastRead.destination)
        var terms = request.terms
        terms.condition = lastRead.condition
        terms.priority = RequestPriority(rawValue: UInt8(clamping: row.integer(.priority))) ?? .normal
        row.read(into: &terms)
        request.terms = terms
        return request
    }

    // MARK: Reports

    /// - Returns: `nil` if there is no such request.
    func report(on id: RequestID) throws(SQLiteError) -> RequestReport? {
        try foldPending()
        return try statements.reading.report.first(.integer(id.rawValue)) { (row) throws(SQLiteError) in try report(row)
        }
    }

    /// Reports without the bytes of answers.
    func reports(_ query: RecordQuery) throws(SQLiteError) -> [RequestReport] {
        try foldPending()
        let rows = statements.reading.page
        try rows.bind([
            .integer(query.after), .optional(query.owner), .optional(query.isOver.map { $0 ? 1 : 0 }),
            .integer(query.limit),
        ])
        defer { rows.reset() }
        var found: [RequestReport] = []
        while try rows.step() { found.append(try report(rows)) }
        return found
    }

    private func report(_ row: SQLiteStatement) throws(SQLiteError) -> RequestReport {
        let deadline = row.integer(.deadlineWall)
        var report = RequestReport(
            RequestID(rawValue: row.integer(.id)), queuedRequest(row),
            created: Timestamp(nanosecondsSince1970: deadline &- row.integer(.lifetime)),
            deadline: Timestamp(nanosecondsSince1970: deadline))
        report.bodyBytes = row.integer(.bodyBytes)
        report.attempts = Int(row.integer(.attempts))
        report.networkFailures = Int(row.integer(.networkFailures))
        report.tries = Int(row.integer(.tries))
        report.carrier = row.optionalInteger(.carrier).map(RequestID.init(rawValue:))
        report.notBefore = row.optionalInteger(.notBeforeWall).map(Timestamp.init(nanosecondsSince1970:))
        if let end = end(row) {
            report.finish(end, at: row.optionalInteger(.overWall).map(Timestamp.init(nanosecondsSince1970:)))
        }
        let first = CInt(RequestColumn.names.count)
        if let status = row.optionalInteger(first) {
            let body = RequestColumns.Body(
                kind: row.integer(first + 2), path: row.text(first + 3), bytes: row.integer(first + 4))
            report.result = RequestResult(
                status: Int(status), headers: RequestColumns.headers(row.text(first + 1) ?? ""),
                body: try RequestColumns.body(body) { row.blob(first + 5) })
        }
        return report
    }

    private func end(_ row: SQLiteStatement) -> RequestEnd? {
        switch RowState(rawValue: row.integer(.state)) {
        case .done: .done
        case .dead: .dead(row.text(.reason).flatMap(DeathReason.init(rawValue:)) ?? .refused)
        case .cancelled: .cancelled(row.text(.reason).flatMap(CancelReason.init(rawValue:)) ?? .byUser)
        case .waiting, .leased, nil: nil
        }
    }

    /// Delivers the events that an earlier run left.
    func repeatOutbox() throws(SQLiteError) {
        try foldPending()
        try outbox?.repeatAll()
    }

    /// The spool files that rows name.
    func spoolNames() throws(SQLiteError) -> Set<String> {
        try answerNames().union(spoolNames(in: "request")).union(spoolNames(in: "set_aside"))
    }

    /// The spool files that hold answers.
    func answerNames() throws(SQLiteError) -> Set<String> { try spoolNames(in: "result") }

    private func spoolNames(in table: String) throws(SQLiteError) -> Set<String> {
        try foldPending()
        let rows = try database.prepare("SELECT body_path FROM \(table) WHERE body_kind = 3")
        var names: Set<String> = []
        while try rows.step() { if let name = rows.text(0) { names.insert(name) } }
        return names
    }
}
