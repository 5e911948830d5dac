internal import ReachCore

/// What is kept of events for those who were not there.
extension QueueDatabase {
    func append(_ event: [UInt8]) throws(SQLiteError) {
        try statements.addEvent.run(.blob(event))
        outboxBytes += Int64(event.count)
    }

    /// Drops the oldest events when there is no more room, a tenth at a time, and leaves one that says so in their place:
    /// its number is that of the last one dropped, so that numbers only grow.
    func trimOutbox() throws(SQLiteError) {
        guard outboxBytes > options.outboxBytes else { return }
        let target = options.outboxBytes / 10 * 9
        var (dropped, first, last): (Int64, Int64?, Int64) = (0, nil, 0)
        try statements.oldEvents.bind([])
        do {
            defer { statements.oldEvents.reset() }
            while outboxBytes > target, try statements.oldEvents.step() {
                let isGap = !statements.oldEvents.isNull(3)
                first = first ?? (isGap ? statements.oldEvents.integer(3) : statements.oldEvents.integer(0))
                dropped += isGap ? statements.oldEvents.integer(2) : 1
                last = statements.oldEvents.integer(0)
                outboxBytes -= statements.oldEvents.integer(1)
            }
        }
        guard let first else { return }
        try statements.dropEvents.run(.integer(last))
        var writer = JSONWriter()
        writer.object { object in
            object.field("v", 1)
            object.field("type", "queue")
            object.field("event", "gap")
            object.field("count", dropped)
            object.field("first_seq", first)
            object.field("last_seq", last)
        }
        try statements.addGap.run(.integer(last), .blob(writer.bytes), .integer(dropped), .integer(first))
        outboxBytes += Int64(writer.bytes.count)
    }

    /// The events behind a number, in order, with their own.
    func events(after sequence: Int64, limit: Int) throws(SQLiteError) -> [(sequence: Int64, json: [UInt8])] {
        let statement = try database.prepare("SELECT seq, event FROM outbox WHERE seq > ? ORDER BY seq LIMIT ?")
        try statement.bind([.integer(sequence), .integer(limit)])
        var events: [(Int64, [UInt8])] = []
        while try statement.step() { events.append((statement.integer(0), statement.blob(1))) }
        return events
    }
}
