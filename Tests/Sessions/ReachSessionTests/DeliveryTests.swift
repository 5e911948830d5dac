import Dispatch
import ReachSession
import ReachTesting
import Testing

/// Deliveries that wait for their queue while more happens.
@Suite(.timeLimit(.minutes(1))) struct DeliveryTests {
    /// A session whose callbacks wait until the gate is opened. Callers that await do not.
    private final class Stage: Sendable {
        let session: RequestSession
        let log = EventLog<String>()
        private let gate = ThreadGate()

        init() throws {
            var options = RequestSessionOptions(stub: StubTransport { _ in .json([:]) })
            let queue = DispatchQueue(label: "delivery")
            queue.async { [gate] in gate.wait() }
            options.delivery = .queue(queue)
            options.responseSerializer = DataResponseSerializer()
            session = try RequestSession(baseURL: "http://example.org", options: options)
        }

        deinit { gate.open() }

        func open() { gate.open() }

        /// A task that is logged when it ends.
        func task(_ name: String, then body: @escaping @Sendable () -> Void = {}) throws -> RequestTask {
            try session.get(name) { [log] result in
                let outcome = if case .failure(let error) = result { error.word } else { "done" }
                log.append("\(name) \(outcome)")
                body()
            }
        }
    }

    @Test func `an observer receives what happens after it was added, and nothing of before`() async throws {
        let stage = try Stage()
        let task = try stage.task("a").resume()
        stage.session.addObserver { [log = stage.log] in if $0.name != .didStart { log.append("\($0.name)") } }
        try await task.response()
        stage.open()
        task.whenComplete { [log = stage.log] _ in log.append("last") }
        #expect(try await stage.log.wait(for: 3) == ["a done", "didComplete", "last"])
    }

    @Test func `an observer that is removed by the first of several deliveries receives no other`() async throws {
        let stage = try Stage()
        let (session, log) = (stage.session, stage.log)
        let observers = EventLog<RequestObserver>()
        observers.append(
            session.addObserver(forName: .didComplete) { event in
                log.append("\(event.name)")
                observers.values.forEach(session.removeObserver)
            })
        for _ in 0..<3 { try await session.get("a").response() }
        stage.open()
        let last = try stage.task("last")
        try await last.response()
        #expect(try await log.wait(for: 2) == ["didComplete", "last done"])
        // The observer keeps itself and the session by its own block.
        await session.closeAndWait()
    }

    @Test func `cancelling and closing in a callback changes no delivery that waits, and what follows comes last`()
        async throws
    {
        let stage = try Stage()
        let (session, log) = (stage.session, stage.log)
        session.addObserver(forName: .didComplete) { log.append("\($0.task.originalRequest.url.path) over") }
        let waiting = try stage.task("waiting")
        let second = try stage.task("second")
        let first = try stage.task("first") {
            second.cancel()
            waiting.cancel()
            session.close()
        }
        try await first.response()
        try await second.response()
        session.whenClosed { log.append("closed \($0)") }
        stage.open()
        let expected = [
            "first done", "/first over", "second done", "/second over", "waiting cancelled", "/waiting over",
            "closed true",
        ]
        #expect(try await log.wait(for: expected.count) == expected)
        #expect(second.requestState == .completed && waiting.requestState == .cancelled)
    }

    @Test func `tasks that a session's end ends are delivered in the order of their creation`() async throws {
        let stage = try Stage()
        stage.session.suspend()
        for number in 0..<20 { try stage.task("\(number)").resume() }
        stage.session.close()
        stage.open()
        #expect(try await stage.log.wait(for: 20) == (0..<20).map { "\($0) closed" })
    }

    /// A view model, as a program with a user interface has it.
    @MainActor private final class Model {
        var count = 0
        var ends: [String] = []
        var progress = 0

        func load(_ session: RequestSession) throws -> RequestTask {
            session.addObserverOnMain(forName: .didComplete) { [weak self] _ in self?.ends.append("observed") }
            let task = try session.get("a")
            task.whenProgressedOnMain { [weak self] _ in self?.progress += 1 }
            task.whenCompleteOnMain { [weak self] result in
                self?.count += (try? result.get().statusCode) ?? 0
                self?.ends.append("completed")
            }
            return task.resume()
        }
    }

    @Test(arguments: [true, false])
    func `blocks on the main actor use what belongs to it, whatever the delivery`(isMain: Bool) async throws {
        var options = RequestSessionOptions(stub: StubTransport { _ in .json([:]) })
        if isMain { options.delivery = .main }
        let session = try RequestSession(baseURL: "http://example.org", options: options)
        let model = Model()
        try await model.load(session).response()
        while await model.ends.count < 2 { try await Task.sleep(for: .milliseconds(1)) }
        #expect(await model.count == 200)
        if isMain { #expect(await model.ends == ["completed", "observed"]) }
    }
}
