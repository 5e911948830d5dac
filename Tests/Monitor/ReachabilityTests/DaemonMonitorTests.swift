internal import Glibc
internal import ReachCore
internal import ReachTesting
internal import Reachability
internal import Testing

/// Monitors whose source is the daemon. The tests of the commands run one without netlink.
@Suite(
    .enabled(if: TestNamespace.isAvailable, "\(TestNamespace.whyNot)"), .timeLimit(.minutes(1)),
    // The tests count the process's client threads.
    .serialized)
struct DaemonMonitorTests {
    @Test func `blocks, observers and sequences receive the same, even if the daemon restarts`() async throws {
        let stage = try DaemonStage()
        defer { stage.end() }
        try stage.start()
        let monitor = stage.monitor()
        let log = EventLog<String>()
        monitor.setStatusChangeBlock { log.append("status \($0.rawValue)") }
        monitor.notificationCenter.addObserver(forName: .reachabilityStateDidChange, object: monitor) { notification in
            log.append("\(notification.change.sequenceNumber) \(notification.change.cause.rawValue)")
        }
        monitor.start()
        var changes = monitor.changes.makeAsyncIterator()
        try await log.wait(for: 2)
        try stage.namespace.run("ip", "route", "del", "default")
        try await log.wait(for: 4)
        #expect(monitor.reason == .noRoute)
        try stage.kill()
        #expect(await becomesTrue { monitor.state.isStale })
        #expect(monitor.status == .notReachable)
        try stage.namespace.run("ip", "route", "add", "default", "via", "192.0.2.1")
        try stage.start()
        #expect(
            try await log.wait(for: 6) == [
                "status 2", "1 start", "status 0", "2 route-removed", "status 2", "3 resync",
            ])
        #expect(!monitor.state.isStale)
        for number in 1...3 as ClosedRange<UInt64> {
            let change = await changes.next(isolation: #isolation)
            #expect(change?.sequenceNumber == number)
            #expect(change?.isInitial == (number == 1))
        }
        monitor.stop()
        #expect(await changes.next(isolation: #isolation) == nil)
    }

    @Test func `a router that is back is found by a monitor that asks it, and by no other`() async throws {
        let stage = try DaemonStage()
        defer { stage.end() }
        try stage.namespace.failGateway()
        try stage.start()
        let silent = stage.monitor()
        silent.start()
        #expect(try await silent.wait { _ in true }?.reason == .gatewayUnreachable)
        let asking = stage.monitor { $0.asksSilentGateways = true }
        asking.start()
        #expect(try await asking.wait { $0.isReachable }?.status == .reachable)
        #expect(try await silent.wait { $0.isReachable }?.status == .reachable)
    }

    @Test func `a block set while the daemon is away receives a stale state, and no change when the daemon is back`()
        async throws
    {
        let stage = try DaemonStage()
        defer { stage.end() }
        try stage.start()
        let monitor = stage.monitor(try Target("192.0.2.1"))
        monitor.start()
        #expect(try await monitor.wait { _ in true }?.isReachable == true)
        try stage.kill()
        #expect(await becomesTrue { monitor.state.isStale })
        let log = EventLog<ReachabilityChange>()
        monitor.setChangeBlock(log.sink)
        let first = try await log.wait(for: 1)[0]
        #expect(first.isInitial && first.state.isStale && first.state.isReachable)
        try stage.start()
        #expect(await becomesTrue { !monitor.state.isStale })
        monitor.stop()
        #expect(log.values.count == 1)
    }

    @Test func `without a daemon the state is unknown, and a daemon that starts later is found`() async throws {
        let stage = try DaemonStage()
        defer { stage.end() }
        let monitor = stage.monitor()
        monitor.start()
        let unknown = try await monitor.wait { _ in true }
        #expect(unknown?.status == .unknown && unknown?.reason == .cannotObserve)
        try stage.start()
        #expect(try await monitor.wait { $0.isReachable } != nil)
        monitor.stop()
    }

    @Test func `monitors share a thread, which ends with the last and closes its connections`() async throws {
        let stage = try DaemonStage()
        defer { stage.end() }
        try stage.start()
        #expect(DaemonPool.count == 0)
        for ending in ["stop", "release"] {
            var monitors = (0..<5).map { _ in stage.monitor() }
            monitors.forEach { $0.start() }
            for monitor in monitors { _ = try await monitor.wait { _ in true } }
            let socket = stage.socket
            #expect(DaemonPool.count == 1)
            #expect(try connections(to: socket) == 5)
            monitors[0].stop()
            #expect(await becomesTrue { (try? connections(to: socket)) == 4 })
            if ending == "stop" { monitors.forEach { $0.stop() } } else { monitors = [] }
            #expect(DaemonPool.count == 0)
            #expect(await becomesTrue { (try? connections(to: socket)) == 0 })
        }
    }

    @Test func `starting and stopping while the daemon is away leaves nothing behind`() async throws {
        let stage = try DaemonStage()
        defer { stage.end() }
        let log = EventLog<NetworkReachabilityStatus>()
        let monitor = stage.monitor()
        monitor.setStatusChangeBlock(log.sink)
        for round in 1...50 {
            monitor.start()
            if round.isMultiple(of: 10) { try await log.wait(within: .seconds(10)) { $0.count * 10 >= round } }
            monitor.stop()
        }
        #expect(DaemonPool.count == 0)
        try stage.start()
        monitor.start()
        #expect(try await monitor.wait { $0.isReachable } != nil)
        monitor.stop()
    }

    @Test func `without a start the daemon is asked once, and only the path counts that it reports`() async throws {
        let stage = try DaemonStage()
        defer { stage.end() }
        #expect(await stage.monitor().currentState().reason == .cannotObserve)
        try stage.start()
        let plain = await stage.monitor().currentState()
        #expect(plain.isReachable && plain.availableInterfaces.map(\.name) == ["up0"])
        #expect(plain.gateways.map(\.description) == ["192.0.2.1"] && plain.supportsIPv4 && !plain.supportsIPv6)
        let wifi = await stage.monitor { $0.requiredClass = .wifi }.currentState()
        #expect(wifi.reason == .noRoute && wifi.availableInterfaces.isEmpty)
        #expect(await stage.monitor { $0.requiredClass = .virtual }.currentState().interface == "up0")
        #expect(DaemonPool.count == 0)
    }

    @Test func `a required class is judged on the path that the daemon reports, and only differences are changes`()
        async throws
    {
        let stage = try DaemonStage()
        defer { stage.end() }
        try stage.start()
        let (wifi, virtual) = (
            stage.monitor { $0.requiredClass = .wifi }, stage.monitor { $0.requiredClass = .virtual }
        )
        let (none, some) = (EventLog<ReachabilityChange>(), EventLog<ReachabilityChange>())
        wifi.setChangeBlock(none.sink)
        virtual.setChangeBlock(some.sink)
        wifi.start()
        virtual.start()
        try await none.wait(for: 1)
        try await some.wait(for: 1)
        try stage.namespace.run("ip", "route", "replace", "default", "via", "192.0.2.9")
        // Two changes that the daemon reads together are one.
        try await some.wait(for: 2)
        try stage.namespace.run("ip", "route", "delete", "default")
        let changes = try await some.wait(for: 3)
        #expect(
            changes.map(\.aspects) == [[], [.path], [.status]] && changes.map(\.isInitial) == [true, false, false])
        #expect(changes[1].state.gateways.map(\.description) == ["192.0.2.9"])
        wifi.stop()
        virtual.stop()
        #expect(none.values.map(\.state.status) == [.notReachable])
    }
}

/// Number of connections that clients in this namespace have to a socket. The kernel counts the daemon's end of a
/// connection in the client's namespace.
private func connections(to socket: String) throws -> Int {
    try ChildProcess.run(["ss", "-xH", "state", "connected", "src", socket]).split(separator: "\n").count
}
