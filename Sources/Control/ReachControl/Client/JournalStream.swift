internal import Glibc
internal import ReachCore
internal import ReachLoop

extension ControlClient {
    /// Reads a page of the daemon's journal.
    package mutating func journal(_ query: JournalQuery) throws(ControlError) -> JournalPage {
        try JournalPage(answered: try call(query.call(wantsMore: false)))
    }
}

/// The daemon's journal from a cursor on, and each new event as it is written. It does not reconnect: after an error,
/// continue with a new stream from the cursor of the last page.
package struct JournalStream: ~Copyable {
    private var socket: ClientSocket

    /// Readable when a page or a part of one has arrived, for poll(2) or an event loop. Only for waiting.
    package var descriptor: Int32 { socket.descriptor }

    /// Connects and asks for the events after the query's cursor.
    ///
    /// - Parameter patience: The longest wait for a busy daemon to accept the connection and the call.
    package init(path: String, _ query: JournalQuery, patience: Duration = .seconds(5)) throws(ControlError) {
        let socket = try ClientSocket(path: path, patience: patience)
        try socket.send(query.call(wantsMore: true), within: .monitor)
        self.socket = socket
    }

    /// The next page. The first one comes at once, and may be empty; a later one holds new events.
    ///
    /// - Parameter limit: The longest wait; zero returns what has arrived, `nil` waits indefinitely.
    /// - Returns: `nil` if none came in this time.
    package mutating func next(within limit: Duration? = nil) throws(ControlError) -> JournalPage? {
        let deadline = limit.map { SystemClock.boot + $0 }
        while true {
            if let reply = try socket.nextReply() {
                if let error = reply.error { throw .refused(error) }
                return try JournalPage(answered: reply.parameters)
            }
            if try socket.receive() { continue }
            var poll = pollfd(fd: socket.descriptor, events: Int16(POLLIN), revents: 0)
            let rest = deadline.map { max(.zero, $0 - SystemClock.boot).nanoseconds / 1_000_000 }
            if Glibc.poll(&poll, 1, rest.map { CInt(clamping: $0) } ?? -1) == 0 { return nil }
        }
    }
}

extension JournalQuery {
    fileprivate func call(wantsMore: Bool) -> VarlinkCall {
        var parameters: [String: JSONValue] = ["limit": .integer(Int64(limit))]
        if let log { parameters["log"] = .string(log) }
        if let after { parameters["after"] = .integer(after) }
        if let types { parameters["types"] = .array(types.sorted().map { .string($0) }) }
        return VarlinkCall(MonitorInterface.name + ".Journal", parameters, wantsMore: wantsMore)
    }
}

extension JournalPage {
    fileprivate init(answered parameters: [String: JSONValue]) throws(ControlError) {
        do throws(StatusReadingError) {
            self = try JournalPage(reading: parameters)
        } catch {
            throw .notUnderstood(error.description)
        }
    }
}
