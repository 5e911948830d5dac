import Glibc
import ReachCore
import ReachLoop
import ReachQueue
import ReachQueueRuntime
import ReachTesting
import Testing

/// The driver with an executor that answers from a list: what clients see.
@Suite struct QueueDriverTests {
    /// Runs on the loop; ends it when all that was added is over.
    private final class Stage: QueueExecutor {
        let loop: EventLoop
        var driver: QueueDriver?
        var orders: [AttemptOrder] = []
        var requests: [QueuedRequest] = []
        var aborted: [RequestID] = []
        var events: [QueueEvent] = []
        var replies: [QueueReply] = []
        var notices = 0
        var answers: [Int] = []
        /// Whether there were unfinished requests, each time that it changed.
        var needs: [Bool] = []
        var onEvent: (QueueEvent) -> Void = { _ in }

        init() throws { loop = try EventLoop() }

        func make(_ policy: QueuePolicy = QueuePolicy()) -> QueueDriver {
            let driver = QueueDriver(
                loop: loop, policy: policy, executor: self, seed: 1,
                onEvent: { [weak self] event in
                    self?.events.append(event)
                    self?.onEvent(event)
                }, notify: { [weak self] _ in self?.notices += 1 })
            self.driver = driver
            return driver
        }

        func start(_ order: AttemptOrder, _ request: QueuedRequest) {
            orders.append(order)
            requests.append(request)
            driver?.send(.requestSent(order.id))
            guard !answers.isEmpty else { return }
            let status = answers.removeFirst()
            let result = RequestResult(status: status, body: .inline(Array("ok".utf8)))
            driver?.send(.ended(order.id, .answered(result, isAccepted: request.specification.accepts(status: status))))
        }

        func abort(_ id: RequestID) { aborted.append(id) }
        func checkPath(_ path: QueuePath) {
            driver?.send(.pathChecked(interfaceIndex: path.interfaceIndex, works: true))
        }
        func watch(_ destination: Destination, for owner: UInt32) {}
        func unwatch(_ destination: Destination) {}
        func followRoute(_ destination: Destination) { driver?.send(.routes([DestinationRoute(destination)])) }
        func unfollowRoute(_ destination: Destination) {}
        func lookUp(_ destination: Destination, for owner: UInt32) {}
        func update(hasRequests: Bool) { needs.append(hasRequests) }

        func run(within limit: Duration = .seconds(10)) {
            loop.schedule(at: SystemClock.boot + limit) { [weak self] in self?.loop.stop() }
            loop.run()
        }
    }

    private static var path: QueuePath {
        var path = QueuePath(interfaceIndex: 1, interface: "lo", traits: PathTraits(linkClass: .loopback))
        path.sources = [IPAddress(ipv4: 0x7f00_0001)]
        return path
    }

    @Test(arguments: [true, false])
    func `a request is sent with its key, retried with the same, and its answer kept`(inMemory: Bool) throws {
        let temporary = try TemporaryDirectory()
        let stage = try Stage()
        let driver = stage.make()
        stage.answers = [503, 200]
        if inMemory { driver.openInMemory() } else { try driver.open(try QueueDirectory(temporary.path + "/queue")) }
        driver.send(.paths(PathSet([Self.path], epoch: 1)))
        let request = try QueuedRequest(
            RequestSpecification(method: "POST", url: "http://a.example/", body: .inline([1, 2, 3])))
        try driver.add(request, makeKey: { "made" }) { stage.replies.append($0) }
        stage.onEvent = { if $0.kind == .done { stage.loop.stop() } }
        stage.run()
        #expect(stage.replies == [.added(RequestID(rawValue: 1))])
        #expect(stage.requests.count == 2 && stage.requests[0] == stage.requests[1])
        #expect(
            stage.requests[0].specification.headers.map(\.value) == ["made"]
                && stage.requests[0].specification.body == .inline([1, 2, 3]))
        #expect(stage.orders.map(\.number) == [1, 2])
        #expect(stage.events.map(\.kind) == [.queued, .started, .retrying, .started, .done])
        #expect(stage.needs == [true, false])
        var report: RequestReport?
        driver.record(of: RequestID(rawValue: 1)) {
            report = try? $0.get()
            stage.loop.stop()
        }
        stage.run()
        #expect(driver.close(patience: .seconds(5)))
        #expect(report?.end == .done)
        #expect(report?.result?.body == .inline(Array("ok".utf8)))
    }

    @Test func `a mistake is told at once, and nothing is queued`() throws {
        let stage = try Stage()
        let driver = stage.make()
        driver.openInMemory()
        var request = try QueuedRequest(RequestSpecification(url: "http://a.example/"))
        request.specification.method = "G ET"
        #expect(throws: RequestValidationError.self) {
            try driver.add(request, makeKey: { "" }) { _ in stage.replies.append(.done) }
        }
        #expect(stage.replies.isEmpty)
    }

    @Test func `while nothing can be sent the loop sleeps, and cancelling ends what runs`() throws {
        let stage = try Stage()
        let driver = stage.make()
        driver.openInMemory()
        driver.send(.paths(PathSet([Self.path], epoch: 1)))
        try driver.add(try QueuedRequest(RequestSpecification(url: "http://a.example/")), makeKey: { "" }) { reply in
            stage.replies.append(reply)
        }
        stage.onEvent = { event in
            guard let id = event.request else { return }
            if event.kind == .started { driver.ask({ .cancel(id, .root, $0) }) { stage.replies.append($0) } }
            if event.kind == .cancelled { stage.loop.stop() }
        }
        stage.run()
        #expect(stage.events.map(\.kind) == [.queued, .started, .cancelled])
        #expect(stage.replies == [.added(RequestID(rawValue: 1)), .done])
        #expect(stage.aborted.isEmpty || stage.aborted == [RequestID(rawValue: 1)])
    }

    private enum EarlyInput: CaseIterable { case add, paths, hold, release }

    /// Orders of calls on a queue that is not open yet, as a program makes them on a fresh session.
    @Test(arguments: 0..<60 as Range<UInt64>)
    func `no order of early inputs lets a request pass a hold`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let inputs = (0..<8).map { _ in EarlyInput.allCases.randomElement(using: &random) ?? .add } + [.add, .paths]
        let stage = try Stage()
        let driver = stage.make()
        driver.openInMemory()
        var isHeld = false
        for input in inputs {
            switch input {
            case .add:
                try driver.add(try QueuedRequest(RequestSpecification(url: "http://a.example/")), makeKey: { "" }) {
                    _ in
                }
            case .paths: driver.send(.paths(PathSet([Self.path], epoch: 1)))
            case .hold:
                isHeld = true
                driver.ask({ .holdQueue(.root, $0) }) { _ in }
            case .release:
                isHeld = false
                driver.ask({ .releaseQueue(.root, $0) }) { _ in }
            }
        }
        stage.onEvent = { if $0.kind == .started { stage.loop.stop() } }
        stage.run(within: isHeld ? .milliseconds(50) : .seconds(10))
        #expect(stage.orders.isEmpty == isHeld, "\(inputs)")
    }
}
