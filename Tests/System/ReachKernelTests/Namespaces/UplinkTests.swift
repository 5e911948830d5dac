internal import ReachCore
internal import ReachTesting
internal import Testing

private typealias Change = TestEngine.Change

/// Changes of a machine's uplink, each of which is reported exactly once.
@Suite(.enabled(if: TestNamespace.isAvailable, "\(TestNamespace.whyNot)"), .timeLimit(.minutes(1)))
struct UplinkTests {
    @Test func `every modification of a default route is one change`() async throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        try namespace.vethPair()
        let watched = try await TestEngine.start(in: namespace)
        #expect(watched.state?.status == .reachable)
        #expect(watched.state?.ipv4.gateway?.description == "192.0.2.1")

        try await watched.expect(Change(.notReachable, .noRoute, because: .routeRemoved)) {
            try namespace.run("ip", "route", "del", "default")
        }
        try await watched.expect(Change(.reachable, because: .routeAdded)) {
            try namespace.run("ip", "route", "add", "default", "via", "192.0.2.1")
        }
        try await watched.expect(Change(.reachable, because: .routeReplaced, [.path])) {
            try namespace.run("ip", "route", "replace", "default", "via", "192.0.2.7")
        }
        try await watched.expect(Change(.notReachable, .blackhole, because: .routeReplaced)) {
            try namespace.run("ip", "route", "replace", "blackhole", "default")
        }
        try await watched.expect(Change(.notReachable, .prohibited, because: .routeReplaced, [.path])) {
            try namespace.run("ip", "route", "replace", "prohibit", "default")
        }
        try await watched.expect(Change(.notReachable, .unreachable, because: .routeReplaced, [.path])) {
            try namespace.run("ip", "route", "replace", "unreachable", "default")
        }
        try await watched.expect(Change(.notReachable, .noRoute, because: .routeReplaced, [.path])) {
            try namespace.run("ip", "route", "replace", "throw", "default")
        }
    }

    // The kernel removes the IPv4 route without a notice (fib_sync_down_dev).
    @Test func `taking down a link ends its IPv4 path at once`() async throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        try namespace.vethPair()
        let link = EventLog<ReachabilityChange>()
        let watched = try await TestEngine.start(in: namespace, and: "up0", interfaceChanges: link)
        try await watched.expect(Change(.notReachable, .noRoute, because: .linkDown)) {
            try namespace.run("ip", "link", "set", "up0", "down")
        }
        try await link.wait { $0.last?.state.isReachable == false }
        // The link is up at once; the kernel reports its carrier later, which is to be another notice than the route's.
        try namespace.run("ip", "link", "set", "up0", "up")
        try await link.wait { $0.last?.state.isReachable == true }
        try await watched.changes.wait { $0.last?.state.rootCause == RootCause(.noDefaultRoute, interface: "up0") }
        try await watched.expect(Change(.reachable, because: .routeAdded)) {
            try namespace.run("ip", "route", "add", "default", "via", "192.0.2.1")
        }
        try await watched.expect(Change(.notReachable, .noRoute, because: .linkRemoved)) {
            try namespace.run("ip", "link", "del", "up0")
        }
    }

    @Test func `moving a link to another namespace removes its route`() async throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        let peer = try namespace.vethPair()
        let watched = try await TestEngine.start(in: namespace)
        try await watched.expect(Change(.notReachable, .noRoute, because: .linkRemoved)) {
            try namespace.run("ip", "link", "set", "up0", "netns", peer.name, "name", "away")
        }
    }

    @Test func `losing and regaining carrier is reported, though the route stays`() async throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        let peer = try namespace.vethPair()
        let watched = try await TestEngine.start(in: namespace)
        for _ in 0..<3 {
            try await watched.expect(Change(.notReachable, .noCarrier, because: .carrierLost)) {
                try peer.run("ip", "link", "set", "up1", "down")
            }
            try await watched.expect(Change(.reachable, because: .carrierGained)) {
                try peer.run("ip", "link", "set", "up1", "up")
            }
        }
        #expect(watched.state?.flaps == 3)
    }

    @Test func `a link without carrier is skipped where the kernel skips it`() async throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        let peer = try namespace.vethPair()
        try namespace.run("sysctl", "-qw", "net.ipv4.conf.all.ignore_routes_with_linkdown=1")
        try namespace.run("sysctl", "-qw", "net.ipv4.conf.up0.ignore_routes_with_linkdown=1")
        let watched = try await TestEngine.start(in: namespace)
        try await watched.expect(Change(.notReachable, .noRoute, because: .carrierLost)) {
            try peer.run("ip", "link", "set", "up1", "down")
        }
    }

    @Test func `removing the last address removes the route, removing another does not`() async throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        try namespace.vethPair()
        try namespace.run("ip", "addr", "add", "198.51.100.2/24", "dev", "up0")
        let watched = try await TestEngine.start(in: namespace)
        try await watched.expectNothing(
            after: { try namespace.run("ip", "addr", "del", "198.51.100.2/24", "dev", "up0") },
            butThen: Change(.notReachable, .noRoute, because: .addressRemoved),
            after: { try namespace.run("ip", "addr", "del", "192.0.2.2/24", "dev", "up0") })
    }

    // The kernel keeps a device route that has no source address on its own link.
    @Test func `a device route of a link without an address uses another link's address`() async throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        try namespace.vethPair()
        try namespace.run("ip", "addr", "del", "192.0.2.2/24", "dev", "up0")
        let watched = try await TestEngine.start(in: namespace)
        try await watched.expect(Change(.notReachable, .noAddress, because: .routeAdded, [.path])) {
            try namespace.run("ip", "route", "add", "default", "dev", "up0")
        }
        try await watched.expect(Change(.reachable, because: .addressAdded)) {
            try namespace.run("ip", "addr", "add", "198.51.100.2/32", "dev", "lo")
        }
        #expect(watched.state?.ipv4.source?.description == "198.51.100.2")
    }

    @Test func `replacing or removing a nexthop object changes the path`() async throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        try namespace.vethPair()
        try namespace.run("ip", "nexthop", "add", "id", "7", "via", "192.0.2.1", "dev", "up0")
        try namespace.run("ip", "route", "replace", "default", "nhid", "7")
        let watched = try await TestEngine.start(in: namespace)
        #expect(watched.state?.status == .reachable)
        try await watched.expect(Change(.reachable, because: .nexthopAdded, [.path])) {
            try namespace.run("ip", "nexthop", "replace", "id", "7", "via", "192.0.2.8", "dev", "up0")
        }
        try await watched.expect(Change(.notReachable, .noRoute, because: .nexthopRemoved)) {
            try namespace.run("ip", "nexthop", "del", "id", "7")
        }
    }

    @Test func `a route by nexthop object works without the gateway in its attributes`() async throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        try namespace.vethPair()
        try namespace.run("sysctl", "-qw", "net.ipv4.nexthop_compat_mode=0")
        try namespace.run("ip", "nexthop", "add", "id", "7", "via", "192.0.2.1", "dev", "up0")
        try namespace.run("ip", "nexthop", "add", "id", "8", "via", "192.0.2.3", "dev", "up0")
        try namespace.run("ip", "nexthop", "add", "id", "9", "group", "7/8")
        try namespace.run("ip", "route", "del", "default")
        let watched = try await TestEngine.start(in: namespace)
        try await watched.expect(Change(.reachable, because: .routeAdded)) {
            try namespace.run("ip", "route", "add", "default", "nhid", "9")
        }
        try await watched.expect(Change(.notReachable, .noRoute, because: .nexthopRemoved)) {
            try namespace.run("ip", "nexthop", "del", "id", "9")
        }
    }

    @Test func `a gateway that does not answer is reported once it has failed`() async throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        let peer = try namespace.vethPair()
        try namespace.run("sysctl", "-qw", "net.ipv4.neigh.up0.retrans_time_ms=100")
        let watched = try await TestEngine.start(in: namespace)
        try peer.run("nft", "add table arp f; add chain arp f i { type filter hook input priority 0; policy drop; }")
        try namespace.run("ip", "neigh", "flush", "all")
        try await watched.expect(Change(.notReachable, .gatewayUnreachable, because: .neighbour)) {
            _ = try? namespace.run("ping", "-c", "1", "-W", "2", "198.51.100.1")
        }
        #expect(watched.state?.ipv4.neighbour == .failed)
        try peer.run("nft", "delete", "table", "arp", "f")
        try await watched.expect(Change(.reachable, because: .neighbour)) {
            _ = try? namespace.run("ping", "-c", "1", "-W", "2", "192.0.2.1")
        }
    }
}
