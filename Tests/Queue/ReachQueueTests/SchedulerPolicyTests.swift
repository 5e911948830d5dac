import ReachCore
import ReachQueue
import ReachTesting
import Testing

/// A policy that changes while requests wait and run.
@Suite struct SchedulerPolicyTests {
    private static func stage(_ change: (inout QueuePolicy) -> Void) -> QueueStage {
        var policy = QueuePolicy()
        change(&policy)
        return QueueStage(policy)
    }

    @Test func `more slots start what waited for one, of all and of a destination`() throws {
        var stage = Self.stage {
            $0.slots.all = 2
            $0.slots.destination = 1
        }
        stage.network([.wired])
        stage.pass(.seconds(5))
        for url in ["https://a.example/1", "https://a.example/2", "https://a.example/3", "https://b.example/"] {
            try stage.add(url)
        }
        stage.pass(.seconds(5))
        #expect(stage.starts.count == 2)
        stage.change {
            $0.slots.all = 4
            $0.slots.destination = 2
        }
        stage.pass(.seconds(5))
        #expect(stage.starts.count == 3, "both hosts have what they may, and one request of the first waits")
        stage.change { $0.slots.destination = 4 }
        stage.answer(stage.startedIDs[0])
        stage.pass(.seconds(5))
        #expect(stage.starts.count == 4)
    }

    @Test func `fewer slots end no attempt, and start no further one`() throws {
        var stage = QueueStage()
        stage.network([.wired])
        for host in ["a", "b", "c"] { try stage.add("https://\(host).example/") }
        stage.pass(.seconds(5))
        #expect(stage.starts.count == 3)
        stage.change { $0.slots.all = 1 }
        try stage.add("https://d.example/")
        stage.pass(.seconds(5))
        #expect(stage.aborted.isEmpty && stage.starts.count == 3)
        for id in stage.startedIDs { stage.answer(id) }
        stage.pass(.seconds(5))
        #expect(stage.starts.count == 4)
    }

    @Test func `a request is accepted or refused by the limits of now, and keeps the deadline of then`() throws {
        var stage = Self.stage {
            $0.limits.requests = 1
            $0.timeToLive = .seconds(100)
        }
        stage.network([])
        let first = try stage.add()
        #expect(throws: QueueStage.Refused.self) { try stage.add() }
        stage.change {
            $0.limits.requests = 2
            $0.timeToLive = .seconds(10)
        }
        let second = try stage.add()
        stage.pass(.seconds(12))
        #expect(stage.state(first) == .waiting && stage.state(second) == .dead)
        stage.pass(.seconds(90))
        #expect(stage.state(first) == .dead)
    }

    @Test func `dead requests beyond new limits go, the oldest first`() throws {
        var stage = QueueStage()
        stage.network([.wired])
        var dead: [RequestID] = []
        for _ in 0..<3 {
            let id = try stage.add { $0.method = "POST" }
            stage.pass(.seconds(5))
            stage.answer(id, 400)
            #expect(stage.state(id) == .dead)
            dead.append(id)
        }
        stage.change { $0.dead.count = 2 }
        #expect(dead.map { stage.state($0) } == [nil, .dead, .dead])
        stage.change { $0.dead.lifetime = .seconds(4) }
        #expect(dead.map { stage.state($0) } == [nil, nil, .dead])
    }

    @Test func `the same policy again changes nothing`() throws {
        var stage = QueueStage()
        stage.network([.wired])
        try stage.add()
        let (events, count) = (stage.events.count, stage.transactions.count)
        stage.change { _ in }
        #expect(stage.events.count == events && stage.transactions.count == count)
    }
}

extension QueueStage {
    /// What a reload does.
    mutating func change(_ change: (inout QueuePolicy) -> Void) {
        var policy = queue.policy
        change(&policy)
        send(.policy(policy))
    }
}
