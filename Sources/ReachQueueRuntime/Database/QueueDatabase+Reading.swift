internal import ReachCore
internal import ReachLoop
internal import ReachQueue

/// What is read back from the file.
extension QueueDatabase {
    /// All that goes on, for the scheduler.
    ///
    /// - Parameter now: What times of an earlier start of the machine are measured against.
    func contents(at now: Instant) throws(SQLiteError) -> StoreContents {
        var contents = StoreContents()
        let given = try database.number("SELECT seq FROM sqlite_sequence WHERE name = 'request'") ?? 0
        contents.nextID = max(given, try database.number("SELECT max(id) FROM request") ?? 0) + 1
        contents.requests = try requests(at: now)
        contents.breakers = try breakers(at: now)
        let held = try database.prepare("SELECT owner FROM held_queue")
        while try held.step() { contents.heldQueues.append(UInt32(clamping: held.integer(0))) }
        return contents
    }

    private func requests(at now: Instant) throws(SQLiteError) -> [StoredRequest] {
        let rows = try database.prepare(
            """
            SELECT id, state, owner, destination, condition, priority, order_key, unique_mode, unique_name, depends, strict,
                repeatable, maximum_attempts, bytes, lifetime, deadline_wall, deadline_boot, boot, attempts,
                network_failures, tries, held, network_failure, not_before_wall, not_before_boot, not_before_in, reason,
                over_wall, kept, body_kind, CASE WHEN destination LIKE 'http:%' THEN headers END
            FROM request WHERE state IN (0, 1, 3) ORDER BY id
            """)
        var requests: [StoredRequest] = []
        requests.reserveCapacity(Int(try database.number("SELECT count(*) FROM request WHERE state IN (0, 1, 3)") ?? 0))
        // Nearly all rows have the condition of the row before, or its destination.
        var known = (text: "", condition: NetworkCondition.any)
        var destination = Destination(stored: "")
        while try rows.step() {
            let text = rows.text(4) ?? ""
            if text != known.text { known = (text, (try? NetworkCondition(text)) ?? .any) }
            let name = rows.text(3) ?? ""
            if name != destination.description { destination = Destination(stored: name) }
            requests.append(request(rows, known.condition, destination, at: now))
        }
        return requests
    }

    private func request(
        _ row: SQLiteStatement, _ condition: NetworkCondition, _ destination: Destination, at now: Instant
    ) -> StoredRequest {
        let deadline = moment(wall: row.integer(15), boot: row.integer(16), in: row.integer(17), at: now)
        let created = BootTime(nanoseconds: deadline.boot.nanoseconds &- row.integer(14))
        var notBefore: Instant?
        if let wall = row.optionalInteger(23) {
            notBefore = moment(wall: wall, boot: row.integer(24), in: row.integer(25), at: now)
        }
        let progress = RequestProgress(
            id: RequestID(rawValue: row.integer(0)), attempts: Int(row.integer(18)),
            networkFailures: Int(row.integer(19)), tries: Int(row.integer(20)), isHeld: row.flag(21),
            notBefore: notBefore, isNetworkFailure: row.flag(22))
        var request = StoredRequest(
            progress: progress, state: state(row, at: now), owner: UInt32(clamping: row.integer(2)),
            destination: destination, condition: condition,
            priority: RequestPriority(rawValue: UInt8(clamping: row.integer(5))) ?? .normal, orderKey: row.text(6),
            uniqueness: (try? RequestUniqueness(key: row.text(8), mode: row.text(7))) ?? .none,
            dependsOnPrevious: row.flag(9),
            isStrict: row.flag(10), isRepeatable: row.flag(11), maximumAttempts: row.optionalInteger(12).map(Int.init),
            bytesHeld: row.integer(13), answerBytes: row.integer(28), created: Instant(wall: now.wall, boot: created),
            deadline: deadline)
        if let headers = row.text(30) {
            request.isRevealing =
                row.integer(29) != 0
                || RequestColumns.headers(headers).contains(where: RequestSpecification.isCredential)
        }
        return request
    }

    private func state(_ row: SQLiteStatement, at now: Instant) -> StoredRequest.State {
        switch RowState(rawValue: row.integer(1)) {
        case .leased: return .leased
        case .dead:
            let reason = row.text(26).flatMap(DeathReason.init(rawValue:)) ?? .refused
            // It may have died in an earlier start of the machine: only the wall clock tells.
            return .dead(reason, at: moment(wall: row.integer(27), boot: 0, in: -1, at: now))
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

    // MARK: One request

    /// What is to be sent.
    ///
    /// - Returns: `nil` if there is no such request.
    func specification(_ id: RequestID) throws(SQLiteError) -> QueuedRequest? {
        let found: (request: QueuedRequest, body: RequestColumns.Body)?
        found = try statements.specification.first(.integer(id.rawValue)) { (row) throws(SQLiteError) in
            let body = RequestColumns.Body(kind: row.integer(6), path: row.text(7), bytes: row.integer(8))
            return (queuedRequest(row), body)
        }
        guard let found else { return nil }
        if found.body.kind == 0 { return found.request }
        var request = found.request
        request.body = try RequestColumns.body(found.body) { () throws(SQLiteError) in
            try statements.body.first(.integer(id.rawValue)) { $0.blob(0) } ?? []
        }
        return request
    }

    /// From a row that begins with ``RequestColumns/specification``; its body is not in it.
    func queuedRequest(_ row: SQLiteStatement) -> QueuedRequest {
        let (terms, accepted) = (row.text(10) ?? "any", row.text(4) ?? "")
        if terms != lastRead.terms {
            lastRead.terms = terms
            lastRead.condition = (try? NetworkCondition(terms)) ?? .any
        }
        if accepted != lastRead.accepted {
            lastRead.accepted = accepted
            lastRead.statuses = RequestColumns.statuses(accepted)
        }
        var request = RequestSpecification(
            method: row.text(0) ?? "GET", stored: row.text(1) ?? "", to: Destination(stored: row.text(19) ?? ""))
        request.headers = RequestColumns.headers(row.text(2) ?? "")
        request.condition = lastRead.condition
        request.idempotency = row.text(3).map { .key($0) } ?? .byMethod
        request.acceptedStatuses = lastRead.statuses
        request.outputPath = row.text(5)
        request.priority = RequestPriority(rawValue: UInt8(clamping: row.integer(11))) ?? .normal
        request.timeToLive = .nanoseconds(row.integer(12))
        request.orderKey = row.text(13)
        request.uniqueness = (try? RequestUniqueness(key: row.text(15), mode: row.text(14))) ?? .none
        request.dependsOnPrevious = row.flag(16)
        request.isStrict = row.flag(17)
        request.maximumAttempts = row.optionalInteger(18).map(Int.init)
        return QueuedRequest(request, owner: UInt32(clamping: row.integer(9)))
    }

    /// What became of a request, whose it is, and the answer if there was one.
    func outcome(of id: RequestID) throws(SQLiteError) -> RequestOutcome? {
        return try statements.outcome.first(.integer(id.rawValue)) { (row) throws(SQLiteError) in
            var end: RequestEnd?
            switch RowState(rawValue: row.integer(0)) {
            case .done: end = .done
            case .dead: end = .dead(row.text(1).flatMap(DeathReason.init(rawValue:)) ?? .refused)
            case .cancelled: end = .cancelled(row.text(1).flatMap(CancelReason.init(rawValue:)) ?? .byUser)
            case .waiting, .leased, nil: end = nil
            }
            var result: RequestResult?
            if let status = row.optionalInteger(4) {
                let columns = RequestColumns.Body(kind: row.integer(6), path: row.text(7), bytes: row.integer(8))
                let bytes = row.blob(9)
                result = RequestResult(
                    status: Int(status), headers: RequestColumns.headers(row.text(5) ?? ""),
                    body: try RequestColumns.body(columns) { bytes })
            }
            return RequestOutcome(
                id: id, owner: UInt32(clamping: row.integer(2)), end: end,
                time: row.optionalInteger(3).map(Timestamp.init(nanosecondsSince1970:)), result: result)
        }
    }

    /// The spool files that rows name.
    func spoolNames() throws(SQLiteError) -> Set<String> {
        let rows = try database.prepare(
            """
            SELECT body_path FROM request WHERE body_kind = 3
            UNION SELECT body_path FROM set_aside WHERE body_kind = 3
            UNION SELECT body_path FROM result WHERE body_kind = 3
            """)
        var names: Set<String> = []
        while try rows.step() { if let name = rows.text(0) { names.insert(name) } }
        return names
    }
}
