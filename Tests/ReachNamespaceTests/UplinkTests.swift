internal import ReachCore
internal import ReachTesting
internal import Testing

private typealias Told = Watched.Told

/// What happens to the uplink of a machine, one step after the other, each told exactly once.
@Suite(.enabled(if: TestNamespace.isAvailable, "\(TestNamespace.whyNot)"), .timeLimit(.minutes(1)))
struct UplinkTests {
    // peers 40, 41, 42, 62a
    @Test func `each thing that happens to a default route is one change`() async throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        try namespace.vethPair()
        let watched = try await Watched.start(in: namespace)
        #expect(watched.state?.status == .reachable)
        #expect(watched.state?.ipv4.gateway?.description == "192.0.2.1")

        try await watched.expect(Told(.notReachable, .noRoute, because: .routeRemoved)) {
            try namespace.run("ip", "route", "del", "default")
        }
        try await watched.expect(Told(.reachable, because: .routeAdded)) {
            try namespace.run("ip", "route", "add", "default", "via", "192.0.2.1")
        }
        try await watched.expect(Told(.reachable, because: .routeReplaced, [.path])) {
            try namespace.run("ip", "route", "replace", "default", "via", "192.0.2.7")
        }
        try await watched.expect(Told(.notReachable, .blackhole, because: .routeReplaced)) {
            try namespace.run("ip", "route", "replace", "blackhole", "default")
        }
        try await watched.expect(Told(.notReachable, .prohibited, because: .routeReplaced, [.path])) {
            try namespace.run("ip", "route", "replace", "prohibit", "default")
        }
        try await watched.expect(Told(.notReachable, .unreachable, because: .routeReplaced, [.path])) {
            try namespace.run("ip", "route", "replace", "unreachable", "default")
        }
        try await watched.expect(Told(.notReachable, .noRoute, because: .routeReplaced, [.path])) {
            try namespace.run("ip", "route", "replace", "throw", "default")
        }
    }

    // peers 62a: the kernel drops the IPv4 route without a word
    @Test func `a link taken down loses its silent IPv4 route at once`() async throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        try namespace.vethPair()
        let watched = try await Watched.start(in: namespace)
        try await watched.expect(Told(.notReachable, .noRoute, because: .linkDown)) {
            try namespace.run("ip", "link", "set", "up0", "down")
        }
        // The link is up at once; its carrier is told by a slower path in the kernel.
        let link = try await Watched.start(Target.interface("up0"), in: namespace)
        try namespace.run("ip", "link", "set", "up0", "up")
        try await link.changes.wait { $0.state.isReachable }
        try await watched.expect(Told(.reachable, because: .routeAdded)) {
            try namespace.run("ip", "route", "add", "default", "via", "192.0.2.1")
        }
        try await watched.expect(Told(.notReachable, .noRoute, because: .linkRemoved)) {
            try namespace.run("ip", "link", "del", "up0")
        }
    }

    // peers 62a
    @Test func `a link moved to another namespace takes its route with it`() async throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        let peer = try namespace.vethPair()
        let watched = try await Watched.start(in: namespace)
        try await watched.expect(Told(.notReachable, .noRoute, because: .linkRemoved)) {
            try namespace.run("ip", "link", "set", "up0", "netns", peer.name, "name", "away")
        }
    }

    // peers 23, 62a
    @Test func `carrier lost and found is told, though the route stays`() async throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        let peer = try namespace.vethPair()
        let watched = try await Watched.start(in: namespace)
        for _ in 0..<3 {
            try await watched.expect(Told(.notReachable, .noCarrier, because: .carrierLost)) {
                try peer.run("ip", "link", "set", "up1", "down")
            }
            try await watched.expect(Told(.reachable, because: .carrierGained)) {
                try peer.run("ip", "link", "set", "up1", "up")
            }
        }
        #expect(watched.state?.flaps == 3)
    }

    // peers 44, 62a
    @Test func `a dead link is passed over where the kernel passes over it`() async throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        let peer = try namespace.vethPair()
        try namespace.run("sysctl", "-qw", "net.ipv4.conf.all.ignore_routes_with_linkdown=1")
        try namespace.run("sysctl", "-qw", "net.ipv4.conf.up0.ignore_routes_with_linkdown=1")
        let watched = try await Watched.start(in: namespace)
        try await watched.expect(Told(.notReachable, .noRoute, because: .carrierLost)) {
            try peer.run("ip", "link", "set", "up1", "down")
        }
    }

    // peers 62a, 71
    @Test func `losing the last address loses the route, losing another does not`() async throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        try namespace.vethPair()
        try namespace.run("ip", "addr", "add", "198.51.100.2/24", "dev", "up0")
        let watched = try await Watched.start(in: namespace)
        try await watched.expectNothing(
            after: { try namespace.run("ip", "addr", "del", "198.51.100.2/24", "dev", "up0") },
            butThen: Told(.notReachable, .noRoute, because: .addressRemoved),
            after: { try namespace.run("ip", "addr", "del", "192.0.2.2/24", "dev", "up0") })
    }

    // peers 62a: "must not fall for an address-less dev route that the kernel keeps"
    @Test func `a device route over a link without an address stays, and sends from another link's`() async throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        try namespace.vethPair()
        try namespace.run("ip", "addr", "del", "192.0.2.2/24", "dev", "up0")
        let watched = try await Watched.start(in: namespace)
        try await watched.expect(Told(.notReachable, .noAddress, because: .routeAdded, [.path])) {
            try namespace.run("ip", "route", "add", "default", "dev", "up0")
        }
        try await watched.expect(Told(.reachable, because: .addressAdded)) {
            try namespace.run("ip", "addr", "add", "198.51.100.2/32", "dev", "lo")
        }
        #expect(watched.state?.ipv4.source?.description == "198.51.100.2")
    }

    // peers 43, 62a
    @Test func `a nexthop object carries the route and takes it away`() async throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        try namespace.vethPair()
        try namespace.run("ip", "nexthop", "add", "id", "7", "via", "192.0.2.1", "dev", "up0")
        try namespace.run("ip", "route", "replace", "default", "nhid", "7")
        let watched = try await Watched.start(in: namespace)
        #expect(watched.state?.status == .reachable)
        try await watched.expect(Told(.reachable, because: .nexthopAdded, [.path])) {
            try namespace.run("ip", "nexthop", "replace", "id", "7", "via", "192.0.2.8", "dev", "up0")
        }
        try await watched.expect(Told(.notReachable, .noRoute, because: .nexthopRemoved)) {
            try namespace.run("ip", "nexthop", "del", "id", "7")
        }
    }

    // peers 62b
    @Test func `a route by nexthop object is understood without its attributes`() async throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        try namespace.vethPair()
        try namespace.run("sysctl", "-qw", "net.ipv4.nexthop_compat_mode=0")
        try namespace.run("ip", "nexthop", "add", "id", "7", "via", "192.0.2.1", "dev", "up0")
        try namespace.run("ip", "nexthop", "add", "id", "8", "via", "192.0.2.3", "dev", "up0")
        try namespace.run("ip", "nexthop", "add", "id", "9", "group", "7/8")
        try namespace.run("ip", "route", "del", "default")
        let watched = try await Watched.start(in: namespace)
        try await watched.expect(Told(.reachable, because: .routeAdded)) {
            try namespace.run("ip", "route", "add", "default", "nhid", "9")
        }
        try await watched.expect(Told(.notReachable, .noRoute, because: .nexthopRemoved)) {
            try namespace.run("ip", "nexthop", "del", "id", "9")
        }
    }

    // kernel-facts 13
    @Test func `a gateway that does not answer is told once it has failed`() async throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        let peer = try namespace.vethPair()
        try namespace.run("sysctl", "-qw", "net.ipv4.neigh.up0.retrans_time_ms=100")
        let watched = try await Watched.start(in: namespace)
        try peer.run("nft", "add table arp f; add chain arp f i { type filter hook input priority 0; policy drop; }")
        try namespace.run("ip", "neigh", "flush", "all")
        try await watched.expect(Told(.notReachable, .gatewayUnreachable, because: .neighbour)) {
            _ = try? namespace.run("ping", "-c", "1", "-W", "2", "198.51.100.1")
        }
        #expect(watched.state?.ipv4.neighbour == .failed)
        try peer.run("nft", "delete", "table", "arp", "f")
        try await watched.expect(Told(.reachable, because: .neighbour)) {
            _ = try? namespace.run("ping", "-c", "1", "-W", "2", "192.0.2.1")
        }
    }
}
