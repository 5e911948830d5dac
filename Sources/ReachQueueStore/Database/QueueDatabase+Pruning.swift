internal import ReachCore
internal import ReachQueue

/// Nothing is kept that is no longer wanted.
extension QueueDatabase {
    func pruneIfDue() throws(SQLiteError) {
        guard finished >= 64 else { return }
        finished = 0
        let end = lastEnd.nanosecondsSince1970 - options.resultLifetime.nanoseconds
        let old = try statements.countOld.first(.integer(end), .integer(Self.portion)) { Int($0.integer(0)) } ?? 0
        let count = min(max(old, overCount - options.resultCount), Self.portion)
        guard count > 0 else { return }
        for name in try names(statements.oldSpoolNames, .integer(count)) { directory.removeSpoolFile(name) }
        try statements.deleteOldResults.run(.integer(count))
        try statements.deleteOldAttempts.run(.integer(count))
        try statements.deleteOldRequests.run(.integer(count))
        overCount -= count
    }

    /// So many are forgotten at a time.
    private static let portion = 256

    func purge(_ id: Int64) throws(SQLiteError) {
        leases[RequestID(rawValue: id)] = nil
        for name in try names(statements.spoolNames, .integer(id), .integer(id)) { directory.removeSpoolFile(name) }
        overCount -= try statements.countOver.first(.integer(id)) { Int($0.integer(0)) } ?? 0
        try statements.deleteBody.run(.integer(id))
        try statements.deleteResult.run(.integer(id))
        try statements.deleteAttempts.run(.integer(id))
        try statements.deleteRequest.run(.integer(id))
    }

    private func names(_ statement: SQLiteStatement, _ parameters: SQLiteValue...) throws(SQLiteError) -> [String] {
        try statement.bind(parameters)
        defer { statement.reset() }
        var names: [String] = []
        while try statement.step() { if let name = statement.text(0) { names.append(name) } }
        return names
    }
}
