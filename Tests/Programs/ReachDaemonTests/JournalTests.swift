import Glibc
import ReachControl
import ReachCore
import ReachLoop
import ReachQueue
import ReachTesting
import Testing

@testable import ReachDaemon
@testable import ReachQueueRuntime

@Suite struct JournalTests {
    private let stage: JournalStage
    private let loop: EventLoop

    init() throws {
        stage = try JournalStage()
        loop = try EventLoop()
    }

    private func open(_ kinds: Set<JournalKind>) throws -> Journal {
        var options = Journal.Options()
        options.kinds = kinds
        return try Journal(stage.files, options, loop: loop, at: SystemClock.now, boot: "b", report: { _ in })
    }

    /// The types of the recorded events, without start and stop.
    private func types() throws -> [String] {
        let segments = try stage.files.segments()
        let slice = try JournalReader(
            JournalQuery(), of: nil, stage.files, segments, last: .max, at: SystemClock.now, boot: "b"
        ).read()
        let types = try slice.events.map { try JournalRecord(reading: JSONReader.read($0)).type }
        #expect(types.first == "started" && types.last == "stopped")
        return Array(types.dropFirst().dropLast())
    }

    @Test func `other kinds count from the next event on, but those of requests only at the next start`() throws {
        let journal = try open([.status])
        var options = Journal.Options()
        options.kinds = [.wake, .queue]
        journal.apply(options)
        journal.record(change([.status]))
        journal.recordWake(slept: .seconds(1), at: SystemClock.now)
        journal.record(QueueEvent(.degraded, at: SystemClock.now, epoch: 0))
        #expect(journal.close(at: SystemClock.now, patience: .seconds(20)))
        #expect(try types() == ["wake"])
    }

    private func change(_ aspects: [ReachabilityChange.Aspect]) -> ReachabilityChange {
        let change = ReachabilityChange.now(.reachable)
        return ReachabilityChange(
            at: SystemClock.now, cause: .probe, aspects: aspects, previous: change.previous, state: change.state)
    }

    private static let kinds: [(Set<JournalKind>, [String])] = [
        ([.status], ["change", "change"]), ([.connectivity], ["change"]),
        ([.status, .connectivity], ["change", "change", "change"]), ([.wake], ["wake"]), ([.queue], ["queue"]),
        ([.probe, .probeResult], []), (Set(JournalKind.allCases), ["change", "change", "change", "wake", "queue"]),
    ]

    @Test(arguments: kinds)
    func `only the wanted kinds are recorded`(kinds: Set<JournalKind>, expected: [String]) throws {
        let journal = try open(kinds)
        journal.record(change([.status]))
        journal.record(change([.connectivity]))
        journal.record(change([.path, .connectivity]))
        journal.recordWake(slept: .seconds(1), at: SystemClock.now)
        journal.record(QueueEvent(.degraded, at: SystemClock.now, epoch: 0))
        #expect((journal.outbox != nil) == kinds.contains(.queue))
        #expect(journal.close(at: SystemClock.now, patience: .seconds(20)))
        #expect(try types() == expected)
    }

    @Test func `a reader gets pages on the loop, and is called when events were written`() throws {
        let journal = try open([.wake])
        var pages: [JournalSlice] = []
        var calls = 0
        let number = journal.follow { [unowned loop] in
            calls += 1
            journal.read(JournalQuery(after: 0, limit: 10), of: nil, for: 0) { result in
                guard case .success(let page) = result else { return }
                pages.append(page)
                if page.last >= 2 { loop.stop() } else { journal.recordWake(slept: .seconds(1), at: SystemClock.now) }
            }
        }
        // The start is written on the journal's thread; the first event of ours follows it.
        journal.recordWake(slept: .seconds(1), at: SystemClock.now)
        loop.schedule(at: SystemClock.boot + .seconds(20)) { [unowned loop] in loop.stop() }
        loop.run()
        #expect(calls > 0)
        let last = try #require(pages.last)
        #expect(last.events.count == Int(last.last) && last.last >= 2 && last.isComplete)
        #expect(journal.statistics.written == UInt64(last.last) && journal.statistics.needsSync)
        journal.unfollow(number)
        journal.close(at: SystemClock.now, patience: .seconds(20))
    }

    @Test func `many targets that change in one turn of the loop are written together, in their order`() throws {
        let journal = try open([.status])
        var counts: [UInt64] = []
        let number = journal.follow { [unowned loop] in
            counts.append(journal.statistics.written)
            if journal.statistics.written == 151 { loop.stop() }
        }
        // The start of the run is written first.
        for _ in 0..<1000 where journal.statistics.written < 1 { run(for: .milliseconds(20)) }
        let moment = SystemClock.now
        for index in 0..<150 {
            var states = [ReachabilityStatus.reachable, .notReachable].map { status in
                var state = ReachabilityState(
                    target: .address(IPAddress(ipv4: 0xc633_6400 + UInt32(index))), since: moment.wall)
                state.status = status
                return state
            }
            let state = states.removeLast()
            journal.record(
                ReachabilityChange(
                    at: moment, cause: .routeRemoved, aspects: [.status], previous: states[0], state: state))
        }
        loop.schedule(at: SystemClock.boot + .seconds(20)) { [unowned loop] in loop.stop() }
        loop.run()
        #expect(counts.last == 151 && counts.filter { $0 > 1 }.count == 1)
        journal.unfollow(number)
        #expect(journal.close(at: SystemClock.now, patience: .seconds(20)))
        let slice = try JournalReader(
            JournalQuery(limit: 1000), of: nil, stage.files, try stage.files.segments(), last: .max,
            at: SystemClock.now, boot: "b"
        ).read()
        let targets = try slice.events.compactMap { try JSONReader.read($0)["status"]?["target"]?.string }
        #expect(targets == (0..<150).map { IPAddress(ipv4: 0xc633_6400 + UInt32($0)).description })
    }

    @Test func `a journal that cannot be opened refuses readers, and lets the outbox go`() throws {
        // Where the directory should be.
        try stage.directory.file("journal", "")
        let journal = try Journal(
            JournalFiles(stateDirectory: stage.directory.path), Journal.Options(), loop: loop, at: SystemClock.now,
            boot: "b", report: { _ in })
        var answer: Result<JournalSlice, MonitorError>?
        journal.read(JournalQuery(), of: nil, for: 0) { [unowned loop] in
            answer = $0
            loop.stop()
        }
        loop.run()
        guard case .failure(.notAvailable) = answer else {
            Issue.record("\(String(describing: answer))")
            return
        }
    }

    @Test func `a full disk that refuses many events of the queue costs nothing while no other comes`() throws {
        var options = Journal.Options()
        options.kinds = [.queue]
        options.bytes = 1 << 20
        let reports = EventLog<String>()
        let journal = try Journal(stage.files, options, loop: loop, at: SystemClock.now, boot: "b") {
            reports.append($0)
        }
        run(for: .milliseconds(200))
        // Without its directory the next file cannot be made, and so many rows need one.
        try ChildProcess.run(["rm", "-r", stage.files.directory])
        let rows = (Int64(1)...1500).map { QueueOutbox.Row(number: $0, event: JournalStage.event("row \($0)")) }
        journal.outbox?.deliver(rows, false)
        let isReported = { reports.values.contains { $0.hasPrefix("the journal cannot be written") } }
        for _ in 0..<100 where !isReported() { run(for: .milliseconds(200)) }
        #expect(isReported())
        let before = Self.sleeps
        run(for: .milliseconds(500))
        // Each needless sync has two threads wake up and sleep again.
        #expect(Self.sleeps - before < 40)
    }

    /// How often threads of this process have gone to sleep.
    private static var sleeps: Int {
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        return usage.ru_nvcsw
    }

    private func run(for duration: Duration) {
        loop.schedule(at: SystemClock.boot + duration) { [unowned loop] in loop.stop() }
        loop.run()
    }

    @Test func `the metrics have the journal, if there is one`() {
        var snapshot = MetricsSnapshot(version: "1")
        #expect(!String(decoding: snapshot.text(), as: UTF8.self).contains("reach_journal"))
        snapshot.journal = JournalStatistics(bytes: 5, written: 7, lost: 2)
        let text = String(decoding: snapshot.text(), as: UTF8.self)
        for line in ["reach_journal_bytes 5", "reach_journal_events_total 7", "reach_journal_dropped_events_total 2"] {
            #expect(text.contains("\n\(line)\n"))
        }
    }
}
