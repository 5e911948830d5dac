import Glibc
import ReachCore
import ReachLoop
import ReachQueue
import ReachTesting
import Testing

@testable import ReachQueueRuntime

/// A file with many requests, which are restored in portions.
@Suite struct RestoringTests {
    private let stage: StoreStage

    init() throws { stage = try StoreStage() }

    private static func options(portion: Int, checkedAtOnce: Int64 = 1 << 30) -> QueueStoreOptions {
        var options = QueueStoreOptions()
        options.portion = portion
        options.checkedAtOnce = checkedAtOnce
        return options
    }

    /// Stores requests of two owners in every state.
    private func fill(_ count: Int64, body: RequestBody = .none) async throws {
        let store = try stage.open()
        _ = try await stage.contents()
        for id in 1...count {
            var request = try StoreStage.request(body)
            request.owner = id % 3 == 0 ? 1001 : 1000
            if id % 4 != 0 { request.specification.orderKey = nil }
            var changes = [StoreStage.insert(id, request)]
            switch id % 7 {
            case 1:
                changes.append(
                    .lease(
                        RequestID(rawValue: id), attempt: 1, interface: "eth0", isRepeatable: true, at: SystemClock.now)
                )
            case 2: changes.append(StoreStage.finish(id, .dead(.refused)))
            case 3: changes.append(StoreStage.finish(id))
            default: break
            }
            #expect(try await stage.write(UInt64(id), changes, to: store))
        }
        store.close(patience: .seconds(5))
    }

    private func change(_ sql: String) throws {
        try SQLiteDatabase.open(stage.file).execute(sql)
    }

    @Test(arguments: [1, 2, 3, 10, 49])
    func `portions bring what one reading brings`(portion: Int) async throws {
        try await fill(50)
        try change(
            "UPDATE request SET attempts = -1 WHERE id IN (1, 5, 50); UPDATE request SET owner = 'x' WHERE id = 12")
        try ChildProcess.run(["cp", "-r", stage.path, stage.path + "2"])
        let seen = stage.notices.values.count
        let store = try stage.open(options: Self.options(portion: portion))
        let (opening, whole) = try await stage.wholeContents(after: seen)
        #expect(opening.requests.isEmpty && whole.nextID == 51)
        store.close(patience: .seconds(5))
        let later = stage.notices.values.count
        let other = try stage.open(at: stage.path + "2")
        let atOnce = try await stage.contents(after: later)
        #expect(whole.requests.map(\.id) == atOnce.requests.map(\.id))
        #expect(whole.requests.map(\.state.isDead) == atOnce.requests.map(\.state.isDead))
        #expect(whole.requests.map(\.progress) == atOnce.requests.map(\.progress))
        #expect(whole.requests.map(\.orderKey) == atOnce.requests.map(\.orderKey))
        #expect(whole.rowsSetAside == atOnce.rowsSetAside && whole.rowsSetAside.count == 4)
        other.close(patience: .seconds(5))
        // Those with a count that means nothing are expected, and do not come.
        let open = atOnce.requests.filter { !$0.state.isDead }
        let expected = try #require(opening.expected)
        let first = open.filter { $0.owner == 1000 }, second = open.filter { $0.owner == 1001 }
        let secondBytes = second.map(\.bytesHeld).reduce(0, +)
        #expect(expected.shares[1000]?.count == first.count + 3)
        #expect(expected.shares[1001]?.count == second.count)
        #expect(expected.shares[1001]?.bytes == secondBytes)
        #expect(expected.total == 50)
    }

    @Test func `what is written between two portions is kept, and a close in between loses nothing`() async throws {
        try await fill(40)
        for round in Int64(0)..<5 {
            let seen = stage.notices.values.count
            let store = try stage.open(options: Self.options(portion: 1))
            _ = try await stage.contents(after: seen)
            let number = UInt64(1000 + round)
            #expect(
                try await stage.write(number, [StoreStage.insert(41 + round, try StoreStage.request())], to: store))
            store.close(patience: .seconds(5))
        }
        let seen = stage.notices.values.count
        let store = try stage.open(options: Self.options(portion: 7))
        let (_, whole) = try await stage.wholeContents(after: seen)
        // Of each seven, one was done.
        let kept = (Int64(1)...45).filter { id in id > 40 || id % 7 != 3 }
        #expect(whole.requests.map(\.id.rawValue) == kept)
        store.close(patience: .seconds(5))
    }

    @Test func `files of bodies that no row names go when all rows are read, and those of attempts at once`()
        async throws
    {
        try await fill(20)
        try change(
            "UPDATE request SET body_kind = 3, body_path = 'body-kept' WHERE id = 4; UPDATE request SET state = 1 WHERE 0"
        )
        for name in [
            "body-kept", "body-stray", "answer-4", "answer-4.resume", "answer-5", "answer-2", "answer-2.resume",
        ] {
            try StoreStage.touch(stage.path + "/spool/" + name)
        }
        let seen = stage.notices.values.count
        let store = try stage.open(options: Self.options(portion: 3))
        let (first, _) = try await stage.wholeContents(after: seen)
        // Number 2 is dead, and of number 5 no record shows how far its answer is.
        #expect(first.begunAnswers == [RequestID(rawValue: 4)])
        #expect(
            try DirectoryNames.read(stage.path + "/spool").sorted() == ["answer-4", "answer-4.resume", "body-kept"])
        store.close(patience: .seconds(5))
    }

    @Test(arguments: 0..<8)
    func `a long file that is damaged is set aside while it is in use, before all is restored`(seed: UInt64)
        async throws
    {
        var random = SeededGenerator(seed: seed)
        try await fill(60, body: .inline([UInt8](repeating: 9, count: 3000)))
        var bytes = try StoreStage.read(stage.file)
        for _ in 0..<300 { bytes[Int.random(in: 4096..<bytes.count, using: &random)] ^= 0x55 }
        try StoreStage.write(bytes, to: stage.file)
        let seen = stage.notices.values.count
        let store = try stage.open(options: Self.options(portion: 5, checkedAtOnce: 0))
        let notices = try await stage.notices.wait(within: .seconds(20)) { notices in
            notices.dropFirst(seen).contains { $0.isWhole || $0.asidePath != nil }
        }.dropFirst(seen)
        let path = try #require(notices.lazy.compactMap(\.asidePath).first, "\(notices.count) notices")
        #expect(access(path, F_OK) == 0)
        #expect(!notices.dropLast().contains { $0.isWhole })
        store.close(patience: .seconds(5))
    }
}

/// The driver while the requests of a long file are restored: what clients see.
@Suite struct RestoringDriverTests {
    /// Sends nothing, and notes what it is to send.
    private final class Executor: QueueExecutor {
        var started: [RequestID] = []
        func start(_ order: AttemptOrder, _ request: QueuedRequest) { started.append(order.id) }
        func abort(_ id: RequestID) {}
        func checkPath(_ path: QueuePath) {}
        func watch(_ destination: Destination, for owner: UInt32) {}
        func unwatch(_ destination: Destination) {}
        func followRoute(_ destination: Destination) {}
        func unfollowRoute(_ destination: Destination) {}
        func lookUp(_ destination: Destination, for owner: UInt32) {}
    }

    private static func path() -> QueuePath {
        var path = QueuePath(interfaceIndex: 1, interface: "lo", traits: PathTraits(linkClass: .loopback))
        path.sources = [IPAddress(ipv4: 0x7f00_0001)]
        return path
    }

    private static func fill(_ path: String, _ count: Int64) throws {
        let done = EventLog<Bool>()
        let store = try QueueStore(try QueueDirectory(path)) {
            if case .committed(UInt64(count), _) = $0 { done.append(true) }
        }
        for id in 1...count {
            let request = try QueuedRequest(
                RequestSpecification(url: "http://127.0.0.1/", condition: NetworkCondition("reachable")), owner: 1000)
            store.submit(
                StoreTransaction(number: UInt64(id), changes: [StoreStage.insert(id, request)], mayBeRefused: true))
        }
        #expect(store.close(patience: .seconds(20)))
        #expect(done.values.count == 1)
    }

    @Test func `clients get answers while requests are restored, changes wait, and nothing is sent before`() throws {
        let temporary = try TemporaryDirectory()
        let path = temporary.path + "/queue"
        try Self.fill(path, 300)
        let loop = try EventLoop()
        let executor = Executor()
        var seen: [String] = []
        var driver: QueueDriver?
        let made = QueueDriver(loop: loop, executor: executor, seed: 1, onEvent: { _ in }) { notice in
            guard case .opened(let count, _) = notice, let driver else { return }
            seen.append(
                "open \(count), \(driver.scheduler.count(of: .root)), \(driver.scheduler.count(of: .init(user: 1000)))")
            driver.record(of: RequestID(rawValue: 1)) { found in
                seen.append(
                    "1 \((try? found.get())?.id == RequestID(rawValue: 1)) \(driver.explain(RequestID(rawValue: 1)) != nil)"
                )
            }
            driver.records(RecordQuery(after: 298, limit: 5)) { found in
                seen.append("last \((try? found.get())?.count ?? 0) \(driver.explain(RequestID(rawValue: 300)) != nil)")
            }
            driver.ask({ .cancel(RequestID(rawValue: 299), .root, $0) }) { reply in
                seen.append("\(reply) \(driver.scheduler.count(of: .root))")
                loop.stop()
            }
            let request = try? QueuedRequest(RequestSpecification(url: "http://127.0.0.1/new"), owner: 1001)
            guard let request else { return }
            try? driver.add(request, makeKey: { "k" }) { reply in
                seen.append("\(reply) \(executor.started.count) \(driver.scheduler.count(of: .init(user: 1001)))")
            }
        }
        driver = made
        var options = QueueStoreOptions()
        options.portion = 1
        made.send(.paths(PathSet([Self.path()], epoch: 1)))
        try made.open(try QueueDirectory(path), options)
        loop.schedule(at: SystemClock.boot + .seconds(20)) { loop.stop() }
        loop.run()
        #expect(seen.first == "open 300, 300, 300")
        #expect(seen.contains("1 true true"))
        // The new one may be among the last.
        #expect(seen.contains { ["last 2 true", "last 3 true"].contains($0) })
        #expect(seen.contains("added(301) 0 1"))
        #expect(seen.last == "done 300")
        made.close(patience: .seconds(5))
        driver = nil
    }

    @Test func `after damage to a long file the queue starts empty, with numbers that no request had`() throws {
        let temporary = try TemporaryDirectory()
        let path = temporary.path + "/queue"
        try Self.fill(path, 500)
        var bytes = try StoreStage.read(path + "/queue.sqlite")
        for place in stride(from: 8192, to: bytes.count, by: 97) { bytes[place] ^= 0x55 }
        try StoreStage.write(bytes, to: path + "/queue.sqlite")
        let loop = try EventLoop()
        let executor = Executor()
        var opened: [(count: Int, isAside: Bool)] = []
        var replies: [QueueReply] = []
        var driver: QueueDriver?
        let made = QueueDriver(loop: loop, executor: executor, seed: 1, onEvent: { _ in }) { notice in
            guard case .opened(let count, let aside) = notice else { return }
            opened.append((count, aside != nil))
            guard aside != nil, let driver,
                let request = try? QueuedRequest(RequestSpecification(url: "http://127.0.0.1/new"), owner: 1001)
            else { return }
            try? driver.add(request, makeKey: { "k" }) { reply in
                replies.append(reply)
                loop.stop()
            }
        }
        driver = made
        var options = QueueStoreOptions()
        options.portion = 10
        options.checkedAtOnce = 0
        try made.open(try QueueDirectory(path), options)
        loop.schedule(at: SystemClock.boot + .seconds(20)) { loop.stop() }
        loop.run()
        #expect(opened.last.map { $0 == (0, true) } == true)
        guard case .added(let id)? = replies.first else {
            Issue.record("\(replies) \(opened)")
            return
        }
        #expect(id.rawValue > 1_000_000_000)
        made.close(patience: .seconds(5))
        driver = nil
    }
}

extension StoredRequest.State {
    fileprivate var isDead: Bool { if case .dead = self { true } else { false } }
}
