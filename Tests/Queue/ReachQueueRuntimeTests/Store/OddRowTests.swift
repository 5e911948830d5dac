import Glibc
import ReachCore
import ReachLoop
import ReachQueue
import ReachTesting
import Testing

@testable import ReachQueueRuntime

/// Rows that no version of the program wrote: the file opens, what means nothing is set aside, and nothing traps.
@Suite struct OddRowTests {
    private static let values = [
        "-9223372036854775808", "9223372036854775807", "-1", "4611686018427387904", "4294967296", "2147483647", "NULL",
        "'x'",
        "x'ff00fe'", "CAST(x'fffe41' AS TEXT)", "1e300", "''", "zeroblob(2000000)", "'../../etc/passwd'",
        "replace(hex(zeroblob(100000)), '0', 'y')",
    ]

    /// A file with a request in each state.
    private static func fill(_ stage: StoreStage) async throws {
        let store = try stage.open()
        _ = try await stage.contents()
        var changes = try (Int64(1)...5).map { StoreStage.insert($0, try StoreStage.request(.inline([1, 2]))) }
        changes += [
            .lease(RequestID(rawValue: 2), attempt: 1, interface: "eth0", isRepeatable: true, at: SystemClock.now),
            StoreStage.finish(3, .done, .inline([1])), StoreStage.finish(4, .dead(.refused), .inline([1])),
            StoreStage.finish(5, .cancelled(.byUser)),
            .openBreaker(
                StoredBreaker(
                    destination: try Destination(url: "https://a.example/"), interface: "eth0", owner: 5,
                    openUntil: SystemClock.now, step: 1)),
            .holdQueue(owner: 5, isHeld: true),
        ]
        #expect(try await stage.write(1, changes, to: store))
        store.close(patience: .seconds(5))
    }

    private static func columns(of table: String, in stage: StoreStage) throws -> [String] {
        let database = try SQLiteDatabase.open(stage.file)
        let rows = try database.prepare("SELECT name FROM pragma_table_info('\(table)')")
        var names: [String] = []
        while try rows.step() { names.append(rows.text(0) ?? "") }
        return names
    }

    /// Opens the file, and does with what is in it what the daemon does.
    private static func use(_ stage: StoreStage, portion: Int = 4096) async throws -> StoreContents {
        let seen = stage.notices.values.count
        var options = QueueStoreOptions()
        options.portion = portion
        let store = try stage.open(options: options)
        let contents = try await stage.wholeContents(after: seen).whole
        let now = SystemClock.now
        var scheduler = QueueScheduler(firstID: contents.nextID, seed: 1, at: now)
        _ = scheduler.handle(
            .restore(contents.requests, breakers: contents.breakers, heldQueues: contents.heldQueues), at: now)
        var path = QueuePath(interfaceIndex: 1, interface: "eth0", traits: PathTraits(linkClass: .wired))
        path.sources = [IPAddress(ipv4: 0x7f00_0001)]
        _ = scheduler.handle(.paths(PathSet([path], epoch: 1)), at: now)
        _ = scheduler.handle(.add(try StoreStage.request(), 1), at: now)
        var later = now
        for _ in 0..<4 {
            later = Instant(wall: later.wall, boot: later.boot + .seconds(100_000))
            for action in scheduler.handle(.wake, at: later) {
                if case .store(let transaction) = action {
                    _ = scheduler.handle(.committed(transaction.number), at: later)
                }
            }
        }
        _ = scheduler.handle(.retryAll(nil, .root, 2), at: later)
        for request in contents.requests { _ = scheduler.explain(request.id, at: later) }
        let records = EventLog<[RequestReport]>()
        store.records(RecordQuery(limit: 100)) { records.append((try? $0.get()) ?? []) }
        for record in try await records.wait(for: 1)[0] {
            var writer = JSONWriter()
            writer.object { object in
                object.field("created", record.created)
                object.field("deadline", record.deadline)
                if let time = record.over { object.field("over", time) }
                if let time = record.notBefore { object.field("not_before", time) }
            }
        }
        let insert = StoreStage.insert(contents.nextID, try StoreStage.request())
        #expect(try await stage.write(UInt64(1000 + seen), [insert], to: store))
        store.close(patience: .seconds(5))
        return contents
    }

    @Test(arguments: [
        ("request", 4096), ("request", 2), ("result", 4096), ("breaker", 4096), ("held_queue", 4096), ("boot", 4096),
        ("sqlite_sequence", 4096), ("change_log", 4096),
    ])
    func `whatever a column holds, the file opens and is used`(table: String, portion: Int) async throws {
        let original = try StoreStage()
        try await Self.fill(original)
        let file = try StoreStage.read(original.file)
        // Several at once, since each waits for the store's threads.
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (number, column) in try Self.columns(of: table, in: original).enumerated() {
                if number >= 4 { try await group.next() }
                group.addTask {
                    let stage = try StoreStage()
                    mkdir(stage.path, 0o700)
                    for value in Self.values {
                        try StoreStage.write(file, to: stage.file)
                        do {
                            let database = try SQLiteDatabase.open(stage.file)
                            // Where a condition or a key forbids it, no file can hold it.
                            try? database.execute("UPDATE OR IGNORE \(table) SET \(column) = \(value)")
                        }
                        _ = try await Self.use(stage, portion: portion)
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    @Test func `no row is taken for good by its values that the rules in SQL refuse`() async throws {
        let stage = try StoreStage()
        try await Self.fill(stage)
        let database = try SQLiteDatabase.open(stage.file)
        func judgement() throws -> (isEvident: Bool, problem: String?) {
            let row = try database.prepare(
                "SELECT \(RequestColumn.list), \(RowRules.problem) FROM request WHERE id = 1")
            guard try row.step() else { return (false, nil) }
            return (RowRules.isEvidentlyGood(row), row.text(CInt(RequestColumn.names.count)))
        }
        var refused = 0
        for column in RequestColumn.names where column != "id" {
            for value in ["0"] + Self.values {
                try database.execute("BEGIN")
                try? database.execute("UPDATE OR IGNORE request SET \(column) = \(value) WHERE id = 1")
                let (isEvident, problem) = try judgement()
                #expect(!isEvident || problem == nil, "\(column) = \(value)")
                refused += problem == nil ? 0 : 1
                try database.execute("ROLLBACK")
            }
        }
        #expect(refused > 200, "most values are wrong in most columns")
        #expect(try judgement() == (true, nil))
    }

    @Test(arguments: [
        ("lifetime", "-9223372036854775808"), ("attempts", "9223372036854775807"), ("tries", "'x'"), ("owner", "-1"),
        ("body_path", "'../x'"), ("url", "x'00'"), ("state", "9"), ("over_wall", "1"),
        // Sent whole, it would be another request.
        ("upload_protocol", "'tux'"),
    ])
    func `a row that means nothing is where an administrator finds it, and the others are there`(
        column: String, value: String
    ) async throws {
        let stage = try StoreStage()
        try await Self.fill(stage)
        do {
            let database = try SQLiteDatabase.open(stage.file)
            let kind = column == "body_path" ? ", body_kind = 3" : ""
            try database.execute("UPDATE request SET \(column) = \(value)\(kind) WHERE id = 1")
        }
        let contents = try await Self.use(stage)
        #expect(contents.rowsSetAside == RowsSetAside(count: 1, examples: ["1 (\(column))"]))
        #expect(contents.requests.map(\.id.rawValue) == [2, 4])
        #expect(contents.setAside == nil)
        do {
            let database = try SQLiteDatabase.open(stage.file)
            #expect(try database.number("SELECT id FROM set_aside WHERE problem = '\(column)'") == 1)
        }
        #expect(try await Self.use(stage).rowsSetAside.count == 0)
    }

    @Test(arguments: [
        ("lease_interface", "lease_wall = -9223372036854775808, tries = 1"),
        ("lease_wall", "lease_interface = 'eth0', tries = 1"),
        ("tries", "lease_interface = 'eth0', lease_wall = 1"),
    ])
    func `a request that is on its way by nothing is set aside`(column: String, change: String) async throws {
        let stage = try StoreStage()
        try await Self.fill(stage)
        do {
            let database = try SQLiteDatabase.open(stage.file)
            try database.execute("UPDATE request SET state = 1, \(change) WHERE id = 1")
        }
        let contents = try await Self.use(stage)
        #expect(contents.rowsSetAside == RowsSetAside(count: 1, examples: ["1 (\(column))"]))
        #expect(contents.requests.map(\.id.rawValue) == [2, 4])
    }

    @Test(arguments: [true, false])
    func `what the tables do not take is given up, and all else is written and read`(mayBeRefused: Bool) async throws {
        let stage = try StoreStage()
        try await Self.fill(stage)
        let store = try stage.open()
        _ = try await stage.contents()
        let request = try StoreStage.request()
        // Number 2 is there already: nothing of that transaction is kept.
        let bad = [StoreStage.insert(101, request), StoreStage.insert(2, request)]
        store.submit(StoreTransaction(number: 10, changes: [StoreStage.insert(100, request)], mayBeRefused: true))
        store.submit(StoreTransaction(number: 11, changes: bad, mayBeRefused: mayBeRefused))
        let after = [StoreStage.insert(102, request)]
        #expect(try await stage.write(12, after, mayBeRefused: false, to: store))
        let records = EventLog<[RequestReport]>()
        store.records(RecordQuery(after: 99, limit: 100)) { records.append((try? $0.get()) ?? []) }
        #expect(try await records.wait(for: 1)[0].map(\.id.rawValue) == [100, 102])
        let notices = stage.notices.values
        let refused = notices.contains { if case .notCommitted(11, _) = $0 { true } else { false } }
        let postponed = notices.contains { if case .postponed(11) = $0 { true } else { false } }
        #expect(refused == mayBeRefused && postponed == !mayBeRefused)
        let troubles = notices.compactMap { if case .degraded(let reason) = $0 { .some(reason != nil) } else { nil } }
        #expect(troubles == [true, false])
        store.close(patience: .seconds(5))
    }

    @Test func `whoever asks is answered, even where the file cannot be opened`() async throws {
        let stage = try StoreStage()
        mkdir(stage.path, 0o700)
        mkdir(stage.file, 0o700)
        let store = try stage.open()
        _ = try await stage.notices.wait { $0.contains { if case .failed = $0 { true } else { false } } }
        let found = EventLog<Result<RequestReport?, QueueStoreError>>()
        store.record(of: RequestID(rawValue: 1)) { found.append($0) }
        #expect(try await found.wait(for: 1) == [.failure(.notOpen)])
        store.close(patience: .seconds(5))
    }

    @Test(arguments: ["9223372036854775807", "-1", "'x'", "NULL"])
    func `numbers go on behind those that were given, whatever the file says`(last: String) async throws {
        let stage = try StoreStage()
        try await Self.fill(stage)
        do {
            let database = try SQLiteDatabase.open(stage.file)
            try database.execute("UPDATE sqlite_sequence SET seq = \(last)")
        }
        let contents = try await Self.use(stage)
        #expect(contents.nextID > 1_000_000_000 && contents.nextID < 1 << 60)
        #expect(contents.requests.map(\.id.rawValue) == [1, 2, 4])
    }

    @Test(arguments: ["-5", "1"])
    func `a version that does not fit to the tables ends nothing`(version: String) async throws {
        let stage = try StoreStage()
        try await Self.fill(stage)
        do {
            let database = try SQLiteDatabase.open(stage.file)
            try database.execute("PRAGMA user_version = \(version)")
        }
        let seen = stage.notices.values.count
        let store = try stage.open()
        _ = try await stage.notices.wait { $0.dropFirst(seen).contains { $0.isOpening } }
        store.close(patience: .seconds(5))
    }
}
