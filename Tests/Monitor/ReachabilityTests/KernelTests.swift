internal import Glibc
internal import ReachControl
internal import ReachCore
internal import ReachKernel
internal import ReachTesting
internal import Reachability
internal import Testing

/// Monitors on a real kernel, in network namespaces that the tests create.
@Suite(.enabled(if: TestNamespace.isAvailable, "\(TestNamespace.whyNot)"), .timeLimit(.minutes(1)))
struct KernelTests {
    @Test func `an address and localhost are determined: one block call and one notification each`() async throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        try namespace.vethPair()
        let pool = EnginePool(namespace: namespace.descriptor)
        for target in [try Target("192.0.2.1"), try .host("localhost")] {
            let monitor = ReachabilityMonitor(pool, target)
            let (statuses, notifications) = (
                EventLog<NetworkReachabilityStatus>(), EventLog<ReachabilityNotification>()
            )
            monitor.setStatusChangeBlock(statuses.sink)
            monitor.notificationCenter.addObserver(
                forName: .reachabilityDidChange, object: monitor, using: notifications.sink)
            monitor.start()
            #expect(try await monitor.wait { _ in true }?.status == .reachable)
            #expect(statuses.values == [.reachableViaWiFi])
            #expect(notifications.values.map(\.status) == [.reachableViaWiFi])
            monitor.stop()
        }
    }

    @Test func `the loss and return of the default route reach all receivers in order`() async throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        try namespace.vethPair()
        let monitor = ReachabilityMonitor(EnginePool(namespace: namespace.descriptor))
        let log = EventLog<String>()
        monitor.setStatusChangeBlock { log.append("status \($0.rawValue)") }
        monitor.notificationCenter.addObserver(forName: .reachabilityStateDidChange, object: monitor) { notification in
            log.append("\(notification.change.sequenceNumber) \(notification.change.cause.rawValue)")
        }
        monitor.start()
        try await log.wait(for: 2)
        try namespace.run("ip", "route", "delete", "default")
        try await log.wait(for: 4)
        try namespace.run("ip", "route", "add", "default", "via", "192.0.2.1")
        try await log.wait(for: 6)
        try namespace.run("ip", "route", "replace", "default", "via", "192.0.2.9")
        try await log.wait(for: 7)
        try namespace.run("ip", "link", "set", "up0", "down")
        #expect(
            try await log.wait(for: 9) == [
                "status 2", "1 start", "status 0", "2 route-removed", "status 2", "3 route-added", "4 route-replaced",
                "status 0", "5 link-down",
            ])
        #expect(monitor.reason == .noRoute)
        monitor.stop()
    }

    @Test func `a failed gateway is asked by monitors that want it, also among others, and by no other`() async throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        try namespace.vethPair()
        try namespace.failGateway()
        let pool = EnginePool(namespace: namespace.descriptor)
        let silent = ReachabilityMonitor(pool)
        silent.start()
        #expect(try await silent.wait { _ in true }?.reason == .gatewayUnreachable)
        #expect(try namespace.run("ip", "neigh", "show", "192.0.2.1").contains("FAILED"))
        var options = ReachabilityOptions()
        options.notificationCenter = ReachabilityNotificationCenter()
        options.asksSilentGateways = true
        let asking = ReachabilityMonitor(.internet, options: options, source: pool)
        asking.start()
        #expect(try await asking.wait { $0.isReachable }?.status == .reachable)
        #expect(try await silent.wait { $0.isReachable }?.status == .reachable)
        [silent, asking].forEach { $0.stop() }
    }

    @Test func `monitors with equal settings share one socket, which the last one closes`() async throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        let pool = EnginePool(namespace: namespace.descriptor)
        let sockets = try netlinkSockets(in: namespace)
        for ending in ["stop", "release"] {
            var monitors = (0..<5).map { _ in ReachabilityMonitor(pool) }
            monitors.forEach { $0.start() }
            for monitor in monitors { _ = try await monitor.wait { _ in true } }
            #expect(pool.count == 1)
            let open = try netlinkSockets(in: namespace)
            #expect(open > sockets)
            monitors[0].stop()
            #expect(try netlinkSockets(in: namespace) == open)
            if ending == "stop" { monitors.forEach { $0.stop() } } else { monitors = [] }
            #expect(await becomesTrue { (try? netlinkSockets(in: namespace)) == sockets })
            #expect(pool.count == 0)
        }
    }

    @Test func `starting and stopping a hundred times leaves no descriptor behind`() async throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        let pool = EnginePool(namespace: namespace.descriptor)
        let before = openDescriptors()
        for round in 0..<100 {
            let monitor = ReachabilityMonitor(pool)
            monitor.start()
            if round.isMultiple(of: 10) { _ = try await monitor.wait { _ in true } }
            monitor.stop()
        }
        // A leak in each round would leave a hundred. The margin is for other tests in this process, which hold some.
        #expect(await becomesTrue { openDescriptors() < before + 50 })
    }

    @Test func `twenty threads that start and stop at random end with one watch, or none`() async throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        let pool = EnginePool(namespace: namespace.descriptor)
        let monitor = ReachabilityMonitor(pool)
        _ = await onThreads(20) { number in
            let own = ReachabilityMonitor(pool, delivery: number.isMultiple(of: 2) ? .immediate : .privateQueue)
            own.setStatusChangeBlock { _ in _ = own.networkReachabilityStatus }
            for round in 0..<20 {
                own.start()
                round.isMultiple(of: 2) ? monitor.start() : monitor.stop()
                own.stop()
            }
            own.setStatusChangeBlock(nil)
        }
        monitor.start()
        #expect(try await monitor.wait { _ in true }?.status == .notReachable)
        #expect(pool.count == 1)
        monitor.stop()
        #expect(pool.count == 0)
        #expect(await becomesTrue { (try? netlinkSockets(in: namespace)) == 0 })
    }

    @Test func `monitors with settings of their own have engines of their own`() async throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        try namespace.vethPair()
        let pool = EnginePool(namespace: namespace.descriptor)
        var options = ReachabilityOptions()
        options.anchors = [IPAddress(ipv4: 0xc633_6401)]  // 198.51.100.1
        try namespace.run("ip", "route", "add", "blackhole", "198.51.100.0/24")
        let (usual, special) = (
            ReachabilityMonitor(.internet, source: pool), ReachabilityMonitor(.internet, options: options, source: pool)
        )
        usual.start()
        special.start()
        #expect(try await usual.wait { _ in true }?.status == .reachable)
        #expect(try await special.wait { _ in true }?.reason == .blackhole)
        #expect(pool.count == 2)
        usual.stop()
        special.stop()
    }

    @Test func `an engine's thread works alone, and runs nothing after its end`() async throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        let thread = EngineThread(options: ReachabilityEngine.Options(), namespace: namespace.descriptor)
        let log = EventLog<ReachabilityStatus>()
        let id = thread.watch(WatchSubject(.internet)) { event in
            if let change = event.change { log.append(change.state.status) }
        }
        try await log.wait(for: 1)
        thread.unwatch(id)
        thread.perform { log.append(.unknown) }
        #expect(try await log.wait(for: 2) == [.notReachable, .unknown])
        thread.end()
        thread.end()
        #expect(!thread.perform {})
    }
}
