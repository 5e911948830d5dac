import ReachCore
import ReachQueue
import Testing

/// What events say beside their kind.
@Suite struct SchedulerEventTests {
    private var stage = QueueStage()
    private let destination: Destination

    init() throws {
        destination = try Destination(url: "https://a.example/")
        stage.network([.wired])
    }

    private func last(_ kind: QueueEvent.Kind) throws -> QueueEvent {
        try #require(stage.events.last { $0.kind == kind }, "\(kind)")
    }

    @Test mutating func `the events of a request name it, its user, its destination and its attempts`() throws {
        let id = try stage.add("https://a.example/x", when: "unmetered", by: 7)
        let queued = try last(.queued)
        #expect(queued.request == id && queued.owner == 7 && queued.attempt == nil)
        #expect(try queued.destination == destination && queued.condition == NetworkCondition("unmetered"))
        #expect(try last(.started).interface == "eth0")
        stage.answer(id, 503)
        let retrying = try last(.retrying)
        let until = stage.explanation(id)?.reasons.first { $0.blocker == .backoff }?.until
        #expect(retrying.status == 503 && retrying.notBefore == until?.wall && until != nil)
        #expect(retrying.request == id && retrying.owner == 7 && retrying.attempt == 1)
        stage.pass(.seconds(2))
        #expect(try last(.started).attempt == 2)
        stage.network([])
        stage.pass(.seconds(3))
        let interrupted = try last(.interrupted)
        #expect(interrupted.request == id && interrupted.interface == "eth0" && interrupted.attempt == 2)
        stage.network([.wired])
        stage.pass(.seconds(10))
        stage.answer(id, 404)
        let dead = try last(.dead)
        #expect(dead.request == id && dead.status == 404 && dead.reason == "refused" && dead.attempt == 3)
        #expect(stage.events.allSatisfy { $0.kind != .queued || $0.epoch == 2 } && dead.epoch == stage.epoch)
    }

    @Test mutating func `what waits says until when it waits at least, unless that time has come`() throws {
        let id = try stage.add()
        stage.answer(id, 503)
        let until = try #require(stage.explanation(id)?.reasons.first { $0.blocker == .backoff }?.until)
        stage.ask { .holdQueue(.root, $0) }
        for (time, notBefore) in [(stage.elapsed, until.wall), (stage.elapsed(at: until.boot), nil)] {
            stage.ask { .hold(id, .root, $0) }
            stage.elapsed = time
            stage.ask { .release(id, .root, $0) }
            let waiting = try last(.waiting)
            #expect(waiting.notBefore == notBefore && waiting.blockers.contains(.queueHold), "\(time)")
        }
    }

    @Test(arguments: [
        (AttemptEnd.failed(AttemptFault(.localNetwork)), "network"), (.failed(AttemptFault(.interface)), "interface"),
        (.failed(AttemptFault(.certificateTime, isClockUnset: true)), "clock"),
        (.answered(RequestResult(status: 503), isAccepted: false), "destination"),
    ])
    mutating func `a retry says what failed`(end: AttemptEnd, word: String) throws {
        stage.send(.ended(try stage.add(), end))
        #expect(try last(.retrying).reason == word)
    }

    @Test mutating func `a breaker's events name its user, its destination and the interface`() throws {
        for _ in 0..<5 { stage.answer(try stage.add(by: 7), 500) }
        let opened = try last(.breakerOpen)
        #expect(opened.owner == 7 && opened.destination == destination && opened.interface == "eth0")
        try stage.add(by: 7)
        stage.network([.wired])
        for _ in 0..<2 {
            stage.pass(.seconds(2))
            stage.answer(try #require(stage.startedIDs.last { stage.state($0) == .running }))
        }
        let closed = try last(.breakerClosed)
        #expect(closed.owner == 7 && closed.destination == destination && closed.interface == "eth0")
    }

    @Test mutating func `a path that goes before anything was sent by it is no event`() throws {
        try stage.add(when: "wifi")
        stage.network([.wired, .wifi])
        stage.network([.wired])
        stage.pass(.seconds(60))
        #expect(!stage.events.contains { [.opened, .closed].contains($0.kind) })
    }

    @Test mutating func `what is met, or no longer, is reported where requests wait for it, and else not`() throws {
        let condition = try NetworkCondition("unmetered")
        let id = try stage.add(when: "unmetered")
        stage.network([])
        stage.pass(.seconds(3))
        let closed = try last(.closed)
        #expect(closed.condition == condition && closed.count == 1 && !closed.blockers.isEmpty)
        stage.network([.wifi])
        stage.pass(.seconds(10))
        stage.answer(id)
        let opened = try last(.opened)
        #expect(opened.condition == condition && opened.count == 1 && opened.interface == "wlan0")
        // Nothing waits any more.
        stage.network([])
        stage.network([.wifi])
        stage.pass(.seconds(10))
        stage.send(.pathChecked(interfaceIndex: 3, works: true, isProof: true))
        #expect(stage.events.count { [.opened, .closed].contains($0.kind) } == 2)
    }
}
