import ReachCore
import ReachQueue
import Testing

/// Pausing, resuming and holding.
@Suite struct SchedulerPauseTests {
    private var stage = QueueStage()

    @Test mutating func `the network's return does not undo a user's hold`() throws {
        stage.network([.wired])
        stage.ask { .holdQueue(.root, $0) }
        let id = try stage.add()
        stage.ask { .hold(id, .root, $0) }
        stage.ask { .releaseQueue(.root, $0) }
        stage.network([])
        #expect(stage.blockers(id) == ["hold", "no-path"])
        stage.network([.wired])
        stage.pass(.seconds(60))
        #expect(stage.state(id) == .held)
        #expect(stage.blockers(id) == ["hold"])
        #expect(!stage.kinds(of: id).contains(.resumed))
        #expect(stage.starts.isEmpty)
        stage.ask { .release(id, .root, $0) }
        #expect(stage.startedIDs == [id])
    }

    @Test mutating func `what is added while the network has been unknown for long waits as after an outage`() throws {
        for isLong in [false, true] {
            stage = QueueStage()
            stage.pass(.seconds(isLong ? 60 : 1))
            let id = try stage.add()
            stage.network([.wired])
            #expect(stage.startedIDs == (isLong ? [] : [id]))
            stage.pass(.seconds(60))
            #expect(stage.startedIDs == [id])
        }
    }

    @Test mutating func `a path that is gone is the reason, and not the short wait after the attempt`() throws {
        stage.network([.wired])
        let id = try stage.add()
        stage.send(.requestSent(id))
        stage.network([])
        stage.pass(.seconds(2))
        #expect(stage.aborted == [id] && stage.blockers(id) == ["no-path"])
        stage.network([.wired])
        #expect(stage.blockers(id).contains("backoff"))
    }

    @Test mutating func `a held queue without a path starts only when both are over`() throws {
        stage.network([.wwan])
        stage.ask { .holdQueue(.root, $0) }
        let id = try stage.add(when: "wifi")
        #expect(stage.blockers(id) == ["queue-hold", "class"])
        stage.network([.wwan, .wifi])
        stage.pass(.seconds(60))
        #expect(stage.blockers(id) == ["queue-hold"])
        stage.network([.wwan])
        stage.ask { .releaseQueue(.root, $0) }
        stage.pass(.seconds(60))
        #expect(stage.starts.isEmpty)
        #expect(stage.blockers(id) == ["class"])
        stage.network([.wifi])
        stage.pass(.seconds(60))
        #expect(stage.startedIDs == [id])
    }

    @Test mutating func `what is held while it runs waits for everything else only since then`() throws {
        stage.network([.wired])
        let ids = try (0..<5).map { _ in try stage.add() }
        stage.pass(.seconds(10))
        stage.ask { .hold(ids[0], .root, $0) }
        let reasons = stage.explanation(ids[0])?.reasons ?? []
        #expect(reasons.map(\.blocker) == [.requestHold, .concurrency])
        #expect(reasons.allSatisfy { stage.elapsed(at: $0.since.boot) == .seconds(10) })
    }

    @Test mutating func `twenty failures of the network count nothing`() throws {
        stage.network([.wired])
        let id = try stage.add()
        for _ in 0..<20 {
            #expect(stage.state(id) == .running)
            stage.fail(id, .localNetwork)
            stage.network([])
            #expect(stage.state(id) == .waiting)
            stage.pass(.seconds(100))
            stage.network([.wired])
            stage.pass(.seconds(62))
        }
        #expect(stage.explanation(id)?.attempts == 0)
        #expect(stage.explanation(id)?.networkFailures == 20)
    }

    @Test mutating func `what waited while the machine slept is sent soon after it woke`() throws {
        stage.network([.wifi])
        stage.network([])
        let id = try stage.add()
        stage.pass(.seconds(400))
        stage.send(.woke(after: .seconds(398)))
        stage.network([.wifi])
        stage.pass(.seconds(1))
        #expect(stage.startedIDs == [id])
    }

    @Test mutating func `a new network does not cut the wait that a server caused`() throws {
        stage.network([.wired])
        let id = try stage.add()
        stage.answer(id, 503, headers: ["Retry-After": "40"])
        stage.pass(.seconds(5))
        stage.network([.wifi])
        #expect(stage.blockers(id).contains("backoff"))
        stage.pass(.seconds(34.9))
        #expect(stage.starts.count == 1)
        stage.pass(.seconds(5))
        #expect(stage.starts.count == 2)
    }

    @Test mutating func `a new network cuts the wait after a failure of the old one`() throws {
        var policy = QueuePolicy()
        policy.retries.floor = .seconds(120)
        stage = QueueStage(policy)
        stage.network([.wired])
        let id = try stage.add()
        stage.fail(id, .localNetwork)
        #expect(stage.state(id) == .backoff)
        stage.pass(.seconds(5))
        stage.network([.wifi])
        stage.pass(.seconds(0.25))
        #expect(stage.starts.count == 2)
        #expect(stage.starts[1].at >= .seconds(5) && stage.starts[1].at <= .seconds(5.25))
    }

    @Test mutating func `however often a path came and went, the first start waits no longer`() throws {
        stage.network([.wifi])
        for _ in 0..<20 {
            stage.network([])
            stage.network([.wifi])
            let id = try stage.add()
            stage.pass(.milliseconds(199))
            #expect(stage.state(id) == .waiting)
            // It settles, and up to 250 ms of spreading follow.
            stage.pass(.milliseconds(252))
            #expect(stage.state(id) == .running)
            stage.answer(id)
        }
    }

    @Test mutating func `a gain shorter than it takes to settle starts nothing`() throws {
        stage.network([])
        let id = try stage.add()
        for _ in 0..<3 {
            stage.network([.wired])
            stage.pass(.milliseconds(190))
            stage.network([])
            stage.pass(.seconds(100))
        }
        #expect(stage.starts.isEmpty)
        #expect(stage.state(id) == .waiting)
    }

    @Test mutating func `a step of the wall clock moves neither starts nor ends`() throws {
        for step in [-86_400, 86_400] {
            stage = QueueStage()
            stage.network([.wired])
            let id = try stage.add { $0.timeToLive = .seconds(600) }
            stage.answer(id, 503, headers: ["Retry-After": "100"])
            stage.wallStep = .seconds(step)
            stage.pass(.seconds(99))
            #expect(stage.starts.count == 1)
            stage.pass(.seconds(12))
            #expect(stage.starts.count == 2)
            stage.fail(id, .localNetwork)
            stage.network([])
            stage.pass(.seconds(488))
            #expect(stage.state(id) == .waiting)
            stage.pass(.seconds(2))
            #expect(stage.state(id) == .dead)
        }
    }

    @Test mutating func `while nothing is known of the network, requests wait`() throws {
        let id = try stage.add()
        stage.pass(.seconds(4))
        #expect(stage.blockers(id) == ["validated"])
        #expect(stage.state(id) == .waiting)
        stage.pass(.seconds(10))
        #expect(stage.state(id) == .waiting)
        #expect(stage.blockers(id) == ["validated"])
        // Too late for a first look: this is the end of an outage.
        stage.network([.wired])
        #expect(stage.starts.isEmpty)
        stage.pass(.seconds(3))
        #expect(stage.startedIDs == [id])
    }

    @Test mutating func `after an hour of sleep nothing bursts, and what ran is the network's fault`() throws {
        let ids = try (0..<200).map { try stage.add("https://host\($0 % 40).example/") }
        stage.network([.wired])
        stage.pass(.seconds(5))
        let before = stage.starts.count
        let running = stage.queue.runningCount
        #expect(running == QueuePolicy().slots.interface)
        // Nothing woke the queue meanwhile, and all that came due is due at once.
        stage.elapsed += .seconds(3600)
        stage.send(.wake)
        stage.network([.wired])
        #expect(stage.queue.runningCount == running)
        #expect(stage.starts.count == before, "those that ran may yet be answered")
        for start in stage.starts where stage.state(start.order.id) == .running {
            stage.fail(start.order.id, .transient)
            #expect(stage.explanation(start.order.id)?.attempts == 0)
            #expect(stage.explanation(start.order.id)?.networkFailures == 1)
            #expect(stage.queue.runningCount <= running)
        }
        var served = 0
        while let id = stage.startedIDs.last(where: { stage.state($0) == .running }) {
            stage.answer(id)
            served += 1
            #expect(stage.queue.runningCount <= running)
            if stage.queue.runningCount == 0 { stage.pass(.seconds(400)) }
        }
        #expect(served == 200)
        #expect(ids.allSatisfy { stage.kinds(of: $0).count { $0 == .done } == 1 })
    }

    @Test mutating func `what the first look finds has not just come back`() throws {
        let id = try stage.add()
        stage.pass(.milliseconds(10))
        stage.network([.wired])
        #expect(stage.startedIDs == [id])
        #expect(stage.kinds(of: id) == [.queued, .waiting, .resumed, .started])
    }

    @Test mutating func `wifi is not wired, and unmetered is`() throws {
        stage.network([.wired, .wwan])
        let wifi = try stage.add(when: "wifi")
        let unmetered = try stage.add(when: "unmetered")
        stage.pass(.seconds(10))
        #expect(stage.state(wifi) == .waiting)
        #expect(stage.startedIDs == [unmetered])
        #expect(stage.starts[0].order.path.interface == "eth0")
    }

    @Test mutating func `what becomes metered is left after two seconds, and does not count`() throws {
        stage.network([.wifi])
        let id = try stage.add(when: "unmetered")
        stage.send(.requestSent(id))
        stage.network([.wifi.with { $0.isMetered = true }], newEpoch: false)
        #expect(stage.state(id) == .lingering)
        stage.pass(.milliseconds(1999))
        #expect(stage.aborted.isEmpty)
        stage.pass(.milliseconds(1))
        #expect(stage.aborted == [id])
        #expect(stage.state(id) == .waiting)
        #expect(stage.blockers(id) == ["metered"])
        #expect(stage.explanation(id)?.attempts == 0)
        #expect(stage.kinds(of: id) == [.queued, .started, .interrupted, .waiting])
    }

    @Test mutating func `the word for an interruption is no-path without a path, and restart at the stop`() throws {
        stage.network([.wifi])
        let id = try stage.add()
        stage.send(.requestSent(id))
        stage.network([])
        stage.pass(.seconds(3))
        #expect(stage.events.last { $0.kind == .interrupted }?.reason == "no-path")
        stage.network([.wifi])
        stage.pass(.seconds(10))
        #expect(stage.state(id) == .running)
        stage.send(.stop)
        #expect(stage.events.last { $0.kind == .interrupted }?.reason == "restart")
    }

    @Test mutating func `an attempt outlives a gap of its path, and not its own address`() throws {
        stage.network([.wifi])
        let id = try stage.add()
        stage.network([])
        stage.pass(.seconds(1))
        stage.network([.wifi])
        stage.pass(.seconds(10))
        #expect(stage.aborted.isEmpty)
        #expect(stage.state(id) == .running)
        stage.network([.wifi.with { $0.sources = [IPAddress(ipv4: 0xC000_02FE)] }])
        stage.pass(.seconds(2))
        #expect(stage.aborted == [id])
        #expect(stage.starts.count == 2)
    }

    @Test mutating func `an attempt stays on its path while that is there, though another is better`() throws {
        stage.network([.wifi])
        let id = try stage.add()
        stage.network([.wired, .wifi])
        stage.pass(.seconds(10))
        #expect(stage.state(id) == .running)
        let next = try stage.add()
        #expect(stage.starts.map(\.order.path.interface) == ["wlan0", "eth0"])
        // Without its default route the interface still carries what is bound to it.
        stage.network([.wired, .wifi.with { $0.families = [] }])
        stage.pass(.seconds(10))
        #expect(stage.state(id) == .running)
        stage.answer(id)
        stage.answer(next)
        #expect(stage.kinds(of: id) == [.queued, .started, .done])
    }

    @Test mutating func `a strict request leaves a path that no longer satisfies`() throws {
        stage.network([.wifi])
        let id = try stage.add { $0.isStrict = true }
        stage.network([.wired, .wifi.with { $0.families = [] }])
        stage.pass(.seconds(3))
        #expect(stage.aborted == [id])
        #expect(stage.starts.map(\.order.path.interface) == ["wlan0", "eth0"])
    }

    @Test mutating func `a request that asks for its own host waits for the way to it`() throws {
        stage.network([.wired])
        let id = try stage.add(when: "reachable")
        #expect(stage.blockers(id) == ["target"])
        let destination = try Destination(url: "https://a.example/")
        stage.send(.targetPath(destination, nil))
        stage.pass(.seconds(60))
        #expect(stage.starts.isEmpty)
        stage.send(.targetPath(destination, .wifi))
        stage.pass(.seconds(10))
        #expect(stage.startedIDs == [id])
        #expect(stage.starts[0].order.path.interface == "wlan0")
    }
    @Test mutating func `an attempt by its own host's path outlives the changes of other paths, and not its own loss`()
        throws
    {
        let destination = try Destination(url: "https://a.example/")
        let loopback = QueuePath.path(1, "lo", .loopback)
        stage.network([])
        let id = try stage.add(when: "reachable")
        stage.send(.targetPath(destination, loopback))
        #expect(stage.startedIDs.isEmpty || stage.startedIDs == [id])
        stage.pass(.seconds(10))
        #expect(stage.startedIDs == [id])
        stage.network([.wired])
        stage.network([])
        stage.pass(.seconds(10))
        #expect(stage.aborted.isEmpty && stage.state(id) == .running)
        stage.send(.targetPath(destination, nil))
        #expect(stage.state(id) == .lingering)
        stage.pass(.seconds(3))
        #expect(stage.aborted == [id] && stage.blockers(id) == ["target"])
    }
}
