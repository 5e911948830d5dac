import Glibc
import ReachCore
import ReachLoop
import ReachQueue
import ReachQueueStore
import ReachQueueTransfer
import ReachTesting
import ReachTransfer
import Synchronization
import Testing

/// The whole way: scheduler, store, libcurl and a server on loopback.
@Suite struct TransferExecutorTests {
    /// Confined to the thread of the test, where its loop runs.
    private final class Stage: QueueNetwork {
        let loop: EventLoop
        let engine: TransferEngine
        private(set) var driver: QueueDriver?
        private var executor: TransferExecutor?
        var events: [QueueEvent] = []
        var checks = 0
        var pathWorks = true
        private var remaining = 0

        init(_ change: (inout QueuePolicy) -> Void = { _ in }) throws {
            signal(SIGPIPE, SIG_IGN)
            loop = try EventLoop()
            engine = try TransferEngine(loop: loop)
            var policy = QueuePolicy()
            change(&policy)
            let executor = TransferExecutor(engine: engine, network: self) { [weak self] in self?.driver?.send($0) }
            let driver = QueueDriver(
                loop: loop, policy: policy, executor: executor, seed: 1, tell: { [weak self] in self?.told($0) })
            (self.executor, self.driver) = (executor, driver)
        }

        private func told(_ event: QueueEvent) {
            events.append(event)
            guard [.done, .dead, .cancelled].contains(event.kind) else { return }
            remaining -= 1
            if remaining == 0 { loop.stop() }
        }

        func open(at path: String? = nil) throws {
            if let path { try driver?.open(try QueueDirectory(path)) } else { driver?.openInMemory() }
            var path = QueuePath(interfaceIndex: 1, interface: "lo", linkClass: .loopback)
            path.sources = [IPAddress(ipv4: 0x7f00_0001)]
            driver?.send(.paths(PathSet([path], epoch: 1)))
        }

        func add(_ url: String, _ change: (inout QueuedRequest) -> Void = { _ in }) throws {
            var request = try QueuedRequest(url: url)
            change(&request)
            remaining += 1
            try driver?.add(request, makeKey: { "made" }) { _ in }
        }

        /// Until all that was added is over.
        func run(within limit: Duration = .seconds(20)) {
            loop.schedule(at: SystemClock.boot + limit) { [weak self] in self?.loop.stop() }
            loop.run()
        }

        func checkPath(_ path: QueuePath) {
            checks += 1
            driver?.send(.pathChecked(interfaceIndex: path.interfaceIndex, works: pathWorks))
        }
        func watch(_ destination: Destination) {}
        func unwatch(_ destination: Destination) {}

        func time(_ kind: QueueEvent.Kind, _ number: Int) -> BootTime? {
            let found = events.filter { $0.kind == kind }
            return found.count > number ? found[number].moment.boot : nil
        }
    }

    @Test func `N13 a server that asks for two seconds gets two tries, two seconds apart`() throws {
        let temporary = try TemporaryDirectory()
        let answers = Mutex(["503 Busy\r\nRetry-After: 2", "200 OK"])
        let server = try ScriptedServer { connection in
            connection.readRequest()
            let answer = answers.withLock { $0.isEmpty ? "500 Too many" : $0.removeFirst() }
            connection.write("HTTP/1.1 \(answer)\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok")
        }
        let stage = try Stage()
        try stage.open(at: temporary.path + "/queue")
        try stage.add("http://127.0.0.1:\(server.port)/x") {
            $0.method = "POST"
            $0.body = .inline(Array("hello".utf8))
        }
        stage.run()
        #expect(stage.events.map(\.kind) == [.queued, .started, .retrying, .started, .done])
        let gap = try #require(stage.time(.started, 1)) - (try #require(stage.time(.retrying, 0)))
        #expect(gap >= .seconds(2) && gap <= .seconds(2.4), "\(gap)")
        #expect(server.requests.values.count == 2)
        for request in server.requests.values {
            #expect(request.hasPrefix("POST /x HTTP/1.1\r\n") && request.hasSuffix("\r\n\r\nhello"))
            #expect(request.contains("Idempotency-Key: made\r\n"))
        }
        let outcome = EventLog<RequestOutcome?>()
        stage.driver?.outcome(of: RequestID(rawValue: 1)) { outcome.append($0) }
        stage.driver?.close(patience: .seconds(5))
        #expect(outcome.values.first??.result?.body == .inline(Array("ok".utf8)))
        #expect(outcome.values.first??.result?.status == 200)
    }

    @Test(arguments: [true, false])
    func `a refused connection counts against the destination on a path that works, and not on one that does not`(
        works: Bool
    ) throws {
        let port = try TestProgram.freePort()
        let stage = try Stage { $0.breaker.consecutive = 100 }
        stage.pathWorks = works
        try stage.open()
        try stage.add("http://127.0.0.1:\(port)/") {
            $0.maximumAttempts = 2
            $0.timeToLive = .seconds(3)
        }
        stage.run()
        #expect(stage.checks >= 1)
        #expect(stage.events.last?.kind == .dead)
        #expect(stage.events.last?.reason == (works ? "exhausted" : "expired"))
    }

    @Test func `what was cut after its first byte is sent again only with a key`() throws {
        let server = try ScriptedServer { connection in
            connection.readRequest()
            connection.reset()
        }
        let stage = try Stage()
        try stage.open()
        try stage.add("http://127.0.0.1:\(server.port)/keyed") {
            $0.method = "POST"
            $0.maximumAttempts = 2
        }
        stage.run()
        #expect(stage.events.last?.reason == "exhausted")
        #expect(server.requests.values.count == 2)
    }

    @Test func `an answer that cannot be read kills the request`() throws {
        let server = try ScriptedServer { connection in
            connection.readRequest()
            connection.write("HTTP/1.1 302 Found\r\nLocation: /again\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        }
        let stage = try Stage()
        try stage.open()
        try stage.add("http://127.0.0.1:\(server.port)/")
        stage.run()
        #expect(stage.events.last?.kind == .dead && stage.events.last?.reason == "redirects")
    }

    @Test func `an interface that is not there is no attempt at all`() throws {
        let server = try ScriptedServer { connection in connection.readRequest() }
        let stage = try Stage()
        try stage.open()
        let gone = QueuePath(interfaceIndex: 99_999, interface: "gone0", linkClass: .wired)
        stage.driver?.send(.paths(PathSet([gone], epoch: 2)))
        try stage.add("http://127.0.0.1:\(server.port)/") { $0.timeToLive = .seconds(2) }
        stage.run()
        #expect(stage.events.last?.reason == "expired")
        #expect(server.requests.values.isEmpty)
    }
}
