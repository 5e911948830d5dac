import ReachCore
import ReachSession
import ReachTesting
import Testing

/// Tasks that start after others, as operations of a queue do.
@Suite(.timeLimit(.minutes(1))) struct DependencyTests {
    private func lines(_ stage: SessionStage) -> [String] {
        stage.server.requests.values.map { String($0.split(separator: " ")[1].dropFirst(4)) }
    }

    @Test func `a task starts after all that it depends on, in any order of resuming`() async throws {
        let stage = try SessionStage()
        let (a, b) = (try stage.session.get("a"), try stage.session.get("b"))
        let last = try stage.session.get("c")
        try last.addDependency(on: a)
        try last.addDependency(on: b)
        last.resume()
        #expect(await last.explanation().state == "dependent" && last.dependencies.count == 2)
        try await b.response()
        #expect(last.requestState == .resumed)
        a.resume()
        #expect(try await last.response().statusCode == 200)
        #expect(lines(stage) == ["b", "a", "c"] && last.dependencies.isEmpty)
        // One that is over holds nothing.
        let next = try stage.session.get("d")
        try next.addDependency(on: a)
        #expect(try await next.response().statusCode == 200)
    }

    @Test func `a failure before it counts only where that is asked for`() async throws {
        let stage = try SessionStage(answer: { request in
            request.hasPrefix("GET /v1/bad ") ? SessionStage.answer("{}", status: "404 No") : SessionStage.echo(request)
        })
        let bad = try stage.session.get("bad")
        let (anyway, never) = (try stage.session.get("anyway"), try stage.session.get("never"))
        let after = try stage.session.get("after")
        try anyway.addDependency(on: bad)
        try never.addDependency(on: bad, mustSucceed: true)
        try after.addDependency(on: never, mustSucceed: true)
        for task in [after, never, anyway, bad] { task.resume() }
        #expect(try await anyway.response().statusCode == 200)
        #expect(await failure { try await never.response() } == "destination dependency")
        #expect(await failure { try await after.response() } == "destination dependency")
        #expect(lines(stage) == ["bad", "anyway"])
    }

    @Test func `dependencies of another session, a cancelled one, and the end of the session`() async throws {
        let (one, two) = (try SessionStage(), try SessionStage())
        let cancelled = try one.session.get("x")
        let next = try two.session.get("y")
        try next.addDependency(on: cancelled)
        next.resume()
        cancelled.cancel()
        #expect(try await next.response().statusCode == 200)
        let waiting = try two.session.get("z")
        try waiting.addDependency(on: try one.session.get("never"))
        let given = try two.session.get("w")
        try given.addDependency(on: waiting)
        given.resume()
        given.cancel()
        #expect(await failure { try await given.response() } == "cancelled cancelled")
        waiting.resume()
        await two.session.closeAndWait()
        #expect(await failure { try await waiting.response() } == "closed closed")
        #expect(two.server.requests.values.count == 1)
    }

    @Test func `tasks cannot wait for each other, and a running one takes no dependency`() async throws {
        let stage = try SessionStage()
        let tasks = try (0..<3).map { try stage.session.get("\($0)") }
        try tasks[1].addDependency(on: tasks[0])
        try tasks[2].addDependency(on: tasks[1])
        #expect(await failure { try tasks[0].addDependency(on: tasks[2]) } == "request dependency-cycle")
        #expect(await failure { try tasks[0].addDependency(on: tasks[0]) } == "request dependency-cycle")
        try await tasks[0].response()
        #expect(
            await failure { try tasks[0].addDependency(on: try stage.session.get("x")) } == "request already-started")
    }

    @Test func `a suspended task with dependencies is not sent when they are over`() async throws {
        let stage = try SessionStage()
        let first = try stage.session.get("a")
        let second = try stage.session.get("b")
        try second.addDependency(on: first)
        second.resume()
        second.suspend()
        try await first.response()
        try await stage.session.get("c").response()
        #expect(lines(stage) == ["a", "c"])
        #expect(try await second.resume().response().statusCode == 200)
    }

    @Test func `in any order of calls tasks start after those that they depend on, and end once`() async throws {
        for seed in 0..<100 {
            var random = SeededGenerator(seed: UInt64(seed))
            let sent = EventLog<Int>()
            let session = try RequestSession(
                baseURL: "http://example.org/",
                options: RequestSessionOptions(
                    stub: StubTransport { request in
                        sent.append(Int(request.url.path.dropFirst()) ?? -1)
                        return .json([:])
                    }))
            let tasks = try (0..<12).map { try session.get("\($0)") }
            let ends = EventLog<Int>()
            var before: [Set<Int>] = []
            for (index, task) in tasks.enumerated() {
                task.whenComplete { _ in ends.append(index) }
                before.append(Set((0..<index).filter { _ in random.oneIn(4) }))
                for other in before[index] { try task.addDependency(on: tasks[other]) }
            }
            for index in tasks.indices.shuffled(using: &random) {
                tasks[index].resume()
                if random.oneIn(6) { tasks[Int.random(in: 0..<12, using: &random)].cancel() }
                if random.oneIn(6) {
                    let other = tasks[Int.random(in: 0...index, using: &random)]
                    other.suspend()
                    other.resume()
                }
            }
            if random.oneIn(5) { session.close() }
            let order = try await ends.wait(for: 12)
            #expect(Set(order).count == 12, "seed \(seed)")
            for task in tasks { #expect(task.requestState.isFinal, "seed \(seed)") }
            // What was sent was sent after all before it were sent, cancelled or closed.
            for (place, index) in sent.values.enumerated() {
                for other in before[index] {
                    let wasSent = sent.values.firstIndex(of: other)
                    #expect(wasSent.map { $0 < place } ?? true, "seed \(seed)")
                }
            }
            await session.closeAndWait()
        }
    }
}
