import ReachControl
import ReachCore
import ReachLoop
import ReachTesting
import Synchronization
import Testing

@testable import ReachDaemon

/// Records whose files cannot be opened, as on a full disk.
@Suite struct RecordJobsTests {
    @Test func `files that cannot be opened are tried again with the next work, and a gap counts what was lost`()
        async throws
    {
        let stage = try JournalStage()
        let failures = Mutex(0)
        let (reports, delivered) = (EventLog<String>(), EventLog<Int>())
        let jobs = try RecordJobs<JournalWriter>(
            of: "journal", retryingAfter: .zero, report: { reports.append($0) }
        ) { () throws(SystemError) in
            let count = failures.withLock { count in
                count += 1
                return count
            }
            guard count > 2 else { throw SystemError(call: "write events.1.jsonl", number: 28) }
            return JournalWriter(try stage.open(), boot: "b") { reports.append($0) }
        } deliver: { _ in
            delivered.append(0)
        }
        jobs.put(.event(JournalStage.event("a")))
        _ = try await delivered.wait(for: 1)
        jobs.put(.event(JournalStage.event("b")))
        #expect(jobs.close(with: .event(JournalStage.event("c")), patience: .seconds(10)))
        #expect(try stage.words == ["refused", "b", "c"])
        #expect(reports.values.count == 2 && reports.values[1] == "the journal is available again")
    }
}
