import Glibc
import ReachCore
import ReachLoop
import ReachQueue
import ReachTesting
import Testing

@testable import ReachQueueRuntime

/// Change logs that a disk, another program or a copy has changed.
@Suite struct ChangeLogDamageTests {
    private let stage: StoreStage
    private var log: String { stage.file + "-log" }

    init() throws { stage = try StoreStage() }

    private func open(at path: String? = nil) throws -> QueueDatabase {
        let database = try QueueDatabase(
            try QueueDirectory(path ?? stage.path), QueueStoreOptions(), QueueSchema(), at: SystemClock.now,
            bootIdentity: "boot")
        _ = try database.begin(at: SystemClock.now)
        return database
    }

    private func insert(_ ids: ClosedRange<Int64>, into database: QueueDatabase) throws {
        for id in ids {
            let transaction = StoreTransaction(
                number: 1, changes: [StoreStage.insert(id, try StoreStage.request())], mayBeRefused: true)
            #expect(try database.write([transaction]) { _, _ in }.allSatisfy { $0.rejection == nil })
        }
    }

    private func ids(of database: QueueDatabase) throws -> [Int64] {
        try database.contents(at: SystemClock.now).requests.map(\.id.rawValue)
    }

    private func copies() throws -> [String] {
        try DirectoryNames.read(stage.path).filter { $0.hasPrefix("queue.sqlite-log.corrupt-") }
    }

    private func changeByte(at place: off_t) throws {
        let file = Glibc.open(log, O_RDWR)
        defer { close(file) }
        var byte: UInt8 = 0
        try #require(pread(file, &byte, 1, place) == 1)
        byte ^= 0x41
        try #require(pwrite(file, &byte, 1, place) == 1)
    }

    @Test func `damage in the middle is said, and a copy is kept; damage of the last record alone is its end`() throws {
        var lengths: [Int] = []
        do {
            let database = try open()
            for id in Int64(1)...20 {
                try insert(id...id, into: database)
                lengths.append(database.changeLog.length)
            }
        }
        try changeByte(at: off_t(lengths[18] + 30))
        do {
            let database = try open()
            #expect(try database.losses.isEmpty && copies().isEmpty)
            #expect(try ids(of: database) == Array(1...19))
        }
        try changeByte(at: off_t(lengths[9] + 30))
        let damaged = stage.temporary.path + "/damaged"
        try ChildProcess.run(["cp", log, damaged])
        do {
            let database = try open()
            #expect(database.losses.count == 1 && database.losses[0].contains("\(lengths[9]) bytes"))
            #expect(try ids(of: database) == Array(1...10))
            let copy = try #require(try copies().first)
            try ChildProcess.run(["cmp", stage.path + "/" + copy, damaged])
            #expect(database.losses[0].hasSuffix(copy))
            try insert(11...11, into: database)
        }
        // It is said once.
        let database = try open()
        #expect(try database.losses.isEmpty && copies().count == 1)
        #expect(try ids(of: database) == Array(1...11))
    }

    @Test func `a whole record that means nothing is damage, too`() throws {
        for record: [UInt8] in [[99, 2, 0, 0], [1, 2, 2, 0, 0, 0], [6, 2, 0]] {
            let stage = try StoreStage()
            let test = ChangeLogDamageTests(stage)
            do {
                let database = try test.open()
                try test.insert(1...3, into: database)
                try database.changeLog.append(record)
                try test.insert(4...4, into: database)
            }
            let database = try test.open()
            #expect(try database.losses.count == 1 && test.ids(of: database) == [1, 2, 3])
            #expect(try test.copies().count == 1)
        }
    }

    private init(_ stage: StoreStage) { self.stage = stage }

    /// Values of any kind in a change of any kind, in whole records.
    @Test(arguments: 0..<UInt64(getenv("REACH_LONG_TESTS") == nil ? 20 : 1000))
    func `no bytes of a log end the program, or keep the queue from opening`(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        do {
            let database = try open()
            try insert(1...3, into: database)
            try database.flush()
            for _ in 0..<20 {
                try database.changeLog.append(
                    random.oneIn(2) ? Self.change(&random) : random.bytes(Int.random(in: 1...200, using: &random)))
            }
        }
        if random.oneIn(3) {
            var status = stat()
            stat(log, &status)
            for _ in 0..<5 { try changeByte(at: off_t.random(in: 0..<status.st_size, using: &random)) }
        }
        let store = try stage.open()
        let contents = try await stage.contents()
        #expect(contents.setAside == nil)
        #expect(try await stage.write(1, [StoreStage.insert(contents.nextID, try StoreStage.request())], to: store))
        let found = EventLog<Bool>()
        store.records(RecordQuery(limit: 1000)) { found.append((try? $0.get()) != nil) }
        #expect(try await found.wait(for: 1) == [true])
        #expect(store.close(patience: .seconds(20)))
    }

    private static func change(_ random: inout SeededGenerator) -> [UInt8] {
        func value() -> SQLiteValue {
            var number = Int64.random(in: 0...5, using: &random)
            switch Int.random(in: 0..<5, using: &random) {
            case 0: return .null
            case 1: return .text(random.pick(["", "eth0", "../x", "\u{0}"]))
            case 2: return .blob(random.bytes(Int.random(in: 0...20, using: &random)))
            case 3: number = random.pick([.min, .max, -1, 0])
            default: break
            }
            return .integer(number)
        }
        let kind = LoggedChange.Kind(rawValue: UInt8.random(in: 1...14, using: &random)) ?? .insert
        let counts: [LoggedChange.Kind: (row: Int, more: Int)] = [
            .insert: (Int.random(in: 1...NewRow.writer.count, using: &random), Int.random(in: 0...1, using: &random)),
            .lease: (3, 0), .update: (ChangedRow.writer.count, 0), .hold: (1, 0),
            .finish: (ChangedRow.writer.count, random.oneIn(2) ? 6 : 0), .event: (0, 1),
            .revive: (ChangedRow.writer.count, 3), .openBreaker: (0, 6), .closeBreaker: (0, 2),
        ]
        let (row, more) = counts[kind] ?? (0, 0)
        let change = LoggedChange(
            kind: kind, id: random.pick([1, 2, 3, 4, 5, -1, 0, .max, .min]), row: (0..<row).map { _ in value() },
            more: (0..<more).map { _ in value() })
        var bytes = ByteWriter(capacity: 256)
        change.encode(into: &bytes)
        return bytes.bytes
    }

    @Test func `a change that the tables reject is left out and said, and the others are kept`() throws {
        do {
            let database = try open()
            try insert(1...3, into: database)
        }
        do {
            let database = try SQLiteDatabase.open(stage.file)
            try database.execute("INSERT INTO body (request, bytes) VALUES (2, x'00')")
            try database.execute(
                "CREATE TRIGGER no BEFORE INSERT ON request WHEN NEW.id = 2 BEGIN SELECT raise(ABORT, 'no'); END")
        }
        let database = try open()
        try database.flush()
        #expect(database.fold.now.leftOut.count == 1 && database.fold.now.leftOut[0].hasPrefix("insert of 2"))
        #expect(try ids(of: database) == [1, 3] && database.pending.isEmpty)
        #expect(try database.lastNumber() == 3)
    }

    @Test func `a log of a copy that went another way is left alone`() throws {
        let other = stage.temporary.path + "/copy"
        do {
            let database = try open()
            try insert(1...3, into: database)
            try database.flush()
        }
        try ChildProcess.run(["cp", "-r", stage.path, other])
        for (path, id) in [(stage.path, Int64(4)), (other, 5)] {
            let database = try open(at: path)
            try insert(id...id, into: database)
            try database.flush()
            try insert(id + 10...id + 10, into: database)
        }
        try ChildProcess.run(["cp", log, other + "/queue.sqlite-log"])
        #expect(try ids(of: open(at: other)) == [1, 2, 3, 5])
    }

    @Test func `a table without its one row is damage`() throws {
        for sql in ["DELETE FROM change_log", "INSERT INTO change_log VALUES (1)"] {
            try insert(1...1, into: try open())
            let database = try SQLiteDatabase.open(stage.file)
            try database.execute(sql)
            #expect(throws: SQLiteError.self) { try open() }
            for suffix in ["", "-wal", "-shm", "-log"] { unlink(stage.file + suffix) }
        }
    }

    @Test func `a long log is shortened when the tables are on the disk, and not before`() throws {
        var options = QueueStoreOptions()
        options.changeLogBytes = 4 << 20
        let database = try QueueDatabase(
            try QueueDirectory(stage.path), options, QueueSchema(), at: SystemClock.now, bootIdentity: "boot")
        let request = try StoreStage.request(.inline([UInt8](repeating: 7, count: 2 << 20)))
        let changes = [StoreStage.insert(1, request)]
        _ = try database.write([StoreTransaction(number: 1, changes: changes, mayBeRefused: true)]) { _, _ in }
        func size() -> Int {
            var status = stat()
            return stat(log, &status) == 0 ? Int(status.st_size) : 0
        }
        try database.flush()
        #expect(size() > 2 << 20)
        try database.makeTablesSafe()
        #expect(size() == 1 << 20)
    }
}
