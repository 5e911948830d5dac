internal import ReachCore
internal import ReachKernel
internal import ReachTesting
internal import Testing

private typealias Change = TestEngine.Change

/// Routes and rules of many kinds.
@Suite(.enabled(if: TestNamespace.isAvailable, "\(TestNamespace.whyNot)"), .timeLimit(.minutes(1)))
struct RoutingTests {
    @Test func `the better of two default routes counts, and the other replaces it with one change`() async throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        try namespace.vethPair()
        let watched = try await TestEngine.start(in: namespace)
        try await watched.expectNothing(
            after: { try namespace.run("ip", "route", "add", "default", "via", "192.0.2.5", "metric", "900") },
            butThen: Change(.reachable, because: .routeRemoved, [.path]),
            after: { try namespace.run("ip", "route", "del", "default", "metric", "0") })
        #expect(watched.state?.ipv4.gateway?.description == "192.0.2.5")
        #expect(watched.state?.ipv4.metric == 900)
    }

    // VPN clients add such a route as a kill switch.
    @Test(arguments: [
        ("unreachable", Reason.unreachable), ("blackhole", Reason.blackhole), ("prohibit", Reason.prohibited),
    ])
    func `a refusing default route with a better metric is detected, and so is its removal`(
        type: String, reason: Reason
    ) async throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        try namespace.vethPair()
        try namespace.run("ip", "route", "replace", "default", "via", "192.0.2.1", "metric", "100")
        try namespace.run("ip", "route", "del", "default", "metric", "0")
        let watched = try await TestEngine.start(in: namespace)
        try await watched.expect(Change(.notReachable, reason, because: .routeAdded)) {
            try namespace.run("ip", "route", "add", type, "default", "metric", "50")
        }
        try await watched.expect(Change(.reachable, because: .routeRemoved)) {
            try namespace.run("ip", "route", "del", type, "default", "metric", "50")
        }
    }

    @Test func `multipath routes and IPv4 routes with an IPv6 gateway are paths`() async throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        try namespace.vethPair()
        let watched = try await TestEngine.start(in: namespace)
        try await watched.expect(Change(.reachable, because: .routeReplaced, [.path])) {
            try namespace.run("ip", "route", "replace", "0.0.0.0/0", "via", "inet6", "2001:db8::1", "dev", "up0")
        }
        #expect(watched.state?.ipv4.gateway?.family == .ipv6)
        try namespace.run("ip", "route", "del", "default")
        try await watched.changes.wait(for: 3)
        try await watched.expect(Change(.reachable, because: .routeAdded)) {
            try namespace.run(
                "ip", "route", "add", "default", "nexthop", "via", "192.0.2.3", "dev", "up0", "nexthop", "via",
                "192.0.2.3", "dev", "up0")
        }
        #expect(watched.state?.ipv4.gateway?.description == "192.0.2.3")
    }

    @Test func `two halves of a default route reach the Internet, and one half does not`() async throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        try namespace.vethPair()
        try namespace.run("ip", "route", "del", "default")
        let watched = try await TestEngine.start(in: namespace)
        try await watched.expectNothing(
            after: { try namespace.run("ip", "route", "add", "0.0.0.0/1", "via", "192.0.2.1") },
            butThen: Change(.reachable, because: .routeAdded),
            after: { try namespace.run("ip", "route", "add", "128.0.0.0/1", "via", "192.0.2.1") })
    }

    // Proxies and VPNs that carry one protocol alone.
    @Test func `a URL is asked as what programs send to it, since rules look at protocols and ports`() async throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        try namespace.vethPair()
        let rule = ["rule", "add", "pref", "90", "ipproto", "tcp", "dport", "8443", "prohibit"]
        try ChildProcess.run(["ip", "-n", namespace.name] + rule)
        for (text, isRefused) in [
            ("https://203.0.113.9:8443/a", true), ("http://203.0.113.9:8443/", true), ("https://203.0.113.9/", false),
            ("203.0.113.9", false),
        ] {
            let target = try Target(text)
            let expected: ReachabilityStatus = isRefused ? .notReachable : .reachable
            for target in [target, target.watched] {
                let asked = try await namespace.perform { try KernelSnapshot().state(of: target) }
                #expect(asked.status == expected && asked.reason == (isRefused ? .prohibited : nil), "\(text)")
                let watched = try await TestEngine.start(target, in: namespace)
                #expect(watched.state?.status == expected, "\(text), watched")
            }
            let explained = try await namespace.perform { try Explainer().explain(target) }
            #expect(explained.verdict.status == expected, "\(text), explained")
        }
    }

    @Test func `a default route in a table of its own counts for the mark whose rule selects the table`() async throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        try namespace.vethPair()
        try namespace.run("ip", "route", "del", "default")
        try namespace.run("ip", "route", "add", "default", "via", "192.0.2.1", "table", "77")
        var options = ReachabilityEngine.Options()
        options.mark = 0x17
        let marked = try await TestEngine.start(in: namespace, options: options)
        options.mark = 0x18
        let other = try await TestEngine.start(in: namespace, options: options)
        try await marked.expect(Change(.reachable, because: .ruleAdded)) {
            try namespace.run("ip", "rule", "add", "fwmark", "0x17", "lookup", "77")
        }
        #expect(marked.state?.ipv4.table == 77)
        try await marked.expect(Change(.notReachable, .noRoute, because: .ruleRemoved)) {
            try namespace.run("ip", "rule", "del", "fwmark", "0x17", "lookup", "77")
        }
        try await other.drain()
        #expect(other.changes.values.count == 1)
    }

    // Such a rule changes no route, so a monitor of routes misses it.
    @Test(arguments: [
        ("unreachable", Reason.noRoute), ("blackhole", Reason.blackhole), ("prohibit", Reason.prohibited),
    ])
    func `a rule that refuses is detected`(action: String, reason: Reason) async throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        try namespace.vethPair()
        let watched = try await TestEngine.start(in: namespace)
        try await watched.expect(Change(.notReachable, reason, because: .ruleAdded)) {
            try namespace.run("ip", "rule", "add", "priority", "50", action)
        }
        try await watched.expect(Change(.reachable, because: .ruleRemoved)) {
            try namespace.run("ip", "rule", "del", "priority", "50")
        }
    }

    @Test func `each family gains and loses its path independently`() async throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        try namespace.vethPair()
        let watched = try await TestEngine.start(in: namespace)
        #expect(watched.state?.ipv6.reason == .noRoute)
        try await watched.expect(Change(.reachable, because: .routeAdded, [.path])) {
            try namespace.run("ip", "-6", "route", "add", "default", "via", "2001:db8::1")
        }
        #expect(watched.state?.ipv6.status == .reachable)
        try await watched.expect(Change(.reachable, because: .routeRemoved, [.path])) {
            try namespace.run("ip", "route", "del", "default")
        }
        #expect(watched.state?.ipv4.reason == .noRoute)
        try await watched.expect(Change(.notReachable, .noRoute, because: .routeRemoved)) {
            try namespace.run("ip", "-6", "route", "del", "default")
        }
        try await watched.expect(Change(.reachable, because: .routeAdded)) {
            try namespace.run("ip", "route", "add", "default", "via", "192.0.2.1")
        }
    }

    @Test func `taking down a link with both families is one change`() async throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        try namespace.vethPair()
        try namespace.run("ip", "-6", "route", "add", "default", "via", "2001:db8::1")
        let watched = try await TestEngine.start(in: namespace)
        try await watched.expect(Change(.notReachable, .noRoute, because: .linkDown)) {
            try namespace.run("ip", "link", "set", "up0", "down")
        }
        try await watched.drain()
        #expect(watched.changes.values.count == 2)
    }

    @Test func `a default route for one source only is found`() async throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        try namespace.vethPair()
        try namespace.run("ip", "route", "del", "default")
        let watched = try await TestEngine.start(in: namespace)
        try await watched.expect(Change(.reachable, because: .routeAdded)) {
            try namespace.run(
                "ip", "-6", "route", "add", "default", "from", "2001:db8::/64", "via", "2001:db8::1", "dev", "up0")
        }
        #expect(watched.state?.ipv6.source?.description == "2001:db8::2")
    }

    @Test func `a default route by the loopback device does not reach the Internet`() async throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        try namespace.run("ip", "addr", "add", "192.0.2.2/32", "dev", "lo")
        let watched = try await TestEngine.start(in: namespace)
        try await watched.expect(Change(.notReachable, .blackhole, because: .routeAdded, [.path])) {
            try namespace.run("ip", "route", "add", "default", "dev", "lo")
        }
    }

    @Test func `a route makes exactly its own prefix reachable`() async throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        try namespace.vethPair()
        try namespace.run("ip", "route", "del", "default")
        let inside = try await TestEngine.start(Target.address(#require(IPAddress("198.51.100.9"))), in: namespace)
        let outside = try await TestEngine.start(Target.address(#require(IPAddress("203.0.113.9"))), in: namespace)
        let onLink = try await TestEngine.start(Target.address(#require(IPAddress("192.0.2.200"))), in: namespace)
        #expect(onLink.state?.status == .reachable)
        try await inside.expect(Change(.reachable, because: .routeAdded)) {
            try namespace.run("ip", "route", "add", "198.51.100.0/24", "via", "192.0.2.1")
        }
        try await inside.expect(Change(.notReachable, .noRoute, because: .routeRemoved)) {
            try namespace.run("ip", "route", "del", "198.51.100.0/24")
        }
        try await outside.drain()
        try await onLink.drain()
        #expect(outside.changes.values.count == 1)
        #expect(onLink.changes.values.count == 1)
    }
}
