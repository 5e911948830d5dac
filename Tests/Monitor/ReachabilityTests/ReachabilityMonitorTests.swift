internal import Dispatch
internal import ReachCore
internal import ReachTesting
internal import Reachability
internal import Testing

/// The state of a monitor, and which changes it reports.
struct ReachabilityMonitorTests {
    @Test func `a new monitor of any kind has the status unknown, with texts that do not change`() throws {
        for monitor in [
            ReachabilityMonitor(), try ReachabilityMonitor(domain: "example.org"),
            ReachabilityMonitor(address: IPAddress(ipv4: 0xc000_0201)),
        ] {
            #expect(monitor.status == .unknown)
            #expect(monitor.networkReachabilityStatus.rawValue == -1)
            #expect(monitor.localizedStatusDescription == "Unknown")
            #expect(!monitor.isReachable && !monitor.isReachableViaWWAN && !monitor.isReachableViaWiFi)
            #expect(!monitor.isRunning)
        }
        #expect(NetworkReachabilityStatus.allCases.map(\.rawValue) == [-1, 0, 1, 2])
        #expect(
            NetworkReachabilityStatus.allCases.map(\.displayText)
                == ["Unknown", "Not Reachable", "Reachable via WWAN", "Reachable via WiFi"])
    }

    @Test func `a monitor refuses a text that is not a domain`() {
        for text in ["", "two words", "-example.org", "192.0.2.256", String(repeating: "a", count: 300)] {
            #expect(throws: TargetError.self) { try ReachabilityMonitor(domain: text) }
        }
    }

    @Test func `the zero address means the Internet`() throws {
        #expect(ReachabilityMonitor(address: IPAddress(ipv4: 0)).target == .internet)
        #expect(ReachabilityMonitor(address: IPAddress(ipv6: 0, 0)).target == .internet)
        #expect(ReachabilityMonitor(address: IPAddress(ipv4: 1)).target == .address(IPAddress(ipv4: 1)))
    }

    @Test func `the state has the class of the link, and WWAN and Wi-Fi as in AFNetworking`() async throws {
        let source = FakeSource()
        let monitor = ReachabilityMonitor(source)
        monitor.start()
        for (linkClass, isWWAN) in [(LinkClass.wired, false), (.wwan, true), (.wifi, false)] {
            source.report(.reachable("if0", linkClass))
            #expect(monitor.linkClass == linkClass)
            #expect(monitor.isReachableViaWWAN == isWWAN)
            #expect(monitor.isReachableViaWiFi == !isWWAN)
            #expect(monitor.interface == "if0")
            #expect(monitor.ipv4.interface == "if0")
        }
        source.report(.away)
        #expect(monitor.reason == .noRoute)
        #expect(monitor.localizedStatusDescription == "Not Reachable")
    }

    @Test func `the description goes through the program's own translation`() {
        var options = ReachabilityOptions()
        options.translation = { $0 == "Unknown" ? "Unbekannt" : $0 }
        #expect(ReachabilityMonitor(options: options).localizedStatusDescription == "Unbekannt")
    }

    @Test func `the same status twice is reported once, and a new path at equal status as a change only`()
        async throws
    {
        let source = FakeSource()
        let monitor = ReachabilityMonitor(source)
        let (statuses, changes) = (EventLog<NetworkReachabilityStatus>(), EventLog<ReachabilityChange>())
        monitor.setStatusChangeBlock(statuses.sink)
        monitor.setChangeBlock(changes.sink)
        monitor.start()
        source.report(.reachable("eth0"))
        source.report(.reachable("eth0"))
        source.report(.reachable("eth1"))
        source.report(.reachable("wlan0", .wifi))
        source.report(.away)
        let received = try await changes.wait(for: 4)
        #expect(received.map(\.aspects) == [[], [.path], [.path, .linkClass], [.status]])
        #expect(received.map(\.sequenceNumber) == [1, 2, 3, 4])
        #expect(received.map(\.isInitial) == [true, false, false, false])
        #expect(statuses.values == [.reachableViaWiFi, .notReachable])
    }

    @Test func `another class that AFNetworking distinguishes is another status`() async throws {
        let source = FakeSource(.reachable("wlan0", .wifi))
        let monitor = ReachabilityMonitor(source)
        let statuses = EventLog<NetworkReachabilityStatus>()
        monitor.setStatusChangeBlock(statuses.sink)
        monitor.start()
        source.report(.reachable("wwan0", .wwan))
        source.report(.reachable("eth0"))
        #expect(try await statuses.wait(for: 3) == [.reachableViaWiFi, .reachableViaWWAN, .reachableViaWiFi])
    }

    @Test func `a path that is lost and returns is two more changes, though the final state is equal`() async throws {
        let source = FakeSource(.reachable("eth0"))
        let monitor = ReachabilityMonitor(source)
        let statuses = EventLog<NetworkReachabilityStatus>()
        monitor.setStatusChangeBlock(statuses.sink)
        monitor.start()
        source.report(.away)
        source.report(.reachable("eth0"))
        #expect(try await statuses.wait(for: 3) == [.reachableViaWiFi, .notReachable, .reachableViaWiFi])
    }

    @Test func `starting twice is one watch, stopping twice harmless, and starting again works`() async throws {
        let source = FakeSource(.reachable("eth0"))
        for target in [Target.address(IPAddress(ipv4: 0xc000_0201)), try .host("example.org"), .internet] {
            let monitor = ReachabilityMonitor(source, target)
            let changes = EventLog<ReachabilityChange>()
            monitor.setChangeBlock(changes.sink)
            monitor.start()
            monitor.start()
            #expect(source.count == 1)
            try await changes.wait(for: 1)
            monitor.stop()
            monitor.stop()
            #expect(source.count == 0)
            monitor.start()
            #expect(source.count == 1)
            source.report(.away)
            #expect(try await changes.wait(for: 3).map(\.sequenceNumber) == [1, 2, 3])
            source.report(.reachable("eth0"))
            monitor.stop()
        }
    }

    @Test func `a policy permits work by status, and never while a user paused it`() {
        let table: [(ReachabilityPolicy, [ReachabilityStatus])] = [
            (.ignore, [.unknown, .notReachable, .reachable]),
            (.unlessNotReachable, [.unknown, .reachable]),
            (.onlyIfReachable, [.reachable]),
        ]
        #expect(table.map(\.0) == ReachabilityPolicy.allCases)
        for (policy, permitted) in table {
            #expect(ReachabilityStatus.allCases.filter { policy.permits($0) } == permitted)
            #expect(ReachabilityStatus.allCases.allSatisfy { !policy.permits($0, isPaused: true) })
        }
    }

    @Test func `twenty threads find one shared monitor`() async {
        let monitors = await onThreads(20) { _ in ReachabilityMonitor.shared }
        #expect(monitors.count == 20)
        #expect(monitors.allSatisfy { $0 === ReachabilityMonitor.shared })
    }
}
