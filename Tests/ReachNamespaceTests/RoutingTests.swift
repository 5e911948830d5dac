internal import ReachCore
internal import ReachKernel
internal import ReachTesting
internal import Testing

private typealias Told = Watched.Told

/// The many ways in which Linux can be told where packets go.
@Suite(.enabled(if: TestNamespace.isAvailable, "\(TestNamespace.whyNot)"), .timeLimit(.minutes(1)))
struct RoutingTests {
    // peers 41
    @Test func `of two defaults the better counts, and the other takes over with one change`() async throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        try namespace.vethPair()
        let watched = try await Watched.start(in: namespace)
        try await watched.expectNothing(
            after: { try namespace.run("ip", "route", "add", "default", "via", "192.0.2.5", "metric", "900") },
            butThen: Told(.reachable, because: .routeRemoved, [.path]),
            after: { try namespace.run("ip", "route", "del", "default", "metric", "0") })
        #expect(watched.state?.ipv4.gateway?.description == "192.0.2.5")
        #expect(watched.state?.ipv4.metric == 900)
    }

    // peers 42: a kill switch
    @Test(arguments: [
        ("unreachable", Reason.unreachable), ("blackhole", Reason.blackhole), ("prohibit", Reason.prohibited),
    ])
    func `a forbidding default laid over a good one is seen, and so is its end`(
        type: String, reason: Reason
    ) async throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        try namespace.vethPair()
        try namespace.run("ip", "route", "replace", "default", "via", "192.0.2.1", "metric", "100")
        try namespace.run("ip", "route", "del", "default", "metric", "0")
        let watched = try await Watched.start(in: namespace)
        try await watched.expect(Told(.notReachable, reason, because: .routeAdded)) {
            try namespace.run("ip", "route", "add", type, "default", "metric", "50")
        }
        try await watched.expect(Told(.reachable, because: .routeRemoved)) {
            try namespace.run("ip", "route", "del", type, "default", "metric", "50")
        }
    }

    // peers 43
    @Test func `multipath and via inet6 are ways like any other`() async throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        try namespace.vethPair()
        let watched = try await Watched.start(in: namespace)
        try await watched.expect(Told(.reachable, because: .routeReplaced, [.path])) {
            try namespace.run("ip", "route", "replace", "0.0.0.0/0", "via", "inet6", "2001:db8::1", "dev", "up0")
        }
        #expect(watched.state?.ipv4.gateway?.family == .ipv6)
        try namespace.run("ip", "route", "del", "default")
        try await watched.changes.wait(for: 3)
        try await watched.expect(Told(.reachable, because: .routeAdded)) {
            try namespace.run(
                "ip", "route", "add", "default", "nexthop", "via", "192.0.2.3", "dev", "up0", "nexthop", "via",
                "192.0.2.3", "dev", "up0")
        }
        #expect(watched.state?.ipv4.gateway?.description == "192.0.2.3")
    }

    // peers 45
    @Test func `two halves make an Internet, and one half does not`() async throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        try namespace.vethPair()
        try namespace.run("ip", "route", "del", "default")
        let watched = try await Watched.start(in: namespace)
        try await watched.expectNothing(
            after: { try namespace.run("ip", "route", "add", "0.0.0.0/1", "via", "192.0.2.1") },
            butThen: Told(.reachable, because: .routeAdded),
            after: { try namespace.run("ip", "route", "add", "128.0.0.0/1", "via", "192.0.2.1") })
    }

    // peers 46
    @Test func `a default in a table of its own counts for the mark that is sent there`() async throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        try namespace.vethPair()
        try namespace.run("ip", "route", "del", "default")
        try namespace.run("ip", "route", "add", "default", "via", "192.0.2.1", "table", "77")
        var options = EngineOptions()
        options.mark = 0x17
        let marked = try await Watched.start(in: namespace, options: options)
        options.mark = 0x18
        let other = try await Watched.start(in: namespace, options: options)
        try await marked.expect(Told(.reachable, because: .ruleAdded)) {
            try namespace.run("ip", "rule", "add", "fwmark", "0x17", "lookup", "77")
        }
        #expect(marked.state?.ipv4.table == 77)
        try await marked.expect(Told(.notReachable, .noRoute, because: .ruleRemoved)) {
            try namespace.run("ip", "rule", "del", "fwmark", "0x17", "lookup", "77")
        }
        try await other.drain()
        #expect(other.changes.values.count == 1)
    }

    // kernel-facts: `ip rule add unreachable` is what most monitors miss
    @Test(arguments: [
        ("unreachable", Reason.noRoute), ("blackhole", Reason.blackhole), ("prohibit", Reason.prohibited),
    ])
    func `a rule that refuses is seen`(action: String, reason: Reason) async throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        try namespace.vethPair()
        let watched = try await Watched.start(in: namespace)
        try await watched.expect(Told(.notReachable, reason, because: .ruleAdded)) {
            try namespace.run("ip", "rule", "add", "priority", "50", action)
        }
        try await watched.expect(Told(.reachable, because: .ruleRemoved)) {
            try namespace.run("ip", "rule", "del", "priority", "50")
        }
    }

    // peers 37, 48, 50
    @Test func `families come and go by themselves`() async throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        try namespace.vethPair()
        let watched = try await Watched.start(in: namespace)
        #expect(watched.state?.ipv6.reason == .noRoute)
        try await watched.expect(Told(.reachable, because: .routeAdded, [.path])) {
            try namespace.run("ip", "-6", "route", "add", "default", "via", "2001:db8::1")
        }
        #expect(watched.state?.ipv6.status == .reachable)
        try await watched.expect(Told(.reachable, because: .routeRemoved, [.path])) {
            try namespace.run("ip", "route", "del", "default")
        }
        #expect(watched.state?.ipv4.reason == .noRoute)
        try await watched.expect(Told(.notReachable, .noRoute, because: .routeRemoved)) {
            try namespace.run("ip", "-6", "route", "del", "default")
        }
        try await watched.expect(Told(.reachable, because: .routeAdded)) {
            try namespace.run("ip", "route", "add", "default", "via", "192.0.2.1")
        }
    }

    // peers 37
    @Test func `a link with both families taken down is one change`() async throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        try namespace.vethPair()
        try namespace.run("ip", "-6", "route", "add", "default", "via", "2001:db8::1")
        let watched = try await Watched.start(in: namespace)
        try await watched.expect(Told(.notReachable, .noRoute, because: .linkDown)) {
            try namespace.run("ip", "link", "set", "up0", "down")
        }
        try await watched.drain()
        #expect(watched.changes.values.count == 2)
    }

    // kernel-facts 6
    @Test func `a default for one source only is found`() async throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        try namespace.vethPair()
        try namespace.run("ip", "route", "del", "default")
        let watched = try await Watched.start(in: namespace)
        try await watched.expect(Told(.reachable, because: .routeAdded)) {
            try namespace.run(
                "ip", "-6", "route", "add", "default", "from", "2001:db8::/64", "via", "2001:db8::1", "dev", "up0")
        }
        #expect(watched.state?.ipv6.source?.description == "2001:db8::2")
    }

    // peers 23
    @Test func `a default into the loopback device is no Internet`() async throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        try namespace.run("ip", "addr", "add", "192.0.2.2/32", "dev", "lo")
        let watched = try await Watched.start(in: namespace)
        try await watched.expect(Told(.notReachable, .blackhole, because: .routeAdded, [.path])) {
            try namespace.run("ip", "route", "add", "default", "dev", "lo")
        }
    }

    // peers 38, 52
    @Test func `prefixes become reachable one by one, exactly those`() async throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        try namespace.vethPair()
        try namespace.run("ip", "route", "del", "default")
        let inside = try await Watched.start(Target.address(#require(IPAddress("198.51.100.9"))), in: namespace)
        let outside = try await Watched.start(Target.address(#require(IPAddress("203.0.113.9"))), in: namespace)
        let onLink = try await Watched.start(Target.address(#require(IPAddress("192.0.2.200"))), in: namespace)
        #expect(onLink.state?.status == .reachable)
        try await inside.expect(Told(.reachable, because: .routeAdded)) {
            try namespace.run("ip", "route", "add", "198.51.100.0/24", "via", "192.0.2.1")
        }
        try await inside.expect(Told(.notReachable, .noRoute, because: .routeRemoved)) {
            try namespace.run("ip", "route", "del", "198.51.100.0/24")
        }
        try await outside.drain()
        try await onLink.drain()
        #expect(outside.changes.values.count == 1)
        #expect(onLink.changes.values.count == 1)
    }
}
