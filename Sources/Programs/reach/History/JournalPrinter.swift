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

    private var feed: JournalFeed { JournalFeed(types: types.isEmpty ? nil : Set(types)) }

    /// Prints what the daemon shows.
    ///
    /// - Returns: Whether there is a daemon that keeps a journal.
    func printFromDaemon() throws -> Bool {
        var text = JournalText(style: .current)
        do throws(ControlError) {
            return try feed.readDaemon { show($0, &text) }
        } catch {
            throw CommandError(status: .cannotObserve, message: "the journal cannot be read: \(error)")
        }
    }

    /// Prints what the files in a state directory have.
    func printFiles(in directory: String) throws {
        var text = JournalText(style: .current)
        do throws(SystemError) {
            try feed.readFiles(in: directory) { show($0, &text) }
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
        guard isJSON else { return StandardOutput.write(lines: text.line(for: record)) }
        var json = JSONWriter()
        json.value(record.json)
        json.newline()
        StandardOutput.write(json.bytes)
    }
}
