import Glibc
import ReachCore
import ReachLoop
import ReachQueue
import ReachQueueRuntime
import Synchronization

/// Simulates days of a queue in seconds: the scheduler's clock is advanced, and the store writes to disk.
final class Soak {
    /// Passes the store's notices to the one thread that does everything else.
    private final class Inbox: Sendable {
        private let notices = Mutex<[QueueStore.Notice]>([])
        private let wakeUp: WorkerSignal

        init() throws { wakeUp = try WorkerSignal() }

        func put(_ notice: QueueStore.Notice) {
            notices.withLock { $0.append(notice) }
            wakeUp.signal()
        }

        func wait() -> [QueueStore.Notice] {
            wakeUp.wait()
            return notices.withLock { notices in
                defer { notices = [] }
                return notices
            }
        }
    }

    private let directory: QueueDirectory
    private let inbox: Inbox
    private let store: QueueStore
    private var scheduler: QueueScheduler
    private var now: Instant
    private var unwritten = 0
    private var orders: [AttemptOrder] = []
    private var requests: [RequestID: QueuedRequest] = [:]
    private var added = 0
    /// The longest that the log was since the last line, in bytes.
    private var longestLog = 0

    init(_ directory: QueueDirectory) throws {
        self.directory = directory
        now = SystemClock.now
        inbox = try Inbox()
        var policy = QueuePolicy()
        policy.dead.lifetime = .seconds(2 * 86_400)
        store = try QueueStore(directory, QueueStoreOptions(policy)) { [inbox] in inbox.put($0) }
        scheduler = QueueScheduler(policy, seed: 1, at: now)
    }

    /// Prints the sizes of the files, the number of requests kept, and the process's resources after each day.
    func run(days: Int) throws {
        while !inbox.wait().contains(where: { if case .opened = $0 { true } else { false } }) {}
        var path = QueuePath(interfaceIndex: 1, interface: "lo", traits: PathTraits(linkClass: .loopback))
        path.sources = [IPAddress(ipv4: 0x7f00_0001)]
        send(.paths(PathSet([path], epoch: 1)))
        for day in 1...days {
            longestLog = 0
            for _ in 0..<48 {
                passHalfAnHour()
                longestLog = max(longestLog, Self.size(directory.databasePath + "-wal"))
            }
            print("day \(day) \(try measures())")
        }
        send(.stop)
        store.close(patience: .seconds(10))
    }

    private func passHalfAnHour() {
        let end = now.boot + .seconds(1800)
        for place in 0..<15 { add(place) }
        settle()
        while let deadline = scheduler.deadline, deadline < end {
            advance(to: max(deadline, now.boot))
            send(.wake)
            settle()
        }
        advance(to: end)
        send(.wake)
        settle()
    }

    private func advance(to time: BootTime) {
        let step = (time - now.boot).nanoseconds
        now = Instant(
            wall: Timestamp(nanosecondsSince1970: now.wall.nanosecondsSince1970 + step), boot: time)
    }

    /// Adds a request. Some are answered at once, some later, some never, and some never start.
    private func add(_ place: Int) {
        added += 1
        let kind = place < 9 ? "well" : place < 11 ? "busy" : place < 13 ? "gone" : place < 14 ? "newest" : "waits"
        guard
            var request = try? QueuedRequest(
                RequestSpecification(
                    method: "PUT", url: "http://127.0.0.1/\(kind)/\(added)",
                    body: .inline([UInt8](repeating: 7, count: 200))))
        else { return }
        if kind == "newest" { request.specification.uniqueness = .coalesce(key: "state") }
        if kind == "waits", let condition = try? NetworkCondition("interface=nosuch0") {
            request.specification.condition = condition
            request.specification.timeToLive = .seconds(6 * 3600)
        }
        send(.add(request, UInt64(added)))
    }

    // MARK: - The scheduler, its store, and a simulated server

    private func send(_ command: QueueInput) {
        for action in scheduler.handle(command, at: now) {
            switch action {
            case .store(let transaction):
                unwritten += 1
                store.submit(transaction)
            case .start(let order): orders.append(order)
            case .checkPath(let path): send(.pathChecked(interfaceIndex: path.interfaceIndex, works: true))
            case .followRoute(let destination): send(.routes([DestinationRoute(destination)]))
            case .abort, .watch, .unwatch, .unfollowRoute, .lookUp, .reply, .publish, .prepare, .abandon: break
            }
        }
    }

    /// Runs until nothing is left to write or to answer.
    private func settle() {
        while unwritten > 0 || !orders.isEmpty {
            let started = orders
            orders = []
            for order in started {
                send(.requestSent(order.id))
                send(.ended(order.id, answer(to: order)))
            }
            guard unwritten > 0 else { continue }
            for notice in inbox.wait() { handle(notice) }
        }
    }

    private func handle(_ notice: QueueStore.Notice) {
        switch notice {
        case .committed(let number, let leased):
            unwritten -= 1
            for (id, request) in leased { requests[id] = request }
            send(.committed(number))
        case .notCommitted(let number, let reason):
            unwritten -= 1
            print("not committed: \(reason)")
            send(.notCommitted(number))
        case .postponed(let number): send(.postponed(number))
        case .degraded(let reason): print("degraded \(reason ?? "no longer")")
        case .lost(let sentence): print(sentence)
        case .opened, .restored, .allRestored, .damaged, .failed: break
        }
    }

    private func answer(to order: AttemptOrder) -> AttemptEnd {
        let url = requests.removeValue(forKey: order.id)?.specification.url ?? ""
        let status = url.contains("/gone/") ? 404 : url.contains("/busy/") && order.number < 3 ? 503 : 200
        return .answered(
            RequestResult(status: status, body: .inline([UInt8](repeating: 8, count: 300))), isAccepted: status == 200)
    }

    // MARK: - Measurements

    /// Passes a number from the store's thread to the caller.
    private final class Count: Sendable {
        private let value = Mutex(0)
        private let wakeUp: WorkerSignal

        init() throws { wakeUp = try WorkerSignal() }

        func put(_ number: Int) {
            value.withLock { $0 = number }
            wakeUp.signal()
        }

        func wait() -> Int {
            wakeUp.wait()
            return value.withLock(\.self)
        }
    }

    private func measures() throws -> String {
        let count = try Count()
        store.records(RecordQuery(limit: 1_000_000, isOver: true)) { count.put((try? $0.get().count) ?? 0) }
        let over = count.wait()
        return """
            bytes \(Self.size(directory.databasePath)) log \(longestLog) over \(over) alive \(scheduler.count) descriptors \(Self.entries("/proc/self/fd")) \
            threads \(Self.entries("/proc/self/task"))
            """
    }

    private static func size(_ path: String) -> Int {
        var status = stat()
        return stat(path, &status) == 0 ? Int(status.st_size) : 0
    }

    private static func entries(_ path: String) -> Int {
        guard let directory = opendir(path) else { return 0 }
        defer { closedir(directory) }
        var count = 0
        while readdir(directory) != nil { count += 1 }
        return count
    }
}
