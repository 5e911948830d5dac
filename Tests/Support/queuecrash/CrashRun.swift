import Glibc
import ReachCore
import ReachLoop
import ReachQueue
import ReachQueueRuntime

/// A queue whose server is a file: each delivery is a line in it. It kills its own process at a given point.
final class CrashRun: QueueExecutor {
    /// The points at which the process can be killed.
    enum Point: String {
        case never
        case beforeCommit = "before-commit"
        case afterEnqueueCommit = "after-enqueue-commit"
        case afterLease = "after-lease"
        case afterConnect = "after-connect"
        case afterRequestSent = "after-request-sent"
        case afterResponse = "after-response"
        case beforeResultCommit = "before-result-commit"
        case afterResultCommit = "after-result-commit"
        case duringCheckpoint = "during-checkpoint"
    }

    private let loop: EventLoop
    private let point: Point
    private let journal: CInt
    private let count: Int
    var checkpointPages: Int?
    private var driver: QueueDriver?
    private var remaining = 0

    init(journal path: String, point: Point, count: Int) throws {
        loop = try EventLoop()
        self.point = point
        self.count = count
        journal = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
    }

    func run(_ directory: QueueDirectory) throws {
        var policy = QueuePolicy()
        policy.limits.requests = 1_000_000
        policy.limits.bytes = 1 << 40
        let driver = QueueDriver(
            loop: loop, policy: policy, executor: self, seed: UInt64(getpid()),
            onEvent: { [weak self] in self?.handle($0) }, notify: { [weak self] in self?.handle($0) })
        self.driver = driver
        var options = QueueStoreOptions(policy)
        options.retryInterval = .milliseconds(200)
        if point == .duringCheckpoint { checkpointPages = 10 }
        if let checkpointPages {
            options.checkpointPages = checkpointPages
            // So that the change log goes into the tables that often, too.
            options.changeLogBytes = 200 * checkpointPages
        }
        try driver.open(directory, options) { [point] in Self.observe(point, $0, $1) }
        var path = QueuePath(interfaceIndex: 1, interface: "lo", traits: PathTraits(linkClass: .loopback))
        path.sources = [IPAddress(ipv4: 0x7f00_0001)]
        driver.send(.paths(PathSet([path], epoch: 1)))
        loop.run()
        driver.close(patience: .seconds(10))
    }

    private func handle(_ notice: QueueDriver.Notice) {
        switch notice {
        case .opened(let kept, let aside):
            say("opened \(kept)\(aside == nil ? "" : " reset")")
            remaining = kept + count
            for _ in 0..<count { add() }
            stopWhenDone()
        case .setAside(let rows): say("set aside \(rows.count)")
        case .lost(let sentence): say("lost \(sentence)")
        case .failed(let error):
            say("failed \(error)")
            loop.stop()
        case .degraded(let reason): say("degraded \(reason ?? "no longer")")
        }
    }

    private func add() {
        guard let driver,
            let request = try? QueuedRequest(RequestSpecification(method: "POST", url: "http://127.0.0.1/"), owner: 0)
        else {
            return
        }
        try? driver.add(request, makeKey: { "key-\(SystemClock.boot.nanoseconds)-\(Int.random(in: 0..<Int.max))" }) {
            [weak self] reply in
            guard let self else { return }
            if case .added(let id) = reply { return say("added \(id)") }
            say("refused")
            remaining -= 1
            stopWhenDone()
        }
    }

    private func handle(_ event: QueueEvent) {
        guard let id = event.request, [.done, .dead, .cancelled].contains(event.kind) else { return }
        say("\(event.kind) \(id)")
        remaining -= 1
        stopWhenDone()
    }

    private func stopWhenDone() { if remaining <= 0 { loop.stop() } }

    private func say(_ line: String) {
        let bytes = Array("\(line)\n".utf8)
        write(STDOUT_FILENO, bytes, bytes.count)
    }

    // MARK: - Attempts

    func start(_ order: AttemptOrder, _ request: QueuedRequest) {
        crash(at: .afterConnect)
        driver?.send(.requestSent(order.id))
        var key = "none"
        if case .key(let text) = request.specification.idempotency { key = text }
        let line = Array("\(order.id) \(key)\n".utf8)
        write(journal, line, line.count)
        crash(at: .afterRequestSent)
        loop.afterEvents { [weak self] in
            self?.crash(at: .afterResponse)
            self?.driver?.send(.ended(order.id, .answered(RequestResult(status: 200), isAccepted: true)))
        }
    }

    func abort(_ id: RequestID) {}
    func followRoute(_ destination: Destination) { driver?.send(.routes([DestinationRoute(destination)])) }
    func unfollowRoute(_ destination: Destination) {}
    func lookUp(_ destination: Destination, for owner: UInt32) {}
    func checkPath(_ path: QueuePath) { driver?.send(.pathChecked(interfaceIndex: 1, works: true)) }
    func watch(_ destination: Destination, for owner: UInt32) {}
    func unwatch(_ destination: Destination) {}

    private func crash(at place: Point) { if place == point { kill(getpid(), SIGKILL) } }

    private static func observe(_ wanted: Point, _ point: StorePoint, _ transactions: [StoreTransaction]) {
        let changes = transactions.flatMap(\.changes)
        func has(_ test: (StoreChange) -> Bool) -> Bool { changes.contains(where: test) }
        let inserts = has { if case .insert = $0 { true } else { false } }
        let leases = has { if case .lease = $0 { true } else { false } }
        let ends = has { if case .finish = $0 { true } else { false } }
        switch (wanted, point) {
        case (.beforeCommit, .beforeCommit) where inserts, (.afterEnqueueCommit, .afterCommit) where inserts,
            (.afterLease, .afterCommit) where leases, (.beforeResultCommit, .beforeCommit) where ends,
            (.afterResultCommit, .afterCommit) where ends:
            kill(getpid(), SIGKILL)
        case (.duringCheckpoint, .beforeCheckpoint):
            // A separate thread, so that the process dies while pages are being copied.
            BackgroundThread.start(named: "killer") {
                usleep(300)
                kill(getpid(), SIGKILL)
            }
        default: break
        }
    }
}
