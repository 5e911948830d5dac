import Glibc
import ReachCore
import ReachLoop
import ReachQueue
import ReachQueueRuntime
import ReachTesting

/// A store in a directory of the test's own.
struct StoreStage {
    let temporary: TemporaryDirectory
    let notices = EventLog<QueueStore.Notice>()

    init() throws { temporary = try TemporaryDirectory() }

    var path: String { temporary.path + "/queue" }
    var file: String { path + "/queue.sqlite" }

    /// Opens a store; `at` is another directory than the stage's.
    func open(at path: String? = nil, options: QueueStoreOptions = QueueStoreOptions()) throws -> QueueStore {
        try QueueStore(try QueueDirectory(path ?? self.path), options) { [notices] in notices.append($0) }
    }

    /// What the store held when it was opened last.
    func contents(after count: Int = 0) async throws -> StoreContents {
        let notice = try await notices.wait(within: .seconds(20)) { notices in
            notices.dropFirst(count).contains { $0.isOpening }
        }.dropFirst(count).first { $0.isOpening }
        guard case .opened(let contents)? = notice else { throw Failure(text: "\(notices.values)") }
        return contents
    }

    /// What it held as it was reported first, and with all that followed in portions.
    func wholeContents(after count: Int) async throws -> (first: StoreContents, whole: StoreContents) {
        let first = try await contents(after: count)
        guard first.expected != nil else { return (first, first) }
        let all = try await notices.wait(within: .seconds(20)) { notices in
            notices.dropFirst(count).contains { $0.isWhole }
        }.dropFirst(count)
        var whole = first
        for notice in all {
            switch notice {
            case .restored(let requests): whole.requests += requests
            case .allRestored(let rows):
                whole.rowsSetAside.count += rows.count
                whole.rowsSetAside.examples += rows.examples
            default: break
            }
        }
        return (first, whole)
    }

    static func touch(_ path: String) throws { try write([], to: path) }

    static func read(_ path: String) throws -> [UInt8] {
        let file = Glibc.open(path, O_RDONLY)
        guard file >= 0 else { throw Failure(text: path) }
        defer { close(file) }
        var status = stat()
        fstat(file, &status)
        var bytes = [UInt8](repeating: 0, count: Int(status.st_size))
        guard Glibc.read(file, &bytes, bytes.count) == bytes.count else { throw Failure(text: path) }
        return bytes
    }

    static func write(_ bytes: [UInt8], to path: String) throws {
        let file = Glibc.open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        defer { close(file) }
        guard Glibc.write(file, bytes, bytes.count) == bytes.count else { throw Failure(text: path) }
    }

    struct Failure: Error { let text: String }

    /// - Returns: Whether it was committed.
    func write(
        _ number: UInt64, _ changes: [StoreChange], mayBeRefused: Bool = true,
        to store: QueueStore
    ) async throws -> Bool {
        store.submit(
            StoreTransaction(number: number, changes: changes, mayBeRefused: mayBeRefused))
        return try await notices.wait(within: .seconds(20)) { notices in
            notices.contains { $0.number == number }
        }.contains { if case .committed(number, _) = $0 { true } else { false } }
    }

    static func request(_ body: RequestBody = .none) throws -> QueuedRequest {
        var request = try QueuedRequest(
            RequestSpecification(
                method: "PUT", url: "https://a.example/x?y=1",
                headers: [HeaderField("A", "b: c"), HeaderField("D", "")],
                body: body, condition: NetworkCondition("unmetered, wifi")), owner: 1000)
        request.specification.idempotency = .key("k")
        request.specification.orderKey = "o"
        request.specification.priority = .high
        request.specification.timeToLive = .seconds(100)
        request.specification.acceptedStatuses = [200...299, 404...404]
        return request
    }

    static func insert(_ id: Int64, _ request: QueuedRequest) -> StoreChange {
        let now = SystemClock.now
        let end = now.boot + (request.specification.timeToLive ?? .seconds(1000))
        let wall = Timestamp(nanosecondsSince1970: now.wall.nanosecondsSince1970 + (end - now.boot).nanoseconds)
        return .insert(
            StoredRequest(RequestID(rawValue: id), request, created: now, deadline: Instant(wall: wall, boot: end)),
            request)
    }

    /// An end of a request.
    static func finish(_ id: Int64, _ end: RequestEnd = .done, _ body: RequestBody = .none) -> StoreChange {
        .finish(
            RequestProgress(id: RequestID(rawValue: id)), end, RequestResult(status: 200, body: body),
            at: SystemClock.now)
    }

    /// Which of these requests the store still has.
    func kept(_ ids: ClosedRange<Int64>, in store: QueueStore) async throws -> [Int64] {
        let found = EventLog<(Int64, Bool)>()
        for id in ids { store.record(of: RequestID(rawValue: id)) { found.append((id, (try? $0.get()) != nil)) } }
        return try await found.wait(for: ids.count).filter(\.1).map(\.0)
    }
}

extension QueueStore.Notice {
    var isOpening: Bool {
        switch self {
        case .opened, .failed: true
        default: false
        }
    }

    var number: UInt64? {
        switch self {
        case .committed(let number, _), .notCommitted(let number, _): number
        default: nil
        }
    }

    /// Whether all requests are restored.
    var isWhole: Bool { if case .allRestored = self { true } else { false } }

    /// Where a damaged file was put.
    var asidePath: String? {
        switch self {
        case .opened(let contents): contents.setAside
        case .damaged(let path): path
        default: nil
        }
    }

    var isDegradation: Bool { if case .degraded(.some) = self { true } else { false } }

    var isRecovery: Bool { if case .degraded(nil) = self { true } else { false } }
}

extension QueueStore.Notice {
    func isPostponement(of number: UInt64) -> Bool { if case .postponed(number) = self { true } else { false } }
}
