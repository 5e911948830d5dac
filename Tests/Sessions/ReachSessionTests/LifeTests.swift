import ReachCore
import ReachSession
import ReachTesting
import Testing

/// Tasks from resume to the end, with a real queue and server.
@Suite(.timeLimit(.minutes(1))) struct LifeTests {
    @Test func `a task that is not resumed is not sent`() async throws {
        let stage = try SessionStage()
        let (held, other) = (try stage.session.get("held"), try stage.session.get("other"))
        try await other.response()
        #expect(held.requestState == .suspended && held.suspensionReasons == .user)
        #expect(await held.explanation().state == "suspended")
        #expect(stage.server.requests.values.count == 1)
    }

    @Test func `a task that is suspended while it runs is sent again when it is resumed`() async throws {
        let slow = try SlowServer()
        let session = try RequestSession()
        let log = EventLog<String>()
        session.addObserver { if $0.name != .didStart { log.append("\($0.name)") } }
        let task = try session.get(slow.url) { _ in log.append("completion") }
        task.resume()
        try await slow.server.requests.wait(for: 1)
        task.suspend()
        #expect(task.requestState == .suspended && task.suspensionReasons == .user)
        while await task.explanation().state != "held" { await Task.yield() }
        slow.gate.open()
        task.resume()
        #expect(try await task.response().statusCode == 200)
        #expect(slow.server.requests.values.count == 2)
        #expect(
            try await log.wait(for: 5) == ["didResume", "didSuspend", "didResume", "completion", "didComplete"])
    }

    @Test func `a task suspended before it is stored is held`() async throws {
        let stage = try SessionStage()
        let task = try stage.session.get("")
        task.resume()
        task.suspend()
        try await task.stored()
        while await task.explanation().state != "held" { await Task.yield() }
        #expect(await task.explanation().description == "A user holds it. It continues when it is released.")
        task.resume()
        try await task.response()
    }

    @Test func `a task cancelled at any point ends once, as cancelled`() async throws {
        let slow = try SlowServer()
        let session = try RequestSession()
        for point in ["new", "resumed", "stored", "running", "suspended"] {
            let log = EventLog<String>()
            let task = try session.get(slow.url) { result in
                if case .failure(let error) = result { log.append(error.summary) } else { log.append("answer") }
            }
            session.addObserver(forName: .didComplete, task: task) { _ in log.append("notified") }
            let before = slow.server.requests.values.count
            switch point {
            case "resumed": task.resume()
            case "stored":
                task.resume()
                try await task.stored()
            case "running":
                task.resume()
                try await slow.server.requests.wait(for: before + 1)
            case "suspended":
                task.resume()
                task.suspend()
            default: break
            }
            task.cancel()
            task.cancel()
            #expect(task.requestState == .cancelled, "\(point)")
            #expect(try await log.wait(for: 2) == ["cancelled cancelled", "notified"], "\(point)")
            #expect(await failure { try await task.response() } == "cancelled cancelled")
        }
        #expect(await session.tasks().isEmpty)
    }

    @Test func `a task ends once when cancelling races with its end`() async throws {
        let stage = try SessionStage()
        let log = EventLog<UInt64>()
        for _ in 0..<200 {
            let task = try stage.session.get("")
            let identifier = task.identifier
            task.whenComplete { _ in log.append(identifier) }
            task.resume()
            let delay = UInt64.random(in: 0..<3_000_000)
            Task {
                try? await Task.sleep(nanoseconds: delay)
                task.cancel()
            }
        }
        let all = try await log.wait(for: 200)
        #expect(Set(all).count == 200)
        #expect(await stage.session.tasks().isEmpty)
        try await stage.session.get("").response()
        #expect(log.values.count == 200)
    }

    @Test func `a task that is not over keeps its session`() async throws {
        let server = try ScriptedServer { connection in connection.write(SessionStage.echo(connection.readRequest())) }
        let base = "http://127.0.0.1:\(server.port)/"
        let response = try await RequestSession(baseURL: base).get("x").response()
        #expect(response.object?.json?["line"]?.string == "GET /x HTTP/1.1")
        let log = EventLog<Int>()
        try RequestSession(baseURL: base).get("y") { log.append((try? $0.get())?.statusCode ?? 0) }.resume()
        #expect(try await log.wait(for: 1) == [200])
    }

    @Test(arguments: [false, true])
    func `tasks that were not resumed are listed, until they are released or over`(onDisk: Bool) async throws {
        let directory = try TemporaryDirectory()
        let stage = try SessionStage(keeping: onDisk ? .directory(directory.path + "/queue") : .memory)
        var new: RequestTask? = try stage.session.get("new")
        let running = try stage.session.get("waiting", when: .interface("none0")).resume()
        try await running.stored()
        let identifiers = await stage.session.tasks().map(\.identifier)
        #expect(Set(identifiers) == [new?.identifier, running.identifier])
        new = nil
        #expect(await stage.session.tasks().map(\.identifier) == [running.identifier])
        running.cancel()
        let other = try stage.session.get("other")
        other.cancel()
        #expect(await stage.session.tasks().isEmpty)
        await stage.session.closeAndWait()
    }

    @Test(arguments: [false, true])
    func `cancelling the waiting Swift task cancels the request`(onDisk: Bool) async throws {
        let slow = try SlowServer()
        let directory = try TemporaryDirectory()
        let session = try RequestSession(keeping: onDisk ? .directory(directory.path + "/queue") : .memory)
        var options = RequestOptions()
        if onDisk { options.isCancelledWithWaiting = true }
        let task = try session.get(slow.url, options: options)
        let waiting = Task { await failure { try await task.response() } }
        try await slow.server.requests.wait(for: 1)
        waiting.cancel()
        #expect(await waiting.value == "cancelled cancelled")
        #expect(task.requestState == .cancelled)
        let early = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return await failure { try await session.get(slow.url, options: options).response() }
        }
        #expect(await early.value == "cancelled cancelled")
        await session.closeAndWait()
    }

    @Test func `cancelling the waiting Swift task does not cancel a stored request`() async throws {
        let slow = try SlowServer()
        let directory = try TemporaryDirectory()
        let session = try RequestSession(keeping: .directory(directory.path + "/queue"))
        let task = try session.get(slow.url)
        let waiting = Task { await failure { try await task.response() } }
        try await slow.server.requests.wait(for: 1)
        waiting.cancel()
        #expect(await waiting.value == "cancelled wait-cancelled")
        #expect(task.requestState == .running)
        slow.gate.open()
        #expect(try await task.response().statusCode == 200)
        #expect(slow.server.requests.values.count == 1)
        await session.closeAndWait()
    }

    @Test func `closing ends running tasks with an error`() async throws {
        let slow = try SlowServer()
        let session = try RequestSession()
        let log = EventLog<String>()
        let running = try session.get(slow.url)
        let new = try session.get(slow.url)
        running.whenComplete { result in
            if case .failure(let error) = result { log.append(error.summary) }
        }
        running.resume()
        try await slow.server.requests.wait(for: 1)
        session.close()
        #expect(try await log.wait(for: 1) == ["closed closed"])
        #expect(running.requestState == .completed)
        #expect(await failure { try await new.response() } == "closed closed")
        #expect(await running.explanation().state == "over")
        #expect(await session.closeAndWait())
        #expect(await session.tasks().allSatisfy { $0 === new })
    }

    @Test func `a suspended session starts nothing, and clears no other reason`() async throws {
        let stage = try SessionStage()
        let log = EventLog<String>()
        stage.session.suspend()
        stage.session.addObserver { log.append("\($0.name) \($0.task.identifier)") }
        let (first, second) = (try stage.session.get("1").resume(), try stage.session.get("2").resume())
        try await log.wait { $0 == "didSuspend 2" }
        #expect(first.suspensionReasons == .queue && first.requestState == .suspended)
        second.suspend()
        stage.session.resume()
        try await first.response()
        #expect(second.requestState == .suspended && second.suspensionReasons == .user)
        #expect(stage.server.requests.values.count == 1)
        second.resume()
        try await second.response()
    }

    @Test func `no more requests run than the limit allows, and the rest follow`() async throws {
        let slow = try SlowServer()
        var options = RequestSessionOptions()
        options.maximumRunningPerHost = 1
        let session = try RequestSession(options: options)
        let tasks = try (0..<3).map { _ in try session.get(slow.url).resume() }
        try await slow.server.requests.wait(for: 1)
        for task in tasks { try await task.stored() }
        #expect(await tasks[2].explanation().reasons.map(\.word) == ["concurrency"])
        #expect(tasks.map(\.requestState) == [.running, .resumed, .resumed])
        #expect(slow.server.requests.values.count == 1)
        slow.gate.open()
        for task in tasks { try await task.response() }
    }

    @Test func `a full session rejects further requests`() async throws {
        let slow = try SlowServer()
        var options = RequestSessionOptions()
        options.maximumRequests = 1
        let session = try RequestSession(options: options)
        let first = try session.get(slow.url)
        try await first.stored()
        #expect(await failure { try await session.get(slow.url).response() } == "not-taken queue-full")
        #expect(await failure { try await session.get(slow.url).stored() } == "not-taken queue-full")
        slow.gate.open()
        try await first.response()
        try await session.get(slow.url).response()
    }

    @Test(arguments: [true, false])
    func `a completion may close or release its session`(immediate: Bool) async throws {
        let stage = try SessionStage { if immediate { $0.delivery = .immediate } }
        let log = EventLog<String>()
        let other = try stage.session.get("other", when: .interface("none0"))
        other.whenComplete { result in
            if case .failure(let error) = result { log.append(error.summary) }
        }
        other.resume()
        let task = try stage.session.get("") { _ in
            stage.session.close()
            log.append("closed")
        }
        task.resume()
        let results = try await log.wait(for: 2)
        #expect(Set(results) == ["closed", "closed closed"])
        #expect(await stage.session.closeAndWait())
        let late = EventLog<Bool>()
        task.whenComplete { late.append((try? $0.get()) != nil) }
        #expect(try await late.wait(for: 1) == [true])
    }

    @Test func `tasks are released when they are over, and a session with the last of them`() async throws {
        let server = try ScriptedServer { connection in connection.write(SessionStage.echo(connection.readRequest())) }
        var session: RequestSession? = try RequestSession(baseURL: "http://127.0.0.1:\(server.port)/")
        var task = try session?.get("a")
        let (heldTask, heldSession) = (WeakReference(task), WeakReference(session))
        task?.whenComplete { _ in }
        _ = await task?.awaitedResult
        task = nil
        while heldTask.value != nil { await Task.yield() }
        let waiting = WeakReference(try session?.get("b", when: .interface("none0")).resume())
        #expect(waiting.value?.requestState.isFinal == false)
        session = nil
        #expect(heldSession.value != nil)
        waiting.value?.cancel()
        while heldSession.value != nil || waiting.value != nil { await Task.yield() }
    }

    @Test func `closed sessions leave no thread and no descriptor`() throws {
        let server = try ScriptedServer { connection in connection.write(SessionStage.echo(connection.readRequest())) }
        let result = try BuiltProgram(named: "getonce").run(["http://127.0.0.1:\(server.port)/", "30"])
        #expect(result.lines.dropLast() == Array(repeating: "200", count: 30)[...])
        // The runtime may have started threads of its own meanwhile.
        #expect(result.lines.last.flatMap { Int($0) } ?? 99 <= 2, "\(result)")
    }

    @Test func `a request expires`() async throws {
        let session = try RequestSession()
        var options = RequestOptions()
        options.expiresAfter = .milliseconds(50)
        options.constraint = .interface("none0")
        #expect(
            await failure { try await session.get("http://192.0.2.1/", options: options).response() }
                == "expired expired")
    }
}

/// A weak reference, which shows whether an object still exists.
private final class WeakReference<Value: AnyObject & Sendable>: Sendable {
    weak let value: Value?

    init(_ value: Value?) { self.value = value }
}
