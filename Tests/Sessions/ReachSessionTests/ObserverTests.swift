import Dispatch
import ReachCore
import ReachTesting
import Testing

@testable import ReachSession

/// Completions, notifications, progress and activity, and their order.
@Suite(.timeLimit(.minutes(1))) struct ObserverTests {
    @Test(arguments: ["private", "queue", "executor", "immediate"])
    func `the completion comes first, then the notification, each once`(delivery: String) async throws {
        let stage = try SessionStage { $0.delivery = Self.delivery(delivery) }
        let log = EventLog<String>()
        stage.session.addObserver { event in if event.name != .didStart { log.append("\(event.name)") } }
        let task = try stage.session.get("") { _ in log.append("completion") }
        task.whenComplete { _ in log.append("second") }
        task.resume()
        task.resume()
        #expect(try await log.wait(for: 4) == ["didResume", "completion", "second", "didComplete"])
        task.cancel()
        task.suspend()
        task.resume()
        let late = EventLog<String>()
        task.whenComplete { _ in late.append("late") }
        try await late.wait(for: 1)
        #expect(log.values.count == 4)
    }

    private static func delivery(_ name: String) -> ReachabilityDelivery {
        switch name {
        case "queue": .queue(DispatchQueue(label: "test", attributes: .concurrent))
        case "executor": .taskExecutor(globalConcurrentExecutor)
        case "immediate": .immediate
        default: .privateQueue
        }
    }

    /// An observer, or another thread, may cancel a task between the two steps of `resume()`.
    @Test func `a task that is cancelled while it begins is not kept`() async throws {
        let stage = try SessionStage()
        let task = try stage.session.get("")
        task.cancel()
        stage.session.core.start(task)
        #expect(await stage.session.tasks().isEmpty)
    }

    @Test func `a completed task's notification has AFNetworking's keys`() async throws {
        let stage = try SessionStage()
        let log = EventLog<[RequestNotification.Key: any Sendable]>()
        let observer = stage.session.addObserver(forName: .didComplete) { log.append($0.userInfo) }
        try await stage.session.get("").response()
        let success = try await log.wait(for: 1)[0]
        #expect(Set(success.keys) == [.serializedResponse, .responseSerializer, .responseData, .metrics])
        #expect((success[.serializedResponse] as? ResponseObject)?.json?["line"] != nil)
        #expect(success[.responseSerializer] is JSONResponseSerializer)
        #expect((success[.responseData] as? [UInt8])?.isEmpty == false)

        let session = try RequestSession()
        session.addObserver(forName: .didComplete) { log.append($0.userInfo) }
        let port = try TestProgram.freePort()
        _ = try await session.get("http://127.0.0.1:\(port)/").awaitedResult
        let error = try await log.wait(for: 2)[1]
        #expect(Set(error.keys) == [.error, .responseSerializer, .metrics])
        #expect((error[.error] as? RequestError)?.kind == .destination)
        stage.session.removeObserver(observer)
        try await stage.session.get("").response()
        #expect(log.values.count == 2)
    }

    @Test func `an observer of one task receives events of no other`() async throws {
        let stage = try SessionStage()
        let (first, second) = (try stage.session.get("1"), try stage.session.get("2"))
        let log = EventLog<UInt64>()
        stage.session.addObserver(forName: .didComplete, task: second) { log.append($0.task.identifier) }
        try await first.response()
        try await second.response()
        #expect(try await log.wait(for: 1) == [second.identifier])
        #expect(first.identifier != second.identifier)
    }

    @Test func `events are a sequence, too`() async throws {
        let stage = try SessionStage()
        let (all, ends) = (stage.session.events(), stage.session.events(forName: .didComplete))
        let task = try stage.session.get("")
        try await task.response()
        var names: [RequestNotification] = []
        for await event in all {
            names.append(event.name)
            if names.count == 3 { break }
        }
        #expect(names == [.didResume, .didStart, .didComplete])
        for await event in ends {
            #expect(event.task.identifier == task.identifier && event.userInfo[.responseData] != nil)
            break
        }
    }

    @Test func `the last progress of a sequence is the final one, also of an answer that arrives at once`() async throws
    {
        let stub = StubTransport { _ in .pieces(["a", "bc", "def"], type: "application/json").failing(.truncated) }
        let session = try RequestSession(options: RequestSessionOptions(stub: stub))
        let task = try session.upload(Array("body".utf8), to: "http://example.org/")
        let updates = task.progressUpdates
        _ = await task.awaitedResult
        var last: TaskProgress?
        for await progress in updates { last = progress }
        #expect(last == TaskProgress(sent: 4, toSend: 4, received: 6))
    }

    @Test func `the progress of an upload and a download is reported up to the end`() async throws {
        let (bytes, answer) = (200_000, String(repeating: "x", count: 100_000))
        let stage = try SessionStage {
            $0.responseSerializer = DataResponseSerializer()
        } answer: { _ in
            SessionStage.answer(answer, type: "text/plain")
        }
        let task = try stage.session.upload([UInt8](repeating: 7, count: bytes), to: "x")
        let log = EventLog<TaskProgress>()
        task.whenProgressed { log.append($0) }
        let updates = task.progressUpdates
        try await task.response()
        let last = try await log.wait { $0.fractionReceived == 1 }
        #expect(last.sent == Int64(bytes) && last.toSend == Int64(bytes) && last.fractionSent == 1)
        #expect(last.received == 100_000 && last.toReceive == 100_000)
        #expect(task.progress == last)
        var count = 0
        for await _ in updates { count += 1 }
        #expect(count >= 1)
    }

    @Test func `activity is shown while requests run for longer than its delay`() async throws {
        let slow = try SlowServer()
        var options = RequestSessionOptions()
        options.activity = ActivityIndicator(
            startDelay: .milliseconds(30), endDelay: .milliseconds(10), isEnabled: true)
        let session = try RequestSession(options: options)
        let log = EventLog<Bool>()
        session.activity.setBlock { log.append($0) }
        let task = try session.get(slow.url).resume()
        #expect(try await log.wait(for: 1) == [true])
        #expect(session.activity.activityCount == 1 && session.activity.isVisible)
        task.suspend()
        #expect(session.activity.activityCount == 0)
        #expect(try await log.wait(for: 2) == [true, false])
        task.cancel()
        #expect(session.activity.activityCount == 0 && session.activity.indicatorState == .notActive)
    }
}
