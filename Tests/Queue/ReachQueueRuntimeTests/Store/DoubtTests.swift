import Glibc
import ReachCore
import ReachLoop
import ReachQueue
import ReachTesting
import Synchronization
import Testing

@testable import ReachQueueRuntime

/// Disks that lose what was written, files that cannot be read, and programs that read the queue's file while the store
/// has it.
@Suite struct DoubtTests {
    private let stage: StoreStage

    init() throws { stage = try StoreStage() }

    private func open(_ directory: QueueDirectory, replacing old: QueueDatabase? = nil) throws -> QueueDatabase {
        let database = try QueueDatabase(
            directory, QueueStoreOptions(), QueueSchema(), at: SystemClock.now, bootIdentity: "boot", replacing: old)
        if old == nil { _ = try database.begin(at: SystemClock.now) }
        return database
    }

    private func write(_ changes: [StoreChange], to database: QueueDatabase) throws {
        _ = try database.write([StoreTransaction(number: 1, changes: changes, mayBeRefused: true)]) { _, _ in }
    }

    @Test func `what is in memory is written again, whatever became of the log on the disk`() throws {
        let directory = try QueueDirectory(stage.path)
        let old = try open(directory)
        try write([StoreStage.insert(1, try StoreStage.request())], to: old)
        try old.flush()
        try write([StoreStage.finish(1), StoreStage.insert(2, try StoreStage.request(.inline([5])))], to: old)
        old.safety.committed(removing: ["name"])
        // The kernel lost it, and says so once.
        truncate(directory.changeLogPath, 0)
        old.safety.doubt()
        #expect(throws: SQLiteError.self) { try write([StoreStage.insert(3, try StoreStage.request())], to: old) }
        #expect(throws: SQLiteError.self) { try old.trimOutbox(upTo: 1) }
        #expect(throws: SQLiteError.self) { try old.flush() }
        // It is still read.
        #expect(try old.reports(RecordQuery(limit: 10)).map(\.id.rawValue) == [1, 2])
        old.unfold()
        let fresh = try open(directory, replacing: old)
        #expect(fresh.safety.mayHaveLostWrites)
        try fresh.flushAgain()
        #expect(fresh.safety.removable.isEmpty)
        try fresh.endDoubt()
        var log = stat()
        #expect(stat(directory.databasePath + "-wal", &log) == 0 && log.st_size == 0)
        try write([StoreStage.insert(3, try StoreStage.request())], to: fresh)
        #expect(fresh.safety.removable == ["name"])
        #expect(try fresh.contents(at: SystemClock.now).requests.map(\.id.rawValue) == [2, 3])
        #expect(try fresh.report(on: RequestID(rawValue: 1))?.end == .done)
        #expect(try fresh.specification(RequestID(rawValue: 2))?.specification.body == .inline([5]))
    }

    @Test
    func `what went into the tables before an error is not written twice, and another file gets what it has room for`()
        throws
    {
        let directory = try QueueDirectory(stage.path)
        let old = try open(directory)
        try write([StoreStage.insert(1, try StoreStage.request())], to: old)
        // Its commit had reached the file when it failed.
        let committed = try open(directory, replacing: old)
        try committed.flushAgain()
        let fresh = try open(directory, replacing: old)
        #expect(fresh.pending.isEmpty)
        try write([StoreStage.insert(2, try StoreStage.request())], to: fresh)
        // Somebody put another file in its place.
        for suffix in ["", "-wal", "-shm", "-log"] { unlink(stage.file + suffix) }
        let other = try open(directory, replacing: fresh)
        try other.flushAgain()
        #expect(try other.contents(at: SystemClock.now).requests.map(\.id.rawValue) == [2])
    }

    @Test func `a disk that fails after the commit leaves the connection that committed in use`() throws {
        let directory = try QueueDirectory(stage.path)
        let old = try open(directory)
        try write([StoreStage.insert(1, try StoreStage.request())], to: old)
        old.safety.committed(removing: ["name"])
        let fresh = try open(directory, replacing: old)
        // A pipe has no disk to wait for.
        var pipe: [CInt] = [0, 0]
        #expect(Glibc.pipe(&pipe) == 0)
        #expect(dup2(pipe[1], fresh.safety.log) == fresh.safety.log)
        for end in pipe { close(end) }
        try fresh.flushAgain()
        #expect(fresh.pending.isEmpty && fresh.safety.mayHaveLostWrites && fresh.safety.removable.isEmpty)
        #expect(throws: SQLiteError.self) { try write([StoreStage.insert(2, try StoreStage.request())], to: fresh) }
    }

    @Test func `after a sync that failed none is believed until the files are opened again`() async throws {
        let pipe = stage.temporary.path + "/pipe"
        let file = stage.temporary.path + "/file"
        mkfifo(pipe, 0o600)
        let log = EventLog<String>()
        let syncer = try StoreSyncer {
            log.append("safe \($0.transaction.number)")
        } fail: { receipts, _ in
            log.append("lost \(receipts.map(\.transaction.number))")
        }
        func put(_ number: UInt64) async throws {
            let transaction = StoreTransaction(number: number, changes: [], mayBeRefused: true)
            syncer.put([StoreReceipt(transaction: transaction)])
            _ = try await log.wait(for: Int(number))
        }
        // A pipe cannot be synced.
        try syncer.follow(pipe)
        try await put(1)
        try await put(2)
        try syncer.follow(file)
        try await put(3)
        syncer.end()
        #expect(log.values == ["lost [1]", "lost [2]", "safe 3"])
    }

    @Test func `a program that reads the file delays nothing`() async throws {
        let checkpoints = Mutex(0)
        var options = QueueStoreOptions()
        options.checkpointPages = 20
        options.longestLogPages = 30
        options.changeLogBytes = 4000
        let store = try QueueStore(
            try QueueDirectory(stage.path), options,
            observe: { point, _ in if point == .beforeCheckpoint { checkpoints.withLock { $0 += 1 } } }
        ) { [notices = stage.notices] in notices.append($0) }
        _ = try await stage.contents()
        #expect(try await stage.write(1, [StoreStage.insert(1, try StoreStage.request())], to: store))
        let reader = try SQLiteDatabase.open(stage.file)
        try reader.execute("BEGIN")
        #expect(try reader.number("SELECT count(*) FROM request") ?? -1 >= 0)
        let begin = SystemClock.boot
        for id in Int64(2)...200 {
            store.submit(
                StoreTransaction(
                    number: UInt64(id), changes: [StoreStage.insert(id, try StoreStage.request())], mayBeRefused: true))
            if id % 20 == 0 { _ = try await stage.notices.wait { $0.contains { $0.number == UInt64(id) } } }
        }
        let seconds = (SystemClock.boot - begin).nanoseconds / 1_000_000_000
        #expect(Int64(checkpoints.withLock(\.self)) <= seconds + 2)
        try reader.execute("COMMIT")
        #expect(store.close(patience: .seconds(20)))
    }

    @Test func `whoever reads writes nothing, also when what waits is longer than SQLite's cache`() throws {
        var options = QueueStoreOptions()
        options.changeLogBytes = 1 << 20
        let database = try QueueDatabase(
            try QueueDirectory(stage.path), options, QueueSchema(), at: SystemClock.now, bootIdentity: "boot")
        _ = try database.begin(at: SystemClock.now)
        try database.database.execute("PRAGMA cache_size = 10")
        for id in Int64(1)...100 {
            try write(
                [StoreStage.insert(id, try StoreStage.request(.inline([UInt8](repeating: 1, count: 5000))))],
                to: database)
        }
        func sizes() -> [off_t] {
            ["", "-wal", "-log"].map { suffix in
                var status = stat()
                return stat(stage.file + suffix, &status) == 0 ? status.st_size : -1
            }
        }
        let before = sizes()
        #expect(try database.reports(RecordQuery(limit: 1000)).count == 100)
        #expect(try database.contents(at: SystemClock.now).requests.count == 100)
        database.unfold()
        #expect(sizes() == before && !database.pending.isEmpty)
        #expect(try database.database.number("SELECT count(*) FROM request") == 0)
    }

    @Test func `what cannot be read is an error, and not nothing`() async throws {
        let store = try stage.open()
        _ = try await stage.contents()
        #expect(try await stage.write(1, [StoreStage.insert(1, try StoreStage.request())], to: store))
        do {
            let other = try SQLiteDatabase.open(stage.file)
            try other.execute("ALTER TABLE request RENAME TO gone")
        }
        let failures = EventLog<Bool>()
        store.records(RecordQuery(limit: 10)) {
            if case .failure = $0 { failures.append(true) } else { failures.append(false) }
        }
        store.record(of: RequestID(rawValue: 9)) {
            if case .failure = $0 { failures.append(true) } else { failures.append(false) }
        }
        #expect(try await failures.wait(for: 2) == [true, true])
        store.close(patience: .seconds(20))
    }
}
