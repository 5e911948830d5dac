internal import Glibc
internal import ReachCore
internal import ReachTesting
internal import Reachability
internal import Testing

/// What NWPathMonitor's users know, on a real kernel with two links to the Internet: `up0`, a cable that the kernel
/// prefers, and `wl0`, which the program calls Wi-Fi.
@Suite(.enabled(if: TestNamespace.isAvailable, "\(TestNamespace.whyNot)"), .timeLimit(.minutes(1)))
struct MonitorPathTests {
    private let namespace: TestNamespace
    private let pool: EnginePool

    init() throws {
        namespace = try TestNamespace()
        try namespace.vethPair()
        for command in [
            "link add wl0 type veth peer name wl1", "link set wl0 addrgenmode none", "link set wl1 addrgenmode none",
            "link set wl1 up", "link set wl0 up",
            "address add 198.51.100.2/24 dev wl0",
            "route add default via 198.51.100.1 dev wl0 metric 600",
        ] {
            _ = try ChildProcess.run(["ip", "-n", namespace.name] + command.split(separator: " ").map(String.init))
        }
        pool = EnginePool(namespace: namespace.descriptor)
    }

    private func monitor(
        _ target: Target = .internet, _ change: (inout ReachabilityOptions) -> Void = { _ in }
    ) -> ReachabilityMonitor {
        var options = ReachabilityOptions()
        options.notificationCenter = ReachabilityNotificationCenter()
        options.linkClasses = ["up*": .wired, "wl*": .wifi]
        change(&options)
        return ReachabilityMonitor(target, options: options, source: pool)
    }

    private func delete(_ interface: String) throws {
        try namespace.run("ip", "route", "delete", "default", "dev", interface)
    }

    @Test func `the state without a start is the kernel's, and leaves no thread and no socket behind`() async throws {
        defer { namespace.remove() }
        let monitor = monitor()
        let before = openDescriptors()
        for round in 0..<50 {
            let now = round.isMultiple(of: 2) ? await monitor.currentState() : synchronously(monitor)
            #expect(now.isReachable && now.interface == "up0" && now.linkClass == .wired)
            #expect(now.availableInterfaces.map(\.name) == ["up0", "wl0"])
        }
        #expect(monitor.status == .unknown && !monitor.isRunning && pool.count == 0)
        #expect(await becomesTrue { openDescriptors() < before + 25 })
        #expect(await becomesTrue { (try? netlinkSockets(in: namespace)) == 0 })
        monitor.start()
        let started = try await monitor.wait { _ in true }
        let now = await monitor.currentState()
        #expect(
            started?.ipv4.isSamePath(as: now.ipv4) == true && started?.availableInterfaces == now.availableInterfaces)
        monitor.stop()
        try delete("up0")
        try delete("wl0")
        #expect(await monitor.currentState().reason == .noRoute)
        #expect(monitor.isReachable && monitor.state.isStale)
        #expect(await self.monitor(try .host("localhost")).currentState().isReachable)
    }

    @Test func `the interfaces are listed in order of preference, and another list is a change of the path`()
        async throws
    {
        defer { namespace.remove() }
        let (monitor, plain) = (monitor(), ReachabilityMonitor(pool))
        let (statuses, changes) = (EventLog<NetworkReachabilityStatus>(), EventLog<ReachabilityChange>())
        monitor.setStatusChangeBlock(statuses.sink)
        monitor.setChangeBlock(changes.sink)
        monitor.start()
        plain.start()
        #expect(try await plain.wait { _ in true }?.availableInterfaces.map(\.linkClass) == [.virtual, .virtual])
        #expect(pool.count == 2, "classes of one's own need an engine of one's own")
        try await changes.wait(for: 1)
        let list = monitor.availableInterfaces
        #expect(list.map(\.name) == ["up0", "wl0"] && list.map(\.linkClass) == [.wired, .wifi])
        #expect(list.map(\.families) == [[.ipv4], [.ipv4]] && list.map(\.isMetered) == [false, false])
        #expect(list.map(\.index) == [try index("up0"), try index("wl0")])
        #expect(monitor.gateways.map(\.description) == ["192.0.2.1", "198.51.100.1"])
        #expect(monitor.uses(.wired) && !monitor.uses(.wifi))
        try delete("wl0")
        #expect(try await changes.wait(for: 2)[1].aspects == [.path])
        #expect(monitor.availableInterfaces.map(\.name) == ["up0"])
        try namespace.run("ip", "route", "add", "default", "via", "198.51.100.1", "metric", "600")
        try await changes.wait(for: 3)
        try delete("up0")
        #expect(try await changes.wait(for: 4)[3].state.availableInterfaces.map(\.name) == ["wl0"])
        #expect(monitor.uses(.wifi) && monitor.interface == "wl0")
        try namespace.run("ip", "link", "set", "wl0", "down")
        #expect(try await monitor.wait { !$0.isReachable }?.availableInterfaces == [])
        #expect(statuses.values == [.reachableViaWiFi, .notReachable])
        monitor.stop()
        plain.stop()
    }

    @Test func `with a required class the status is that of the best path over it`() async throws {
        defer { namespace.remove() }
        let (wifi, any) = (monitor { $0.requiredClass = .wifi }, monitor())
        wifi.start()
        any.start()
        let first = try await wifi.wait { _ in true }
        #expect(first?.interface == "wl0" && first?.ipv4.gateway?.description == "198.51.100.1")
        #expect(first?.availableInterfaces.map(\.name) == ["wl0"] && first?.linkClass == .wifi)
        #expect(await wifi.currentState().interface == "wl0")
        try delete("wl0")
        #expect(try await wifi.wait { !$0.isReachable }?.reason == .noRoute)
        #expect(wifi.availableInterfaces.isEmpty && any.interface == "up0" && any.isReachable)
        #expect(pool.count == 1, "a condition needs no engine of its own")
        wifi.stop()
        any.stop()
    }

    @Test func `prohibited classes and metered links leave the other paths`() async throws {
        defer { namespace.remove() }
        #expect(await monitor { $0.prohibitedClasses = [.wired] }.currentState().interface == "wl0")
        #expect(await monitor { $0.prohibitedClasses = [.wifi, .wwan] }.currentState().interface == "up0")
        let none = await monitor { $0.prohibitedClasses = [.wired, .wifi] }.currentState()
        #expect(none.reason == .noRoute && none.availableInterfaces.isEmpty)
        let modem = monitor {
            $0.linkClasses = ["up0": .wwan, "wl0": .wifi]
            $0.prohibitsMetered = true
        }
        #expect(await modem.currentState().interface == "wl0")
        try delete("wl0")
        #expect(await !modem.currentState().isReachable)
    }

    @Test func `a host, too, is reached over a required class`() async throws {
        defer { namespace.remove() }
        for (target, gateway) in [
            ("203.0.113.9", "198.51.100.1"), ("198.51.100.7", nil),
        ] {
            let state = await monitor(try Target(target)) { $0.requiredClass = .wifi }.currentState()
            #expect(state.interface == "wl0" && state.ipv4.gateway?.description == gateway, "\(target)")
            #expect(state.ipv6.reason == .notAsked)
        }
        // What is on the cable's own link is sent nowhere else.
        let onLink = await monitor(try Target("192.0.2.1")) { $0.requiredClass = .wifi }.currentState()
        #expect(onLink.status == .notReachable && onLink.reason == .noRoute)
        let both = await monitor(try Target("203.0.113.9")).currentState()
        #expect(both.interface == "up0" && both.availableInterfaces.map(\.name) == ["up0", "wl0"])
        #expect(await monitor(try .interface("up0")) { $0.requiredClass = .wifi }.currentState().reason == .noRoute)
        #expect(await monitor(try .interface("up0")).currentState().availableInterfaces.map(\.name) == ["up0"])
    }

    @Test func `a path supports the families that it has, and DNS if it leads to a name server`() async throws {
        defer { namespace.remove() }
        let files = try TemporaryDirectory()
        let path = try files.file("resolv.conf", "# nameserver 192.0.2.53\n")
        let monitor = monitor { $0.resolverConfiguration = path }
        #expect(!monitor.supportsDNS && !monitor.supportsIPv4)
        monitor.start()
        #expect(try await monitor.wait { _ in true }?.supportsIPv4 == true)
        #expect(monitor.supportsIPv4 && !monitor.supportsIPv6)
        for (text, supports) in [
            ("", false), ("search example.org", false), ("nameserver 2001:db8::53", false),
            ("nameserver 2001:db8::53\nnameserver 192.0.2.53", true), ("nameserver 127.0.0.53", true),
            ("nameserver fe80::1%wl0", true), ("nameserver fe80::1%eth7", false),
        ] {
            try files.file("resolv.conf", text)
            #expect(monitor.supportsDNS == supports, "\(text)")
        }
        try namespace.run("ip", "route", "add", "default", "via", "2001:db8::1")
        #expect(try await monitor.wait { $0.supportsIPv6 } != nil)
        try files.file("resolv.conf", "nameserver 2001:db8::53")
        #expect(monitor.supportsDNS && monitor.gateways.count == 3)
        #expect(monitor.availableInterfaces.first?.families == [.ipv4, .ipv6])
        monitor.stop()
    }

    private func index(_ interface: String) throws -> InterfaceIndex? {
        InterfaceIndex(try namespace.run("ip", "-o", "link", "show", interface).prefix { $0 != ":" })
    }
}

/// The state by the function that blocks.
private func synchronously(_ monitor: ReachabilityMonitor) -> ReachabilityState { monitor.currentState() }
