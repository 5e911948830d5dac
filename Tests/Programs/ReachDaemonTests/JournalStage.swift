import ReachControl
import ReachCore
import ReachLoop
import ReachTesting

@testable import ReachDaemon

/// A journal's files in a directory of the test's own.
struct JournalStage {
    let directory: TemporaryDirectory
    let files: JournalFiles

    init() throws {
        directory = try TemporaryDirectory()
        files = JournalFiles(stateDirectory: directory.path)
    }

    static func event(_ word: String) -> [UInt8] {
        JournalEvents.encode(.resync(reason: word, at: SystemClock.now), boot: "b")
    }

    func open(
        _ options: JournalStore.Options = JournalStore.Options(), boot: String = "b",
        at reach: @escaping (JournalStore.Point) throws(SystemError) -> Void = { (_) throws(SystemError) in }
    ) throws(SystemError) -> JournalStore {
        try JournalStore(files, options, boot: boot, at: reach)
    }

    /// Appends an event with the next number.
    static func append(_ word: String, to store: inout JournalStore) throws(SystemError) {
        let number = store.last + 1
        try store.append(JournalLine.encode(event(word), log: store.log, number: number), last: number)
    }

    /// All events that the files have, as their logs, numbers and words; a gap's word is its reason.
    func events() throws -> [(log: String, number: Int64, word: String)] {
        var query = JournalQuery(limit: 1000)
        var events: [(log: String, number: Int64, word: String)] = []
        let segments = try files.segments()
        while true {
            let slice = try JournalReader(
                query, of: nil, files, segments, last: .max, at: SystemClock.now, boot: "b"
            ).read()
            for event in slice.events {
                let record = try JournalRecord(reading: JSONReader.read(event))
                events.append((record.log, record.number, record.json["reason"]?.string ?? record.type))
            }
            if slice.isComplete { return events }
            (query.log, query.after) = (slice.log, slice.next)
        }
    }

    var words: [String] { get throws { try events().map(\.word) } }
}
