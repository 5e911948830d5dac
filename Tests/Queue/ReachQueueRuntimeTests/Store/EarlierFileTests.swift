import Foundation
import Glibc
import ReachCore
import ReachLoop
import ReachQueue
import ReachTesting
import Testing

@testable import ReachQueueRuntime

/// Files as earlier versions of the program left them.
@Suite struct EarlierFileTests {
    private let stage: StoreStage

    init() throws { stage = try StoreStage() }

    /// The rows that a daemon of version 7 had written when it was killed.
    private static let rows = """
        INSERT INTO boot VALUES (1, 'd84fbd71-8676-4c05-946a-f2f4b185cf25');
        INSERT INTO body VALUES (1, CAST('hello' AS BLOB));
        UPDATE change_log SET generation = 1512976604608862601;
        INSERT INTO request VALUES (1, 0, 0, 'https://one.example:443', 'any', 2, 'a', NULL, NULL, 0, 0, 1, NULL, 442, 1209600000000000, 1796958880282590741, 1223399686949152, 1, 0, 0, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, \
            'POST', 'https://one.example/x', 'Content-Type: application/x-www-form-urlencoded\r\nIdempotency-Key: 01a21aff-7a1a-7fb9-bb45-351ea23ba915\r\n', '01a21aff-7a1a-7fb9-bb45-351ea23ba915', '200-299', NULL, 1, NULL, 5, 0, 0, NULL, NULL, NULL, 0, NULL, NULL, NULL, NULL);
        """

    /// Its change log: two requests, each with its event in the journal, and the hold of the first of them.
    private static let changeLog = """
        6TzPxHVhF3YeAgAAAAAAAIkZMK80LP8UAQREAQQBAAEAAjJodHRwczovL3RocmVlLmV4YW1wbGU6NDQzAgZhbnkBBAAAAAEAAQABAgEGAYAHAY\
        CAkKX+h6YEAerImNuwpYrwMQHs9Njjt6usBAECAghQT1NUAixodHRwczovL3RocmVlLmV4YW1wbGUvAuABWC1BOiBiDQpDb250ZW50LVR5cGU6\
        IGFwcGxpY2F0aW9uL3gtd3d3LWZvcm0tdXJsZW5jb2RlZA0KSWRlbXBvdGVuY3ktS2V5OiAwMWEyMWFmZi04N2EyLTdlMTQtYWFmNy04NDdmNj\
        g5MjQzNzcNCgJIMDFhMjFhZmYtODdhMi03ZTE0LWFhZjctODQ3ZjY4OTI0Mzc3Ag4yMDAtMjk5AAECAAEKAAAAAAEAAQIBAgIDCnRoaXJkCAQA\
        AgPQA3sidiI6MSwidHlwZSI6InF1ZXVlIiwidGltZSI6IjIwMjYtMTEtMjdUMDM6MTQ6NDMuNzQ2NjE1WiIsImJvb3R0aW1lX25zIjoxMzgwMz\
        E1MDk3NDI2MiwiZXZlbnQiOiJxdWV1ZWQiLCJlcG9jaCI6MSwiaWQiOjIsInVzZXIiOjAsImRlc3RpbmF0aW9uIjoiaHR0cHM6Ly90aHJlZS5l\
        eGFtcGxlOjQ0MyIsIndoZW4iOiJhbnkiLCJib290IjoiZDg0ZmJkNzEtODY3Ni00YzA1LTk0NmEtZjJmNGIxODVjZjI1In0hxTzQOPIii3oBAA\
        AAAAAAiRkwrzQs/xQBBkQBBgEAAQACMGh0dHBzOi8vZm91ci5leGFtcGxlOjQ0MwIGYW55AQQAAAABAAEAAQIAAeAEAYCAkKX+h6YEAYy3vsSx\
        pYrwMQHq6v7MuKusBAECAgZHRVQCKmh0dHBzOi8vZm91ci5leGFtcGxlLwIAAAIOMjAwLTI5OQABAAABAAAAAAABAAAAAAgGAAIDzgN7InYiOj\
        EsInR5cGUiOiJxdWV1ZSIsInRpbWUiOiIyMDI2LTExLTI3VDAzOjE0OjQzLjg1NzAyNloiLCJib290dGltZV9ucyI6MTM4MDMyNjEzODUzOTcs\
        ImV2ZW50IjoicXVldWVkIiwiZXBvY2giOjEsImlkIjozLCJ1c2VyIjowLCJkZXN0aW5hdGlvbiI6Imh0dHBzOi8vZm91ci5leGFtcGxlOjQ0My\
        IsIndoZW4iOiJhbnkiLCJib290IjoiZDg0ZmJkNzEtODY3Ni00YzA1LTk0NmEtZjJmNGIxODVjZjI1In3dY7gGQYCfwdEAAAAAAAAAiRkwrzQs\
        /xQDBBgBAAEAAQABAAECAQAAAAAAAAAACAgAAgPoAnsidiI6MSwidHlwZSI6InF1ZXVlIiwidGltZSI6IjIwMjYtMTEtMjdUMDM6MTQ6NDMuOT\
        I0NzUxWiIsImJvb3R0aW1lX25zIjoxMzgwMzMyOTExMDY0MCwiZXZlbnQiOiJzdXNwZW5kZWQiLCJlcG9jaCI6MSwiaWQiOjIsInVzZXIiOjAs\
        ImJvb3QiOiJkODRmYmQ3MS04Njc2LTRjMDUtOTQ2YS1mMmY0YjE4NWNmMjUifQ==
        """

    private func makeFile() throws {
        var schema = QueueSchema()
        schema.migrations = Array(schema.migrations.prefix(7))
        mkdir(stage.path, 0o700)
        let database = try SQLiteDatabase.open(stage.file)
        try database.execute("PRAGMA journal_mode = WAL")
        try schema.prepare(database)
        try database.execute(Self.rows)
        let log = try #require(Data(base64Encoded: Self.changeLog))
        try StoreStage.write(Array(log), to: stage.file + "-log")
    }

    @Test func `a file of version 7 opens with the change log that a kill left, and takes all kinds of changes`()
        async throws
    {
        try makeFile()
        var store = try stage.open()
        let contents = try await stage.contents()
        #expect(contents.requests.map(\.id.rawValue) == [1, 2, 3] && contents.nextID == 4)
        #expect(contents.rowsSetAside.count == 0 && contents.setAside == nil)
        #expect(contents.requests.map(\.progress.isHeld) == [false, true, false])
        let reports = EventLog<RequestReport>()
        for id in Int64(1)...3 {
            store.record(of: RequestID(rawValue: id)) {
                if let found = (try? $0.get()) ?? nil { reports.append(found) }
            }
        }
        let requests = try await reports.wait(for: 3).map(\.request.specification)
        #expect(requests.map(\.url) == ["https://one.example/x", "https://three.example/", "https://four.example/"])
        #expect(requests[0].orderKey == "a" && requests[0].method == "POST")
        let second = requests[1]
        #expect(second.followsRedirects && second.isCompressed && second.maximumAttempts == 3)
        #expect(second.headers.first == HeaderField("X-A", "b"))
        #expect(!stage.notices.values.contains { if case .lost = $0 { true } else { false } })
        // The body of one that is in the log alone.
        let lease = StoreChange.lease(
            RequestID(rawValue: 2), attempt: 1, interface: "lo", isRepeatable: true, at: SystemClock.now)
        #expect(try await stage.write(1, [lease, .holdQueue(owner: 5, isHeld: true)], to: store))
        let leased = stage.notices.values.compactMap {
            if case .committed(1, let leased) = $0 { leased.first?.1.specification } else { nil }
        }
        #expect(leased.first?.body == .inline(Array("third".utf8)))
        store.close(patience: .seconds(20))
        #expect(try SQLiteDatabase.open(stage.file).number("PRAGMA user_version") == QueueSchema().version)
        let seen = stage.notices.values.count
        store = try stage.open()
        let again = try await stage.contents(after: seen)
        #expect(again.heldQueues == [5] && again.requests.map(\.progress.tries) == [0, 1, 0])
        store.close(patience: .seconds(20))
    }

    /// Changes of all kinds, as after a kill: nothing was brought into the tables at the end.
    @Test func `a hold of a queue, a breaker and a request that is sent again survive a kill in the change log`() throws
    {
        func open() throws -> QueueDatabase {
            let database = try QueueDatabase(
                try QueueDirectory(stage.path), QueueStoreOptions(), QueueSchema(), at: SystemClock.now,
                bootIdentity: "boot")
            _ = try database.begin(at: SystemClock.now)
            return database
        }
        func breaker(_ interface: String) throws -> StoredBreaker {
            StoredBreaker(
                destination: try Destination(url: "https://a.example/"), interface: interface, owner: 5,
                openUntil: SystemClock.now, step: 1)
        }
        let id = RequestID(rawValue: 1)
        do {
            let database = try open()
            let answer = RequestBody.spooled(name: "answer-1", bytes: 4)
            let writes: [[StoreChange]] = [
                [
                    StoreStage.insert(1, try StoreStage.request(.inline([9]))),
                    StoreStage.finish(1, .dead(.refused), answer),
                ],
                [.holdQueue(owner: 7, isHeld: true), .holdQueue(owner: nil, isHeld: true)],
                [.openBreaker(try breaker("up0")), .openBreaker(try breaker("up1"))],
                [.revive(RequestProgress(id: id), deadline: SystemClock.now), .holdQueue(owner: 7, isHeld: false)],
                [.closeBreaker(try Destination(url: "https://a.example/"), interface: "up0", owner: 5)],
            ]
            for (number, changes) in writes.enumerated() {
                let transaction = StoreTransaction(number: UInt64(number), changes: changes, mayBeRefused: true)
                let receipts = try database.write([transaction]) { _, _ in }
                // The file of its old answer goes when the disk has that, and never again after that: the next one has
                // its name.
                #expect(receipts.flatMap(\.filesToRemove) == (number == 3 ? ["answer-1"] : []))
            }
            #expect(try database.database.number("SELECT count(*) FROM request") == 0)
        }
        for _ in 0..<2 {
            let database = try open()
            try database.flush()
            try database.makeTablesSafe()
            #expect(database.safety.removable.isEmpty)
            let contents = try database.contents(at: SystemClock.now)
            #expect(contents.heldQueues == [0] && contents.breakers.map(\.interface) == ["up1"])
            #expect(contents.requests.map(\.state) == [.waiting])
            #expect(try database.report(on: id)?.result == nil)
            #expect(try database.specification(id)?.specification.body == .inline([9]))
        }
    }
}
