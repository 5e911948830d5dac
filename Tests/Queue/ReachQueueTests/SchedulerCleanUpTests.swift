import ReachCore
import ReachTesting
import Testing

@testable import ReachQueue

/// What is over is forgotten.
@Suite struct SchedulerCleanUpTests {
    private var stage = QueueStage()

    init() {
        stage.send(.allRestored)
        stage.network([.wired])
    }

    @Test mutating func `what is done or cancelled leaves no user, destination or timer behind`() throws {
        for user in UInt32(1)...20 {
            let sent = try stage.add("https://host\(user).example/", by: user)
            stage.answer(sent)
            let waiting = try stage.add("https://host\(user).example/", when: "wifi", by: user)
            stage.ask { .cancel(waiting, .root, $0) }
        }
        stage.pass(.seconds(60))
        #expect(stage.starts.count == 20)
        #expect(stage.queue.attempts.users.isEmpty && stage.queue.lines.users.isEmpty)
        #expect(stage.queue.destinations.allSites.isEmpty)
        #expect(stage.pass(.seconds(600)) == 0)
        #expect(stage.queue.brokenRules() == [] && stage.queue.leftovers() == [])
    }

    @Test(
        arguments: [
            { $0.orderKey = "o" }, { $0.uniqueness = .unique(name: "u", mode: .append) }, { $0.interceptor = "api" },
            { $0.uniqueness = .coalesce(key: "c") }, { $0.condition.isTargetReachable = true },
            { $0.priority = .urgent },
            { $0.uniqueness = .joined(key: "j", form: .lines) }, { $0.timeToLive = .seconds(5) },
            { $0.body = .spooled(name: "b", bytes: 1 << 20) },
        ] as [@Sendable (inout RequestSpecification) -> Void])
    mutating func `nothing is left of requests, whatever they asked for`(
        change: @Sendable (inout RequestSpecification) -> Void
    ) throws {
        stage.send(.interceptors(["api"]))
        for url in ["https://a.example/", "https://192.0.2.1/", "https://b.example/"] {
            for user in UInt32(1)...3 {
                _ = try stage.add(url, by: user, change)
                _ = try stage.add(url, when: "wifi", by: user, change)
            }
        }
        #expect(stage.queue.brokenRules() == [])
        stage.network([], links: [2])
        stage.pass(.milliseconds(1500))
        #expect(stage.queue.brokenRules() == [])
        stage.network([.wired, .wifi], links: [2, 3])
        stage.pass(.seconds(6))
        #expect(stage.queue.brokenRules() == [])
        for id in (1...18).map(RequestID.init(rawValue:)) where stage.state(id) != nil {
            stage.ask { .cancel(id, .root, $0) }
            stage.ask { .forget(id, .root, $0) }
        }
        for name in stage.lookups { stage.send(.lookedUp(name, nil)) }
        stage.pass(.seconds(60))
        #expect(stage.queue.count == 0 && stage.queue.brokenRules() == [] && stage.queue.leftovers() == [])
    }

    @Test mutating func `what is more than one turn handles is handled in the next one, at once`() throws {
        stage.network([])
        for _ in 0..<600 { try stage.add("https://a.example/", by: 1) { $0.timeToLive = .milliseconds(1200) } }
        stage.elapsed = .milliseconds(1500)
        stage.commits = false
        stage.send(.wake)
        #expect(stage.queue.count == 600 - 512)
        stage.pass(.zero)
        #expect(stage.queue.count == 0)
    }

    @Test(arguments: ["they end", "another network ends them"])
    mutating func `more waits than one turn handles end in the next one, at once`(how: String) throws {
        stage.ask { .holdQueue(.root, $0) }
        for _ in 0..<600 { try stage.add() }
        for slot in stage.queue.requests.all.values {
            stage.queue.requests[slot].notBefore = stage.moment.boot + .seconds(how == "they end" ? 5 : 500)
            stage.queue.requests[slot].flags.insert(.networkFailure)
            stage.queue.place(slot)
        }
        func waiting(_ stage: QueueStage) -> Int {
            stage.queue.requests.all.values.count { stage.queue.requests[$0].place == .networkWait }
        }
        if how != "they end" { stage.network([.wired]) }
        stage.elapsed = .seconds(5)
        #expect(waiting(stage) == 600)
        stage.send(.wake)
        #expect(waiting(stage) == 600 - 512)
        stage.pass(.zero)
        #expect(waiting(stage) == 0)
    }

    @Test mutating func `a user's requests are sent though more of another's are held than one turn looks at`() throws {
        let id = try stage.add(by: 2)
        stage.answer(id, 503)
        let until = try #require(stage.explanation(id)?.reasons.first?.until)
        stage.ask { .holdQueue(QueueInput.Client(user: 1), $0) }
        for number in 0..<600 { try stage.add("https://host\(number).example/", by: 1) }
        stage.elapsed = stage.elapsed(at: until.boot)
        // All lines are looked at again.
        stage.send(.interceptors([]))
        #expect(stage.starts.count == 1)
        stage.pass(.zero)
        #expect(stage.startedIDs == [id, id])
    }

    @Test mutating func `what a request waited for is no reason once it was sent again`() throws {
        let id = try stage.add()
        stage.send(.ended(id, .failed(AttemptFault(.certificateTime, isClockUnset: true))))
        let isOfClock = stage.blockers(id) == ["clock"]
        stage.pass(.seconds(30))
        #expect(isOfClock && stage.startedIDs == [id, id])
        stage.answer(id, 503)
        #expect(stage.blockers(id) == ["backoff"])
    }
}
