import Glibc
import ReachCore
import ReachLoop
import ReachQueue
import ReachTesting
import Testing

@testable import ReachQueueRuntime

/// What is kept of requests that are over, for each owner, and which files go when.
@Suite struct KeepingTests {
    private let stage: StoreStage

    init() throws { stage = try StoreStage() }

    private static func request(of owner: UInt32, _ body: RequestBody = .none) throws -> QueuedRequest {
        try QueuedRequest(RequestSpecification(method: "PUT", url: "https://a.example/", body: body), owner: owner)
    }

    /// Requests that are over at once.
    private func finish(
        _ ids: ClosedRange<Int64>, of owner: UInt32, _ body: RequestBody = .none, in store: QueueStore
    ) async throws {
        for id in ids {
            let changes = [StoreStage.insert(id, try Self.request(of: owner)), StoreStage.finish(id, .done, body)]
            #expect(try await stage.write(UInt64(id), changes, to: store))
        }
    }

    @Test func `one owner's answers push out no one else's, and the oldest of the owner go first`() async throws {
        var options = QueueStoreOptions()
        options.results.count = 10
        let store = try stage.open(options: options)
        _ = try await stage.contents()
        try await finish(1...1, of: 2000, in: store)
        try await finish(2...201, of: 1000, in: store)
        let left = try await stage.kept(1...201, in: store)
        #expect(left.first == 1)
        #expect(left.count < 1 + 10 + 2 * options.slack && left.dropFirst().first ?? 0 > 64)
        #expect(left.last == 201)
    }

    @Test func `answers that were read go before older ones that no one read`() async throws {
        var options = QueueStoreOptions()
        options.results.bytes = 100_000
        let store = try stage.open(options: options)
        _ = try await stage.contents()
        let body = RequestBody.inline([UInt8](repeating: 1, count: 20_000))
        try await finish(1...4, of: 1000, body, in: store)
        #expect(try await stage.write(900, [.markRead(RequestID(rawValue: 3))], to: store))
        try await finish(5...6, of: 1000, body, in: store)
        #expect(try await stage.kept(1...6, in: store) == [2, 4, 5, 6])
        // The accounts are read again with the file.
        store.close(patience: .seconds(5))
        let seen = stage.notices.values.count
        let again = try stage.open(options: options)
        _ = try await stage.contents(after: seen)
        try await finish(7...7, of: 1000, body, in: again)
        #expect(try await stage.kept(1...7, in: again) == [4, 5, 6, 7])
    }

    /// A file whose first requests are in the tables, and that keeps ten answers and 64 more for a while.
    private func openDatabase(inserting ids: ClosedRange<Int64>) throws -> QueueDatabase {
        var options = QueueStoreOptions()
        options.results.count = 10
        let database = try QueueDatabase(
            try QueueDirectory(stage.path), options, QueueSchema(), at: SystemClock.now, bootIdentity: "boot")
        _ = try database.begin(at: SystemClock.now)
        try write(ids.map { StoreStage.insert($0, try Self.request(of: 1000)) }, to: database)
        try database.flush()
        return database
    }

    private func write(_ changes: [StoreChange], to database: QueueDatabase) throws {
        _ = try database.write([StoreTransaction(number: 1, changes: changes, mayBeRefused: false)]) { _, _ in }
    }

    private func over(in database: QueueDatabase) throws -> [Int64] {
        try database.reports(RecordQuery(limit: 1000, isOver: true)).map(\.id.rawValue)
    }

    @Test func `an end that others push out at once is not written into the tables`() throws {
        let database = try openDatabase(inserting: 1...300)
        for id in Int64(1)...300 {
            try write([StoreStage.finish(id, .done, .spooled(name: "answer-\(id)", bytes: 1))], to: database)
            #expect(!database.isFlushDue)
        }
        let left = try over(in: database)
        database.unfold()
        #expect(left.count <= 74 && left == Array((301 - Int64(left.count))...300))
        #expect(try database.report(on: RequestID(rawValue: 1)) == nil)
        #expect(database.pending.changes.count { $0.kind == .finish } == left.count)
        #expect(database.safety.removable.isEmpty)
        try database.flush()
        try database.makeTablesSafe()
        #expect(try over(in: database) == left)
        #expect(try database.database.number("SELECT count(*) FROM request") == Int64(left.count))
        #expect(Set(database.safety.removable) == Set((1..<left[0]).map { "answer-\($0)" }))
    }

    @Test func `answers in the tables go first, and a kill brings no more back than may be kept`() throws {
        var database: QueueDatabase? = try openDatabase(inserting: 1...200)
        try write((Int64(1)...70).map { StoreStage.finish($0) }, to: try #require(database))
        try database?.flush()
        for id in Int64(71)...110 { try write([StoreStage.finish(id)], to: try #require(database)) }
        let left = try over(in: try #require(database))
        #expect(left.count <= 74 && left == Array((111 - Int64(left.count))...110))
        database?.unfold()
        #expect(try database?.database.number("SELECT count(*) FROM request WHERE state = 2") == 70)
        database = nil
        database = try openDatabase(inserting: 300...300)
        let again = try over(in: try #require(database))
        #expect(again.count <= 74 && again.last == 110)
    }

    @Test func `an answer that was read goes before those that are in no table yet`() throws {
        let database = try openDatabase(inserting: 1...200)
        try write((Int64(1)...74).map { StoreStage.finish($0) }, to: database)
        try write([.markRead(RequestID(rawValue: 70))], to: database)
        #expect(!database.isFlushDue)
        try write([StoreStage.finish(75)], to: database)
        #expect(database.isFlushDue)
        try database.flush()
        #expect(try over(in: database) == [65, 66, 67, 68, 69, 71, 72, 73, 74, 75])
    }

    @Test func `a body goes when its request is over, and stays with the dead`() async throws {
        let store = try stage.open()
        _ = try await stage.contents()
        for name in ["one", "two", "three"] {
            close(open(stage.path + "/spool/" + name, O_CREAT | O_WRONLY, 0o600))
        }
        func isThere(_ name: String) -> Bool { access(stage.path + "/spool/" + name, F_OK) == 0 }
        let ends: [(String, RequestEnd)] = [
            ("one", .done), ("two", .cancelled(.byUser)), ("three", .dead(.refused)),
        ]
        for (index, (name, end)) in ends.enumerated() {
            let id = Int64(index + 1)
            let request = try Self.request(of: 1000, .spooled(name: name, bytes: 0))
            #expect(try await stage.write(UInt64(10 + index), [StoreStage.insert(id, request)], to: store))
            #expect(isThere(name))
            #expect(try await stage.write(UInt64(20 + index), [StoreStage.finish(id, end)], to: store))
        }
        #expect(!isThere("one") && !isThere("two") && isThere("three"))
    }

    @Test func `what a dead request died of goes when it is sent again`() async throws {
        let store = try stage.open()
        _ = try await stage.contents()
        close(open(stage.path + "/spool/answer-1", O_CREAT | O_WRONLY, 0o600))
        let end = StoreStage.finish(1, .dead(.refused), .spooled(name: "answer-1", bytes: 0))
        #expect(try await stage.write(1, [StoreStage.insert(1, try Self.request(of: 1000)), end], to: store))
        let deadline = Instant(wall: SystemClock.now.wall, boot: SystemClock.boot + .seconds(100))
        #expect(
            try await stage.write(
                2, [.revive(RequestProgress(id: RequestID(rawValue: 1)), deadline: deadline)], to: store))
        #expect(access(stage.path + "/spool/answer-1", F_OK) != 0)
    }

    @Test func `a request that is sent again is not leased before its old answer is removed`() async throws {
        let store = try stage.open()
        _ = try await stage.contents()
        let end = StoreStage.finish(1, .dead(.refused), .spooled(name: "answer-1", bytes: 4))
        #expect(try await stage.write(1, [StoreStage.insert(1, try Self.request(of: 1000)), end], to: store))
        let deadline = Instant(wall: SystemClock.now.wall, boot: SystemClock.boot + .seconds(100))
        let id = RequestID(rawValue: 1)
        store.enqueue(
            StoreTransaction(
                number: 2, changes: [.revive(RequestProgress(id: id), deadline: deadline)], mayBeRefused: false))
        store.enqueue(
            StoreTransaction(
                number: 3,
                changes: [.lease(id, attempt: 1, interface: "up0", isRepeatable: true, at: SystemClock.now)],
                mayBeRefused: true))
        store.wake()
        let numbers = try await stage.notices.wait(within: .seconds(20)) { $0.compactMap(\.number).count == 3 }
            .compactMap(\.number)
        #expect(numbers == [1, 2, 3])
    }

    @Test func `the breaker of a destination that is down for very long outlasts a restart`() async throws {
        let store = try stage.open()
        _ = try await stage.contents()
        let until = Instant(wall: SystemClock.now.wall, boot: SystemClock.boot + .seconds(300))
        let breaker = StoredBreaker(
            destination: Destination(stored: "https://a.example:443"), interface: "up0", owner: 1000, openUntil: until,
            step: 40)
        #expect(try await stage.write(1, [.openBreaker(breaker)], to: store))
        store.close(patience: .seconds(5))
        let seen = stage.notices.values.count
        _ = try stage.open()
        #expect(try await stage.contents(after: seen).breakers.map(\.step) == [StoredBreaker.highestStep])
    }

    @Test func `the bytes of a dead request's answer come back with it`() async throws {
        let store = try stage.open()
        _ = try await stage.contents()
        let end = StoreStage.finish(1, .dead(.refused), .inline([UInt8](repeating: 1, count: 5000)))
        #expect(try await stage.write(1, [StoreStage.insert(1, try Self.request(of: 1000)), end], to: store))
        store.close(patience: .seconds(5))
        let seen = stage.notices.values.count
        _ = try stage.open()
        let stored = try #require(try await stage.contents(after: seen).requests.first)
        #expect(stored.answerBytes == 5000)
    }

    @Test func `a file of the first version opens, and its outbox is gone`() async throws {
        var first = QueueSchema()
        first.migrations = Array(first.migrations.prefix(1))
        mkdir(stage.path, 0o700)
        do {
            let database = try SQLiteDatabase.open(stage.file)
            try database.execute("PRAGMA journal_mode = WAL")
            try first.prepare(database)
            try database.execute(
                """
                INSERT INTO outbox (event) VALUES (x'00');
                INSERT INTO request (state, owner, destination, condition, priority, depends, strict, repeatable, bytes,
                    lifetime, deadline_wall, deadline_boot, boot, method, url, headers, accepted, body_kind, body_bytes)
                VALUES (0, 7, 'https://a.example:443', 'any', 2, 0, 0, 1, 300, 1, 9000000000000000000, 0, 0, 'GET',
                    'https://a.example/', '', '200-299', 0, 0);
                INSERT INTO request SELECT NULL, 2, owner, destination, condition, priority, order_key, unique_mode,
                    unique_name, depends, strict, repeatable, maximum_attempts, bytes, lifetime, deadline_wall,
                    deadline_boot, boot, attempts, network_failures, tries, held, network_failure, not_before_wall,
                    not_before_boot, not_before_in, reason, 8999999999999999999, lease_interface, lease_wall, method, url,
                    headers, idempotency_key, accepted, output_path, body_kind, body_path, body_bytes FROM request;
                INSERT INTO result VALUES (2, 200, '', 1, NULL, 1000, zeroblob(1000));
                """)
        }
        let store = try stage.open()
        let contents = try await stage.contents()
        #expect(contents.requests.map(\.id.rawValue) == [1] && contents.rowsSetAside.count == 0)
        #expect(try await stage.kept(1...2, in: store) == [1, 2])
        store.close(patience: .seconds(5))
        let database = try SQLiteDatabase.open(stage.file)
        #expect(try database.number("SELECT count(*) FROM sqlite_master WHERE name IN ('outbox', 'cursor')") == 0)
        #expect(try database.number("SELECT kept FROM request WHERE id = 2") == 1000 + 18 + 256)
        #expect(try database.number("PRAGMA user_version") == QueueSchema().version)
    }
}
