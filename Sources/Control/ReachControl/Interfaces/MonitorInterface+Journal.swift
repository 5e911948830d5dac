internal import ReachCore

extension MonitorInterface {
    /// The method that reads the journal.
    static func journalMethod(_ service: any ControlService, _ followers: JournalFollowers) -> VarlinkInterface.Method {
        .init(["log", "after", "limit", "types"], cost: .large) { request throws(VarlinkError) in
            let query = try request.journalQuery()
            guard !request.call.wantsMore else { return try request.follow(query, followers) }
            read(query, from: service, for: request)
        }
    }

    /// Reads portions, each in a turn of the caller's user, until one holds an event or nothing is left.
    private static func read(_ query: JournalQuery, from service: any ControlService, for request: ControlRequest) {
        service.journal(query, of: request.journalOwner, for: request.caller) { result in
            if case .success(let slice) = result, slice.events.isEmpty, !slice.isComplete, query.limit > 0 {
                var rest = query
                (rest.log, rest.after) = (slice.log, slice.next)
                return request.continueInTurn { read(rest, from: service, for: request) }
            }
            request.reply(result) { json, slice in slice.write(to: &json) }
        }
    }
}

extension ControlRequest {
    /// The user whose events of requests the caller may read; `nil` for everybody's.
    var journalOwner: UInt32? { mayReadAll ? nil : caller.user }

    fileprivate func journalQuery() throws(VarlinkError) -> JournalQuery {
        var query = JournalQuery(log: try text("log"), after: try natural("after"))
        if let log = query.log {
            guard log.utf8.count == JournalLine.logDigits, log.utf8.allSatisfy({ 48...57 ~= $0 || 97...102 ~= $0 })
            else { throw .invalidParameter("log") }
        }
        if let limit = try natural("limit") { query.limit = Int(min(limit, Int64(JournalQuery.longestPage))) }
        // A stream without events would never end its first page.
        guard query.limit > 0 || !call.wantsMore else { throw .invalidParameter("limit") }
        if let value = call.parameters["types"], value != .null {
            guard let words = value.array else { throw .invalidParameter("types") }
            let types = words.compactMap(\.string)
            guard types.count == words.count else { throw .invalidParameter("types") }
            query.types = Set(types)
        }
        return query
    }
}
