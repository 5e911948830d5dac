import Glibc
import ReachCore
import ReachLoop
import ReachQueue
import ReachTesting
import Testing

@testable import ReachQueueRuntime

/// What is kept, and what the file is when it is opened again.
@Suite struct QueueStoreTests {
    private let stage: StoreStage

    init() throws { stage = try StoreStage() }

    @Test func `a request comes back as it was queued`() async throws {
        let request = try StoreStage.request(.inline(Array("body".utf8)))
        let store = try stage.open()
        _ = try await stage.contents()
        #expect(try await stage.write(1, [StoreStage.insert(7, request)], to: store))
        #expect(
            try await stage.write(
                2,
                [
                    .lease(
                        RequestID(rawValue: 7), attempt: 1, interface: "eth0", isRepeatable: true, at: SystemClock.now)
                ],
                to: store))
        guard case .committed(2, let leased)? = stage.notices.values.last else { throw StoreStage.Failure(text: "") }
        #expect(leased.map(\.0) == [RequestID(rawValue: 7)])
        #expect(leased.map(\.1) == [request])
        store.close(patience: .seconds(5))
        let seen = stage.notices.values.count
        _ = try stage.open()
        let contents = try await stage.contents(after: seen)
        #expect(contents.nextID == 8)
        let stored = try #require(contents.requests.first)
        #expect(contents.requests.count == 1)
        #expect(stored.state == .leased)
        #expect(stored.progress == RequestProgress(id: RequestID(rawValue: 7), tries: 1))
        #expect(stored.owner == 1000 && stored.orderKey == "o" && stored.priority == .high && stored.isRepeatable)
        #expect(
            stored.condition == request.specification.condition
                && stored.destination == request.specification.destination)
        #expect(stored.bytesHeld == request.specification.bytesHeld)
        #expect(stored.deadline.boot - stored.created.boot == .seconds(100))
        #expect(stored.deadline.boot > SystemClock.boot && stored.deadline.boot < SystemClock.boot + .seconds(101))
    }

    @Test func `since when a request waits that was sent before outlasts a restart`() async throws {
        var request = try StoreStage.request()
        request.specification.timeToLive = .seconds(100_000)
        let now = SystemClock.now
        let since = Instant(wall: now.wall + .seconds(-7200), boot: now.boot + .seconds(-7200))
        let store = try stage.open()
        _ = try await stage.contents()
        #expect(try await stage.write(1, [StoreStage.insert(1, request)], to: store))
        let progress = RequestProgress(
            id: RequestID(rawValue: 1), networkFailures: 1, tries: 1, isNetworkFailure: true, waitsSince: since)
        #expect(try await stage.write(2, [.update(progress)], to: store))
        store.close(patience: .seconds(5))
        let seen = stage.notices.values.count
        _ = try stage.open()
        let contents = try await stage.contents(after: seen)
        #expect(contents.requests.first?.progress.waitsSince?.wall == since.wall)
        var scheduler = QueueScheduler(firstID: 2, seed: 1, at: now)
        _ = scheduler.handle(.restore(contents.requests, breakers: [], heldQueues: []), at: now)
        let later = Instant(wall: now.wall + .seconds(60), boot: now.boot + .seconds(60))
        _ = scheduler.handle(.paths(PathSet([], epoch: 1)), at: later)
        let reason = try #require(scheduler.explain(RequestID(rawValue: 1), at: later)?.reasons.first)
        #expect(reason.blocker == .path)
        #expect(abs((reason.since.boot - since.boot).nanoseconds) < 1_000_000_000)
    }

    @Test func `rows that want different things in turn come back as they were queued`() async throws {
        func request(_ host: String, _ condition: String, _ change: (inout RequestSpecification) -> Void = { _ in })
            throws
            -> QueuedRequest
        {
            var request = try QueuedRequest(
                RequestSpecification(url: "http://\(host)/", condition: NetworkCondition(condition)), owner: 1000)
            change(&request.specification)
            return request
        }
        // Each differs from the one before, or from the last plain one, in one thing; some are the same.
        let requests = [
            try request("a.example", "wifi"), try request("a.example", "wifi"),
            try request("a.example", "unmetered") { $0.orderKey = "o" }, try request("a.example", "unmetered"),
            try request("b.example", "unmetered"), try request("b.example", "unmetered") { $0.priority = .high },
            try request("b.example", "unmetered") { $0.maximumAttempts = 3 }, try request("b.example", "unmetered"),
            try request("b.example", "unmetered") { $0.isStrict = true }, try request("a.example", "wifi"),
            try request("a.example", "wifi") { $0.interceptor = "i" }, try request("a.example", "wifi"),
        ]
        let changes = requests.enumerated().map { StoreStage.insert(Int64($0.offset + 1), $0.element) }
        let store = try stage.open()
        _ = try await stage.contents()
        #expect(try await stage.write(1, changes, to: store))
        let seen = stage.notices.values.count
        store.close(patience: .seconds(20))
        let again = try stage.open()
        let restored = try await stage.contents(after: seen).requests
        again.close(patience: .seconds(20))
        #expect(restored.map(\.condition) == requests.map(\.specification.condition))
        #expect(restored.map(\.destination) == requests.map(\.specification.destination))
        #expect(restored.map(\.priority) == requests.map(\.specification.priority))
        #expect(restored.map(\.orderKey) == requests.map(\.specification.orderKey))
        #expect(restored.map(\.maximumAttempts) == requests.map(\.specification.maximumAttempts))
        #expect(restored.map(\.isStrict) == requests.map(\.specification.isStrict))
        #expect(restored.map(\.interceptor) == requests.map(\.specification.interceptor))
        #expect(restored.map(\.exposesSecrets) == requests.map(\.specification.exposesSecrets))
    }

    @Test func `what a portal must not read is still known after a restart`() async throws {
        let secret = HeaderField("authorization", "Bearer x")
        let cookie = HeaderField("Cookie", "a=b")
        let plain = HeaderField("Accept", "*/*")
        let specifications = [
            try RequestSpecification(url: "http://a.example/"),
            try RequestSpecification(url: "http://a.example/", headers: [plain]),
            try RequestSpecification(url: "http://a.example/", headers: [plain, secret]),
            try RequestSpecification(url: "http://a.example:8080/", headers: [cookie]),
            try RequestSpecification(url: "http://a.example/", headers: [HeaderField("PRIVATE-TOKEN", "x")]),
            try RequestSpecification(method: "PUT", url: "http://192.0.2.1/", body: .inline([1])),
            try RequestSpecification(
                method: "PUT", url: "http://a.example/", body: .file(path: "/etc/hostname", bytes: 1)),
            try RequestSpecification(
                method: "PUT", url: "https://a.example/", headers: [secret, cookie], body: .inline([1])),
        ]
        let requests = specifications.map { QueuedRequest($0) }
        let expected = [false, false, true, true, true, true, true, false]
        #expect(requests.map(\.specification.exposesSecrets) == expected)
        let store = try stage.open()
        _ = try await stage.contents()
        let inserts = requests.enumerated().map { StoreStage.insert(Int64($0 + 1), $1) }
        #expect(try await stage.write(1, inserts, to: store))
        store.close(patience: .seconds(5))
        let seen = stage.notices.values.count
        _ = try stage.open()
        #expect(try await stage.contents(after: seen).requests.map(\.exposesSecrets) == expected)
    }

    @Test func `an answer is kept for whoever asks, and its end comes with its event`() async throws {
        let store = try stage.open()
        _ = try await stage.contents()
        let id = RequestID(rawValue: 1)
        #expect(try await stage.write(1, [StoreStage.insert(1, try StoreStage.request())], to: store))
        let result = RequestResult(
            status: 201, headers: [HeaderField("Content-Type", "text/plain")], body: .inline([1, 2, 3]))
        let progress = RequestProgress(id: id, tries: 1)
        let end = StoreChange.finish(progress, .done, result, at: SystemClock.now)
        #expect(try await stage.write(2, [end], to: store))
        let outcomes = EventLog<RequestReport?>()
        store.record(of: id) { outcomes.append(try? $0.get()) }
        store.record(of: RequestID(rawValue: 9)) { outcomes.append(try? $0.get()) }
        let found = try await outcomes.wait(for: 2)
        #expect(found[0]?.end == .done && found[0]?.result == result && found[0]?.request.owner == 1000)
        #expect(found[1] == nil)
    }

    @Test func `a hold of what is leased leaves the lease`() async throws {
        let store = try stage.open()
        _ = try await stage.contents()
        let id = RequestID(rawValue: 1)
        let changes: [StoreChange] = [
            StoreStage.insert(1, try StoreStage.request()),
            .lease(id, attempt: 1, interface: "eth0", isRepeatable: false, at: SystemClock.now),
            .holdRequest(id, isHeld: true),
        ]
        #expect(try await stage.write(1, changes, to: store))
        store.close(patience: .seconds(5))
        let seen = stage.notices.values.count
        _ = try stage.open()
        let stored = try #require(try await stage.contents(after: seen).requests.first)
        #expect(stored.state == .leased)
        #expect(stored.progress.isHeld)
    }

    @Test func `breakers, held queues and the dead are kept, and what is no longer wanted is not`() async throws {
        let store = try stage.open()
        _ = try await stage.contents()
        let now = SystemClock.now
        let destination = try Destination(url: "https://a.example/")
        let breaker = StoredBreaker(
            destination: destination, interface: "eth0", owner: 1000,
            openUntil: Instant(wall: now.wall, boot: now.boot + .seconds(50)),
            step: 3)
        let id = RequestID(rawValue: 1)
        var changes = [StoreStage.insert(1, try StoreStage.request()), StoreStage.insert(2, try StoreStage.request())]
        changes += [
            .openBreaker(breaker), .holdQueue(owner: nil, isHeld: true), .holdQueue(owner: 5, isHeld: true),
            .holdQueue(owner: 5, isHeld: false), .finish(RequestProgress(id: id), .dead(.authentication), nil, at: now),
            .purge([RequestID(rawValue: 2)]),
        ]
        #expect(try await stage.write(1, changes, to: store))
        store.close(patience: .seconds(5))
        let seen = stage.notices.values.count
        _ = try stage.open()
        let contents = try await stage.contents(after: seen)
        #expect(contents.breakers == [breaker])
        #expect(contents.heldQueues == [0])
        #expect(contents.requests.map(\.id) == [id])
        guard case .dead(.authentication, let time)? = contents.requests.first?.state else {
            throw StoreStage.Failure(text: "\(contents.requests)")
        }
        #expect(time.wall == now.wall)
        #expect(contents.nextID == 3)
    }

    @Test func `times of an earlier start of the machine are told by the wall clock`() async throws {
        let directory = try QueueDirectory(stage.path)
        let wall: Int64 = 1_795_000_000_000_000_000
        func moment(_ wallSeconds: Int64, _ bootSeconds: Int64) -> Instant {
            Instant(
                wall: Timestamp(nanosecondsSince1970: wall + wallSeconds * 1_000_000_000),
                boot: BootTime(nanoseconds: bootSeconds * 1_000_000_000))
        }
        let request = try StoreStage.request()
        let stored = StoredRequest(
            RequestID(rawValue: 1), request, created: moment(0, 5000), deadline: moment(100, 5100))
        do {
            let database = try QueueDatabase(
                directory, QueueStoreOptions(), QueueSchema(), at: moment(0, 5000), bootIdentity: "first")
            let transaction = StoreTransaction(
                number: 1, changes: [.insert(stored, request)], mayBeRefused: true)
            _ = try database.write([transaction]) { _, _ in }
            #expect(try database.contents(at: moment(9000, 5010)).requests[0].deadline.boot == moment(0, 5100).boot)
        }
        let database = try QueueDatabase(
            directory, QueueStoreOptions(), QueueSchema(), at: moment(30, 20), bootIdentity: "second")
        let found = try database.contents(at: moment(30, 20)).requests[0]
        #expect(found.deadline.boot == moment(0, 90).boot)
        #expect(found.created.boot == moment(0, -10).boot)
    }

    @Test func `directory and files are for their owner alone`() async throws {
        let store = try stage.open()
        _ = try await stage.contents()
        #expect(try await stage.write(1, [StoreStage.insert(1, try StoreStage.request())], to: store))
        func mode(_ path: String) -> UInt32 {
            var status = stat()
            return stat(path, &status) == 0 ? status.st_mode & 0o777 : 0
        }
        #expect(mode(stage.path) == 0o700)
        for name in ["queue.sqlite", "queue.sqlite-wal", "queue.lock"] {
            #expect(mode(stage.path + "/" + name) == 0o600)
        }
        store.close(patience: .seconds(5))
    }

    @Test func `spool files that no row names are removed, and others are`() async throws {
        let store = try stage.open()
        _ = try await stage.contents()
        let directory = stage.path + "/spool/"
        for name in ["kept", "lost"] { close(open(directory + name, O_CREAT | O_WRONLY, 0o600)) }
        let request = try StoreStage.request(.spooled(name: "kept", bytes: 0))
        #expect(try await stage.write(1, [StoreStage.insert(1, request)], to: store))
        store.close(patience: .seconds(5))
        let seen = stage.notices.values.count
        let again = try stage.open()
        _ = try await stage.contents(after: seen)
        #expect(access(directory + "kept", F_OK) == 0)
        #expect(access(directory + "lost", F_OK) != 0)
        #expect(try await stage.write(2, [.purge([RequestID(rawValue: 1)])], to: again))
        #expect(access(directory + "kept", F_OK) != 0)
    }

    @Test func `what has come of an answer stays while its request will still be sent, and is told of`() async throws {
        let store = try stage.open()
        _ = try await stage.contents()
        let names = [
            "answer-1", "answer-1.resume", "answer-1.resume.new", "answer-2", "answer-2.resume", "answer-3",
            "answer-4", "answer-4.resume", "answer-x", "answer-x.resume", "answer-5.resume",
        ]
        for name in names { close(open(stage.path + "/spool/" + name, O_CREAT | O_WRONLY, 0o600)) }
        let dead = StoreChange.finish(
            RequestProgress(id: RequestID(rawValue: 2)), .dead(.refused), nil, at: SystemClock.now)
        let inserts = try [Int64](arrayLiteral: 1, 2, 3, 5).map { StoreStage.insert($0, try StoreStage.request()) }
        #expect(try await stage.write(1, inserts + [dead], to: store))
        store.close(patience: .seconds(5))
        let seen = stage.notices.values.count
        let again = try stage.open()
        let contents = try await stage.contents(after: seen)
        // 2 is dead, 3 has no record, 4 is not there, and of 5 there is nothing.
        #expect(contents.begunAnswers == [RequestID(rawValue: 1)])
        let left = names.filter { access(stage.path + "/spool/" + $0, F_OK) == 0 }
        #expect(left == ["answer-1", "answer-1.resume"])
        again.close(patience: .seconds(5))
    }

    @Test func `answers beyond their number are forgotten, the dead are not`() async throws {
        var options = QueueStoreOptions()
        options.results.count = 10
        let store = try stage.open(options: options)
        _ = try await stage.contents()
        let now = SystemClock.now
        for id in Int64(1)...130 {
            let progress = RequestProgress(id: RequestID(rawValue: id))
            let end: RequestEnd = id <= 5 ? .dead(.refused) : .done
            let changes = [
                StoreStage.insert(id, try StoreStage.request()), StoreChange.finish(progress, end, nil, at: now),
            ]
            #expect(try await stage.write(UInt64(id), changes, to: store))
        }
        let found = EventLog<Bool>()
        for id in Int64(1)...130 { store.record(of: RequestID(rawValue: id)) { found.append((try? $0.get()) != nil) } }
        let there = try await found.wait(for: 130)
        #expect(there.prefix(5).allSatisfy { $0 })
        #expect(there.dropFirst(5).count { $0 } < 10 + 64)
    }

    // MARK: The disk

    @Test func `on a full disk new requests are refused, what has happened is kept, and it recovers`() async throws {
        let mountPoint = stage.temporary.path + "/small"
        mkdir(mountPoint, 0o700)
        guard mount("tmpfs", mountPoint, "tmpfs", 0, "size=3m") == 0 else {
            return print("skipped: a small file system cannot be mounted: \(String(cString: strerror(errno)))")
        }
        defer { umount2(mountPoint, CInt(MNT_DETACH)) }
        var options = QueueStoreOptions()
        options.retryInterval = .milliseconds(200)
        let store = try stage.open(at: mountPoint + "/queue", options: options)
        _ = try await stage.contents()
        let request = try StoreStage.request(.inline([UInt8](repeating: 7, count: 100_000)))
        var written: [Int64] = []
        var id: Int64 = 0
        while id < 100 {
            id += 1
            guard try await stage.write(UInt64(id), [StoreStage.insert(id, request)], to: store) else { break }
            written.append(id)
        }
        #expect(written.count > 3 && written.count < 30)
        #expect(stage.notices.values.contains { $0.isDegradation })
        // Ends and changes have space of their own.
        let end = StoreChange.finish(RequestProgress(id: RequestID(rawValue: 1)), .done, nil, at: SystemClock.now)
        #expect(try await stage.write(500, [end], mayBeRefused: false, to: store))
        #expect(try await !stage.write(501, [StoreStage.insert(501, request)], to: store))
        #expect(mount("tmpfs", mountPoint, "tmpfs", UInt(MS_REMOUNT), "size=30m") == 0)
        _ = try await stage.notices.wait { $0.contains { $0.isRecovery } }
        #expect(try await stage.write(502, [StoreStage.insert(502, request)], to: store))
        store.close(patience: .seconds(5))
        let seen = stage.notices.values.count
        let again = try stage.open(at: mountPoint + "/queue")
        let contents = try await stage.contents(after: seen)
        #expect(contents.requests.map(\.id.rawValue) == written.dropFirst() + [502])
        again.close(patience: .seconds(5))
    }

    @Test func `what does not even fit into the space for ends is not confirmed, and written when it can be`()
        async throws
    {
        let mountPoint = stage.temporary.path + "/small"
        mkdir(mountPoint, 0o700)
        guard mount("tmpfs", mountPoint, "tmpfs", 0, "size=4m") == 0 else {
            return print("skipped: a small file system cannot be mounted: \(String(cString: strerror(errno)))")
        }
        defer { umount2(mountPoint, CInt(MNT_DETACH)) }
        var options = QueueStoreOptions()
        options.retryInterval = .milliseconds(200)
        let store = try stage.open(at: mountPoint + "/queue", options: options)
        _ = try await stage.contents()
        #expect(try await stage.write(1, [StoreStage.insert(1, try StoreStage.request())], to: store))
        // More than the disk has, in an answer.
        let end = StoreStage.finish(1, .done, .inline([UInt8](repeating: 7, count: 6 << 20)))
        store.submit(StoreTransaction(number: 2, changes: [end], mayBeRefused: false))
        _ = try await stage.notices.wait { $0.contains { if case .postponed(2) = $0 { true } else { false } } }
        #expect(!stage.notices.values.contains { if case .committed(2, _) = $0 { true } else { false } })
        #expect(mount("tmpfs", mountPoint, "tmpfs", UInt(MS_REMOUNT), "size=60m") == 0)
        _ = try await stage.notices.wait { $0.contains { if case .committed(2, _) = $0 { true } else { false } } }
        store.close(patience: .seconds(5))
    }

    // MARK: Damage

    /// Leaves a file with so many requests.
    private func fill(_ count: Int64, truncatesLog: Bool) async throws {
        let seen = stage.notices.values.count
        let store = try stage.open()
        _ = try await stage.contents(after: seen)
        for id in 1...count {
            #expect(try await stage.write(UInt64(id), [StoreStage.insert(id, try StoreStage.request())], to: store))
        }
        if truncatesLog { store.close(patience: .seconds(5)) }
    }

    @Test(arguments: 0..<12)
    func `a damaged file is opened, or set aside and told`(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        try await fill(200, truncatesLog: true)
        var bytes = try StoreStage.read(stage.file)
        switch seed % 4 {
        case 0: bytes = Array(bytes.prefix(Int.random(in: 0..<bytes.count, using: &random)))
        case 1: for _ in 0..<200 { bytes[Int.random(in: bytes.indices, using: &random)] ^= 0x55 }
        case 2: bytes.replaceSubrange(0..<100, with: random.bytes(100))
        default: bytes = random.bytes(bytes.count)
        }
        try StoreStage.write(bytes, to: stage.file)
        let seen = stage.notices.values.count
        let store = try stage.open()
        let contents = try await stage.contents(after: seen)
        if contents.setAside != nil {
            #expect(contents.requests.isEmpty)
            #expect(contents.nextID > 1_000_000_000)
            #expect(access(contents.setAside ?? "", F_OK) == 0)
        }
        #expect(try await stage.write(9999, [StoreStage.insert(contents.nextID, try StoreStage.request())], to: store))
        store.close(patience: .seconds(5))
        let again = stage.notices.values.count
        let second = try stage.open()
        let kept = try await stage.contents(after: again)
        #expect(kept.setAside == nil)
        #expect(kept.requests.last?.id.rawValue == contents.nextID)
        second.close(patience: .seconds(5))
    }

    @Test func `a stop before the first request after a damaged file lets no number be given again`() async throws {
        try await fill(3, truncatesLog: true)
        try StoreStage.write([UInt8](repeating: 7, count: 5000), to: stage.file)
        for _ in 0..<2 {
            let seen = stage.notices.values.count
            let store = try stage.open()
            #expect(try await stage.contents(after: seen).nextID > 1_000_000_000)
            store.close(patience: .seconds(5))
        }
    }

    @Test(arguments: 0..<6)
    func `a damaged log loses its end and nothing else`(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        let copy = stage.temporary.path + "/copy"
        try await fill(50, truncatesLog: false)
        // The store still has it open: a copy is what a crash leaves.
        mkdir(copy, 0o700)
        for suffix in ["", "-wal"] {
            try StoreStage.write(try StoreStage.read(stage.file + suffix), to: copy + "/queue.sqlite" + suffix)
        }
        var log = try StoreStage.read(copy + "/queue.sqlite-wal")
        if seed % 2 == 0 {
            log = Array(log.prefix(Int.random(in: 0..<log.count, using: &random)))
        } else {
            log[Int.random(in: log.indices, using: &random)] ^= 0xff
        }
        try StoreStage.write(log, to: copy + "/queue.sqlite-wal")
        let seen = stage.notices.values.count
        let store = try stage.open(at: copy)
        let contents = try await stage.contents(after: seen)
        let ids = contents.requests.map(\.id.rawValue)
        #expect(ids == Array(Int64(1)..<Int64(ids.count + 1)))
        store.close(patience: .seconds(5))
    }

    @Test func `without its log the file has what was moved into it`() async throws {
        try await fill(20, truncatesLog: true)
        for suffix in ["-wal", "-shm"] { unlink(stage.file + suffix) }
        let seen = stage.notices.values.count
        let store = try stage.open()
        #expect(try await stage.contents(after: seen).requests.count == 20)
        store.close(patience: .seconds(5))
    }

    @Test func `the file may be copied while it is written`() async throws {
        try await fill(20, truncatesLog: false)
        let copy = stage.temporary.path + "/copy"
        mkdir(copy, 0o700)
        try StoreStage.write(try StoreStage.read(stage.file), to: copy + "/queue.sqlite")
        let seen = stage.notices.values.count
        let store = try stage.open(at: copy)
        #expect(try await stage.contents(after: seen).requests.count <= 20)
        store.close(patience: .seconds(5))
    }

    // MARK: One process, one version

    @Test func `a second process is refused, and told who has it`() async throws {
        let store = try stage.open()
        _ = try await stage.contents()
        let second = try BuiltProgram(named: "queuecrash").run([stage.path, "/dev/null", "never", "0"])
        #expect(second.status == 73)
        #expect(second.lines == ["failed \(stage.path) is used by another process (\(getpid()))"])
        store.close(patience: .seconds(5))
    }

    @Test func `an older file is brought up to date, and a newer one is refused untouched`() async throws {
        try await fill(3, truncatesLog: true)
        var newer = QueueSchema()
        newer.migrations.append("ALTER TABLE request ADD COLUMN note TEXT")
        let known = stage.notices
        let seen = known.values.count
        let upgraded = try QueueStore(try QueueDirectory(stage.path), newer) { known.append($0) }
        #expect(try await stage.contents(after: seen).requests.count == 3)
        upgraded.close(patience: .seconds(5))
        let before = try StoreStage.read(stage.file)
        let later = known.values.count
        _ = try stage.open()
        _ = try await known.wait { $0.count > later }
        guard case .failed(let error)? = known.values.last else { throw StoreStage.Failure(text: "\(known.values)") }
        #expect(error == .tooNew(version: newer.version, known: QueueSchema().version))
        #expect(error.description.contains("version \(newer.version)"))
        #expect(try StoreStage.read(stage.file) == before)
    }

    @Test func `a migration that fails changes nothing`() async throws {
        try await fill(3, truncatesLog: true)
        var broken = QueueSchema()
        broken.migrations.append("ALTER TABLE request ADD COLUMN note TEXT; DROP TABLE nothing_like_it")
        let seen = stage.notices.values.count
        _ = try QueueStore(try QueueDirectory(stage.path), broken) { [notices = stage.notices] in notices.append($0) }
        _ = try await stage.notices.wait { $0.count > seen }
        guard case .failed? = stage.notices.values.last else {
            throw StoreStage.Failure(text: "\(stage.notices.values)")
        }
        let again = stage.notices.values.count
        let store = try stage.open()
        #expect(try await stage.contents(after: again).requests.count == 3)
        store.close(patience: .seconds(5))
    }

    // MARK: -
}
