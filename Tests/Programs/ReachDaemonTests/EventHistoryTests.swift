import Glibc
import ReachControl
import ReachCore
import ReachDaemon
import ReachLoop
import ReachRecords
import ReachTesting
import Testing

@Suite struct EventHistoryTests {
    private let store = MemoryHistoryStore()
    private let reports = EventLog<String>()

    private func begin(
        entries: Int = 100_000, signInterval: Duration = EventHistory.signInterval
    ) throws -> EventHistory {
        try EventHistory(
            entries: entries, at: SystemClock.now, boot: "boot", signInterval: signInterval,
            report: { [reports] in reports.append($0) },
            open: { [store] in store })
    }

    @Test func `a run is written from its start to its stop, then synced`() throws {
        let history = try begin()
        history.record(.now(.reachable))
        history.recordUnwatched("internet", at: SystemClock.now)
        #expect(history.close(at: SystemClock.now, patience: .seconds(10)))
        #expect(store.done.values == ["started", "internet reachable", "internet unwatched", "stopped", "sync"])
        history.record(.now(.notReachable))
        #expect(store.done.values.count == 5, "nothing is written after the end")
        #expect(reports.values == [])
    }

    @Test func `changes that differ only in the target are written in their order among the other records`() throws {
        let history = try begin()
        let (up, down) = (ReachabilityChange.now(.reachable), ReachabilityChange.now(.notReachable))
        for (change, word) in [(up, "up"), (down, "down")] {
            for name in ["internet", "a", "b"] {
                history.add(HistoryEntry.State(change, of: "\(name)-\(word)"), at: SystemClock.now)
            }
        }
        history.recordUnwatched("a", at: SystemClock.now)
        history.add(HistoryEntry.State(up, of: "last"), at: SystemClock.now)
        #expect(history.close(at: SystemClock.now, patience: .seconds(10)))
        #expect(
            store.done.values == [
                "started", "internet-up reachable", "a-up reachable", "b-up reachable", "internet-down not-reachable",
                "a-down not-reachable", "b-down not-reachable", "a unwatched", "last reachable", "stopped", "sync",
            ])
    }

    @Test func `a new limit counts from the next record on`() async throws {
        let history = try begin()
        for count in 1...5 {
            history.record(.now(.reachable))
            try await store.done.wait(for: 1 + count)
        }
        history.keep(entries: 4)
        history.record(.now(.notReachable))
        #expect(history.close(at: SystemClock.now, patience: .seconds(10)))
        #expect(store.done.values.contains("rotate"), "\(store.done.values)")
    }

    @Test func `the file after a full one begins with the state of each target`() async throws {
        let history = try begin(entries: 4)
        try await store.done.wait(for: 1)
        history.record(.now(.notReachable, of: try Target("b.example")))
        try await store.done.wait(for: 2)
        history.record(.now(.notReachable, of: try Target("a.example")))
        try await store.done.wait(for: 3)
        history.recordUnwatched("b.example", at: SystemClock.now)
        try await store.done.wait(for: 6)
        history.record(.now(.reachable))
        #expect(history.close(at: SystemClock.now, patience: .seconds(10)))
        #expect(
            store.done.values == [
                "started", "b.example not-reachable", "a.example not-reachable", "b.example unwatched", "rotate",
                "a.example not-reachable*", "internet reachable", "stopped", "sync",
            ])
    }

    @Test func `a disk that hangs delays no caller; lost records are counted, and the last state is kept`() async throws
    {
        let history = try begin()
        try await store.done.wait(for: 1)
        let recorded = 20_000
        store.hang {
            for number in 1...recorded { history.record(.now(number % 2 == 0 ? .reachable : .notReachable)) }
        }
        #expect(history.close(at: SystemClock.now, patience: .seconds(30)))
        let written = store.done.values
        let dropped = written.compactMap { $0.hasPrefix("dropped ") ? Int($0.dropFirst(8)) : nil }.reduce(0, +)
        #expect(dropped > 0)
        #expect(written.count { $0 == "internet reachable" || $0 == "internet not-reachable" } + dropped == recorded)
        let states = written.filter { $0.hasPrefix("internet") }
        #expect(states.last?.hasPrefix("internet reachable") == true)
        #expect(written.suffix(2) == ["stopped", "sync"])
    }

    @Test func `a full disk is reported once, and afterwards the losses and the states are written`()
        async throws
    {
        let history = try begin()
        try await store.done.wait(for: 1)
        store.fail(with: ENOSPC)
        history.record(.now(.notReachable))
        try await reports.wait(for: 1)
        for _ in 0..<3 { history.record(.now(.reachable)) }
        store.fail(with: nil)
        history.record(.now(.notReachable))
        #expect(history.close(at: SystemClock.now, patience: .seconds(10)))
        #expect(reports.values.first == "the history cannot be written: write: No space left on device")
        #expect(reports.values.count == 2)
        #expect(reports.values.last?.hasPrefix("the history can be written again; ") == true)
        let written = store.done.values
        let dropped = written.compactMap { $0.hasPrefix("dropped ") ? Int($0.dropFirst(8)) : nil }.reduce(0, +)
        #expect(dropped >= 1)
        #expect(dropped + written.count { $0 == "internet reachable" || $0 == "internet not-reachable" } == 5)
        #expect(written.contains("internet not-reachable*") || written.contains("internet reachable*"))
    }

    @Test func `closing does not wait for a disk that hangs`() async throws {
        let history = try begin()
        try await store.done.wait(for: 1)
        store.hang {
            #expect(!history.close(at: SystemClock.now, patience: .milliseconds(20)))
        }
        try await store.done.wait { $0 == "sync" }
    }

    @Test func `signs of life are left at intervals, not at each call`() async throws {
        let history = try begin()
        try await store.done.wait(for: 1)
        let now = SystemClock.now
        func later(_ seconds: Int) -> Instant { Instant(wall: now.wall, boot: now.boot + .seconds(seconds)) }
        for seconds in [1, 200, 299] { history.noteAlive(at: later(seconds)) }
        history.noteAlive(at: later(301))
        history.noteAlive(at: later(302))
        #expect(history.close(at: SystemClock.now, patience: .seconds(10)))
        // Only the call at 301 s is due.
        #expect(store.done.values.count { $0 == "touch" } <= 1)
        #expect(store.done.values.suffix(2) == ["stopped", "sync"])
    }

    @Test func `signs of life are left even if nothing happens`() async throws {
        let history = try begin(signInterval: .milliseconds(1))
        try await store.done.wait(for: 1)
        BackgroundThread.start(named: "signs") { [store] in
            guard let loop = try? EventLoop() else { return }
            history.scheduleSigns(on: loop, every: .milliseconds(5))
            func endAfterTwo() {
                if store.done.values.count(where: { $0 == "touch" }) >= 2 { return loop.stop() }
                loop.schedule(at: SystemClock.boot + .milliseconds(5)) { endAfterTwo() }
            }
            endAfterTwo()
            loop.run()
        }
        try await store.done.wait(for: 3)
        #expect(store.done.values.prefix(3) == ["started", "touch", "touch"])
        #expect(history.close(at: SystemClock.now, patience: .seconds(10)))
    }

    @Test func `a store that cannot be opened is reported, and records are discarded`() async throws {
        let history = try EventHistory(
            entries: 10, at: SystemClock.now, boot: "boot", report: { [reports] in reports.append($0) },
            open: { () throws(SystemError) in throw SystemError(call: "mkdir", number: EACCES) })
        try await reports.wait(for: 1)
        #expect(reports.values == ["the history is unavailable, and is tried again: mkdir: Permission denied"])
        history.record(.now(.reachable))
        #expect(history.close(at: SystemClock.now, patience: .seconds(10)))
    }
}
