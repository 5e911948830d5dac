import Glibc
import ReachCore
import ReachLoop
import ReachQueue
import ReachTesting
import Testing

@testable import ReachQueueRuntime

/// The changes that are on their way into the tables, and what writing them costs.
@Suite struct ChangeLogTests {
    private let stage: StoreStage

    init() throws { stage = try StoreStage() }

    private func open(_ options: QueueStoreOptions = QueueStoreOptions()) throws -> QueueDatabase {
        let database = try QueueDatabase(
            try QueueDirectory(stage.path), options, QueueSchema(), at: SystemClock.now, bootIdentity: "boot")
        _ = try database.begin(at: SystemClock.now)
        return database
    }

    private func write(_ changes: [StoreChange], to database: QueueDatabase) throws {
        let transaction = StoreTransaction(number: 1, changes: changes, mayBeRefused: true)
        let receipts = try database.write([transaction]) { _, _ in }
        #expect(receipts.allSatisfy { $0.rejection == nil })
    }

    private func lease(_ id: Int64, attempt: Int = 1) -> StoreChange {
        .lease(RequestID(rawValue: id), attempt: attempt, interface: "eth0", isRepeatable: true, at: SystemClock.now)
    }

    /// What the thread has passed to write(2) and its like.
    private static func bytesWritten() throws -> Int64 {
        let file = try #require(fopen("/proc/thread-self/io", "r"))
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 128)
        while fgets(&line, CInt(line.count), file) != nil {
            let text = String(decoding: line.prefix { $0 != 0 && $0 != 10 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
            if text.hasPrefix("wchar: "), let number = Int64(text.dropFirst(7)) { return number }
        }
        throw StoreStage.Failure(text: "no count of written bytes")
    }

    @Test func `a request that is added, sent and done by itself writes less than 4 KiB beyond its body`() throws {
        let options = QueueStoreOptions()
        let database = try open(options)
        let body = [UInt8](repeating: 7, count: 100)
        var longest = 0, counted: Int64 = 0
        // Until as many are kept as may be, and then some: from there on each one that ends takes the place of another.
        for id in Int64(1)...2500 {
            if id == 1501 { counted = try Self.bytesWritten() }
            let request = try StoreStage.request(.inline(body))
            for change in [StoreStage.insert(id, request), lease(id), StoreStage.finish(id)] {
                try write([change], to: database)
                if database.isFlushDue { try database.flush() }
                if database.pagesInLog >= options.checkpointPages { try database.checkpoint() }
                longest = max(longest, database.pagesInLog)
            }
        }
        let bytes = try (Self.bytesWritten() - counted) / 1000 - 100
        #expect(500 < bytes && bytes < 4096)
        #expect(longest * (4096 + 24) < 4 << 20)
        #expect(try database.reports(RecordQuery(limit: 5000)).count <= 1000 + options.slack)
    }

    /// Lets the open files of the database fail to be read, until the result is called.
    private func breakReading(of database: QueueDatabase) throws -> () -> Void {
        database.releaseCache()
        var found: [(number: CInt, path: String)] = []
        for number in CInt(3)..<1024 {
            var name = [CChar](repeating: 0, count: 4096)
            let length = readlink("/proc/self/fd/\(number)", &name, name.count)
            guard length > 0 else { continue }
            let path = String(decoding: name.prefix(length).map(UInt8.init(bitPattern:)), as: UTF8.self)
            if path.hasSuffix(stage.file) || path.hasSuffix(stage.file + "-wal") { found.append((number, path)) }
        }
        try #require(!found.isEmpty)
        let copies = found.map { dup($0.number) }
        for (number, path) in found {
            let unreadable = Glibc.open(path, O_WRONLY)
            dup2(unreadable, number)
            close(unreadable)
        }
        return {
            for ((number, _), copy) in zip(found, copies) {
                dup2(copy, number)
                close(copy)
            }
        }
    }

    @Test func `a request that cannot be read for now is not leased, and is sent whole later`() throws {
        let body = RequestBody.inline([UInt8](repeating: 7, count: 300_000))
        do {
            let database = try open()
            try write([StoreStage.insert(1, try StoreStage.request(body))], to: database)
            try database.flush()
            try database.checkpoint()
        }
        let database = try open()
        let repair = try breakReading(of: database)
        #expect(throws: SQLiteError.self) { try write([lease(1)], to: database) }
        repair()
        #expect(try database.contents(at: SystemClock.now).requests.first?.state == .waiting)
        let transaction = StoreTransaction(number: 2, changes: [lease(1)], mayBeRefused: true)
        let receipts = try database.write([transaction]) { _, _ in }
        #expect(receipts.first?.leased.first?.1.specification.body == body)
    }

    @Test func `who reads sees what is not in the tables yet`() throws {
        let database = try open()
        try write([StoreStage.insert(1, try StoreStage.request())], to: database)
        #expect(!database.pending.isEmpty)
        #expect(try database.report(on: RequestID(rawValue: 1))?.end == nil)
        try write([lease(1)], to: database)
        try write([StoreStage.finish(1, .done, .inline([1, 2]))], to: database)
        let pending = try #require(try database.report(on: RequestID(rawValue: 1)))
        #expect(!database.pending.isEmpty)
        let listed = try #require(try database.reports(RecordQuery(limit: 10)).first)
        // Who reads writes nothing.
        #expect(!database.pending.isEmpty && database.changeLog.length > 0)
        try database.flush()
        #expect(database.pending.isEmpty)
        let stored = try #require(try database.report(on: RequestID(rawValue: 1)))
        #expect(pending == stored)
        #expect(listed.end == .done && stored.result?.body == .inline([1, 2]))
    }

    @Test func `a kill loses nothing, and what was in the tables is not written again`() throws {
        do {
            let database = try open()
            try write([StoreStage.insert(1, try StoreStage.request()), lease(1)], to: database)
            try database.flush()
            try write([StoreStage.finish(1)], to: database)
            try write([StoreStage.insert(2, try StoreStage.request(.inline([9]))), lease(2)], to: database)
            try write([.holdRequest(RequestID(rawValue: 2), isHeld: true)], to: database)
        }
        // As after a kill, nothing was brought into the tables at the end.
        for _ in 0..<2 {
            let database = try open()
            let contents = try database.contents(at: SystemClock.now)
            #expect(contents.requests.map(\.id.rawValue) == [2] && contents.nextID == 3)
            #expect(contents.requests.first?.state == .leased && contents.requests.first?.progress.isHeld == true)
            #expect(try database.specification(RequestID(rawValue: 2))?.specification.body == .inline([9]))
            #expect(try database.report(on: RequestID(rawValue: 1))?.end == .done)
        }
    }

    @Test(arguments: [true, false])
    func `a lease takes nothing back of the attempts before it`(isFolded: Bool) throws {
        do {
            let database = try open()
            try write([StoreStage.insert(1, try StoreStage.request()), lease(1)], to: database)
            for attempt in 1...2 {
                var progress = RequestProgress(id: RequestID(rawValue: 1), attempts: attempt, tries: attempt)
                progress.networkFailures = 3
                progress.isHeld = true
                try write([.update(progress)], to: database)
                try write([lease(1, attempt: attempt + 1)], to: database)
            }
            if isFolded { try database.flush() }
        }
        let stored = try #require(try open().contents(at: SystemClock.now).requests.first)
        #expect(stored.state == .leased && stored.progress.isHeld)
        #expect([stored.progress.attempts, stored.progress.tries, stored.progress.networkFailures] == [2, 3, 3])
    }

    @Test(arguments: [true, false], [Int64(0), 2])
    func `the number of a request that was added and forgotten is not given again`(isFolded: Bool, left: Int64) throws {
        do {
            let database = try open()
            for id in Int64(1)...3 { try write([StoreStage.insert(id, try StoreStage.request())], to: database) }
            try write([.purge(((left + 1)...3).map(RequestID.init(rawValue:)))], to: database)
            if isFolded { try database.flush() }
        }
        for _ in 0..<2 { #expect(try open().contents(at: SystemClock.now).nextID == 4) }
    }

    @Test func `the files of a request that ended and was forgotten at once go`() throws {
        let database = try open()
        try write([StoreStage.insert(1, try StoreStage.request(.spooled(name: "body", bytes: 1)))], to: database)
        try database.flush()
        try write([StoreStage.finish(1, .dead(.refused), .spooled(name: "answer-1", bytes: 1))], to: database)
        let purge = StoreTransaction(number: 2, changes: [.purge([RequestID(rawValue: 1)])], mayBeRefused: false)
        let receipts = try database.write([purge]) { _, _ in }
        #expect(Set(receipts.flatMap(\.filesToRemove)) == ["body", "answer-1"])
    }

    @Test(arguments: 0..<40)
    func `of a damaged change log the beginning is kept`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        do {
            let database = try open()
            for id in Int64(1)...20 { try write([StoreStage.insert(id, try StoreStage.request())], to: database) }
        }
        let path = stage.file + "-log"
        let file = Glibc.open(path, O_RDWR)
        defer { close(file) }
        var status = stat()
        fstat(file, &status)
        let place = off_t.random(in: 0..<status.st_size, using: &random)
        switch seed % 3 {
        case 0: ftruncate(file, place)
        case 1:
            var byte: UInt8 = 0
            pread(file, &byte, 1, place)
            byte ^= UInt8.random(in: 1...255, using: &random)
            pwrite(file, &byte, 1, place)
        default:
            let bytes = random.bytes(64)
            pwrite(file, bytes, bytes.count, place)
        }
        let database = try open()
        let ids = try database.contents(at: SystemClock.now).requests.map(\.id.rawValue)
        #expect(ids == Array(Int64(1)..<Int64(ids.count + 1)) && ids.count < 20)
        // New ones follow what is left.
        let next = Int64(ids.count + 1)
        try write([StoreStage.insert(next, try StoreStage.request())], to: database)
        #expect(try database.reports(RecordQuery(limit: 100)).last?.id.rawValue == next)
    }

    @Test func `a change log of another database is left alone`() throws {
        do {
            let database = try open()
            try write([StoreStage.insert(1, try StoreStage.request())], to: database)
        }
        for suffix in ["", "-wal", "-shm"] { unlink(stage.file + suffix) }
        #expect(try open().contents(at: SystemClock.now).requests.isEmpty)
    }

    @Test func `a condition of a newer version is held, not taken for any, and written back as it was`() throws {
        let text = "shielded, any"
        do {
            let database = try open()
            try write([StoreStage.insert(1, try StoreStage.request())], to: database)
            try database.flush()
            try database.database.execute("UPDATE request SET condition = '\(text)'")
        }
        let contents = try open().contents(at: SystemClock.now)
        let condition = try #require(contents.requests.first).condition
        #expect(condition.description == text)
        let now = SystemClock.now
        var scheduler = QueueScheduler(firstID: 2, seed: 1, at: now)
        _ = scheduler.handle(.restore(contents.requests, breakers: [], heldQueues: []), at: now)
        var path = QueuePath(interfaceIndex: 1, interface: "eth0", traits: PathTraits(linkClass: .wifi))
        path.sources = [IPAddress(ipv4: 0xc000_0202)]
        path.isValidated = true
        let later = Instant(wall: now.wall, boot: now.boot + .seconds(30))
        let actions = scheduler.handle(.paths(PathSet([path], epoch: 1)), at: now) + scheduler.handle(.wake, at: later)
        #expect(!actions.contains { if case .store = $0 { true } else { false } })
        let reason = try #require(scheduler.explain(RequestID(rawValue: 1), at: later)?.reasons.first)
        #expect(reason.blocker == .condition && reason.text.contains(text))
    }
}
