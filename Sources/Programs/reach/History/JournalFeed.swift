internal import Glibc
internal import ReachControl
internal import ReachCore
internal import ReachLoop

/// The events of the journal, from the daemon or from its files.
struct JournalFeed {
    /// The types of events that are wanted; `nil` for all. Gaps always come.
    let types: Set<String>?

    private var query: JournalQuery { JournalQuery(limit: JournalQuery.longestPage, types: types) }

    /// Reads what the daemon shows to this user.
    ///
    /// - Returns: Whether there is a daemon that keeps a journal.
    func readDaemon(_ body: (JournalRecord) -> Void) throws(ControlError) -> Bool {
        let path = SocketPath.forThisProcess
        do throws(ControlError) {
            var client = try ControlClient(path: path)
            var page = try client.journal(query)
            while true {
                for event in page.events { body(event) }
                guard !page.isComplete else { return true }
                page = try client.journal(query.following(page))
            }
        } catch {
            switch error {
            case .notRunning, .refused: return false
            default: throw error
            }
        }
    }

    /// Reads what the files in a state directory have.
    ///
    /// - Throws: With ENOENT if there is no journal.
    func readFiles(in directory: String, _ body: (JournalRecord) -> Void) throws(SystemError) {
        let files = JournalFiles(stateDirectory: directory)
        let segments = try files.segments()
        guard !segments.isEmpty else { throw SystemError(call: "no events in \(files.directory)", number: ENOENT) }
        var query = query
        while true {
            let reader = JournalReader(
                query, of: nil, files, segments, last: .max, at: SystemClock.now, boot: BootIdentity.current)
            let slice = try reader.read()
            for event in slice.events {
                if let json = try? JSONReader.read(event), let record = try? JournalRecord(reading: json) {
                    body(record)
                }
            }
            if slice.isComplete { return }
            (query.log, query.after) = (slice.log, slice.next)
        }
    }
}
