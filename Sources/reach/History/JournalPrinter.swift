internal import ArgumentParser
internal import Glibc
internal import ReachControl
internal import ReachCore
internal import ReachLoop
internal import ReachTerminal

/// Prints the journal's events: those that the daemon shows, or without one what its files have.
struct JournalPrinter {
    /// The types of events that there are, besides gaps.
    static let types = ["started", "stopped", "snapshot", "change", "probe", "queue", "wake"]

    let types: [String]
    /// Events before this time are left out.
    let earliest: Timestamp?
    let isJSON: Bool

    private var query: JournalQuery {
        JournalQuery(limit: JournalQuery.longestPage, types: types.isEmpty ? nil : Set(types))
    }

    /// Prints what the daemon shows.
    ///
    /// - Returns: Whether there is a daemon that keeps a journal.
    func printFromDaemon() throws -> Bool {
        let path = SocketPath.forClient(uid: getuid(), environment: SocketPath.processEnvironment)
        do throws(ControlError) {
            var client = try ControlClient(path: path)
            var page = try client.journal(query)
            var text = JournalText(style: .current)
            while true {
                for event in page.events { show(event, &text) }
                guard !page.isComplete else { return true }
                page = try client.journal(query.following(page))
            }
        } catch {
            if case .notRunning = error { return false }
            if case .refused = error { return false }
            throw CommandError(status: .cannotObserve, message: "the journal cannot be read: \(error)")
        }
    }

    /// Prints what the files in a state directory have.
    func printFiles(in directory: String) throws {
        let files = JournalFiles(stateDirectory: directory)
        do throws(SystemError) {
            let segments = try files.segments()
            guard !segments.isEmpty else { throw SystemError(call: "no events in \(files.directory)", number: ENOENT) }
            var query = query
            var text = JournalText(style: .current)
            while true {
                let reader = JournalReader(
                    query, of: nil, files, segments, last: .max, at: SystemClock.now, boot: BootIdentity.current)
                let slice = try reader.read()
                for event in slice.events {
                    guard let json = try? JSONReader.read(event), let record = try? JournalRecord(reading: json) else {
                        continue
                    }
                    show(record, &text)
                }
                if slice.isComplete { return }
                (query.log, query.after) = (slice.log, slice.next)
            }
        } catch {
            throw CommandError(
                status: error.number == ENOENT ? .notReachable : .cannotObserve,
                message: error.number == ENOENT
                    ? "no journal: [journal] events in reach.toml names what reachd records"
                    : "no journal in \(DisplayText.sanitized(directory)): \(error)")
        }
    }

    private func show(_ record: JournalRecord, _ text: inout JournalText) {
        if let earliest, record.moment.wall < earliest { return }
        guard isJSON else { return StandardOutput.write(text.line(for: record)) }
        var json = JSONWriter()
        json.value(record.json)
        json.newline()
        StandardOutput.write(json.bytes)
    }
}
