internal import ReachCore
internal import ReachKernel
internal import ReachLoop
internal import ReachTesting
internal import Testing

private typealias Change = TestEngine.Change

/// Gateways that did not answer, and do now. The kernel's entry stays failed until something is sent to them.
@Suite(.enabled(if: TestNamespace.isAvailable, "\(TestNamespace.whyNot)"), .timeLimit(.minutes(1)))
struct FailedNeighbourTests {
    private func failGateway(in namespace: TestNamespace) throws {
        // The kernel announces only the failure of an entry that was valid.
        for state in ["stale", "failed"] {
            try namespace.run(
                "ip", "neigh", "replace", "192.0.2.1", "lladdr", "02:00:00:00:00:01", "dev", "up0", "nud", state)
        }
    }

    @Test func `what failed without a carrier counts no more when the carrier is back`() async throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        let peer = try namespace.vethPair()
        let watched = try await TestEngine.start(in: namespace)
        try await watched.expect(Change(.notReachable, .noCarrier, because: .carrierLost)) {
            try peer.run("ip", "link", "set", "up1", "down")
        }
        try failGateway(in: namespace)
        try await watched.expect(Change(.reachable, because: .carrierGained)) {
            try peer.run("ip", "link", "set", "up1", "up")
        }
    }

    @Test func `nor does it for a gateway that is first asked about after the carrier`() async throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        let peer = try namespace.vethPair()
        try namespace.run("ip", "route", "del", "default")
        let link = EventLog<ReachabilityChange>()
        let watched = try await TestEngine.start(in: namespace, and: "up0", interfaceChanges: link)
        try peer.run("ip", "link", "set", "up1", "down")
        try await link.wait { $0.last?.state.isReachable == false }
        try failGateway(in: namespace)
        // The kernel counts the age of an entry in hundredths of a second.
        try await Task.sleep(for: .milliseconds(30))
        try peer.run("ip", "link", "set", "up1", "up")
        try await link.wait { $0.last?.state.isReachable == true }
        try namespace.run("ip", "route", "add", "default", "via", "192.0.2.1")
        try await watched.changes.wait { $0.last?.state.status == .reachable }
        #expect(!watched.changes.values.contains { $0.state.reason == .gatewayUnreachable })
    }

    @Test func `nor for a single query, for which the kernel's own traces of the carrier have to do`() async throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        let peer = try namespace.vethPair()
        let watched = try await TestEngine.start(in: namespace)
        try await watched.expect(Change(.notReachable, .noCarrier, because: .carrierLost)) {
            try peer.run("ip", "link", "set", "up1", "down")
        }
        // A report of the link's groups that is sent without a carrier leaves the trace by which the carrier is dated. The
        // last ones of those that the link sends when it is set up come two seconds later.
        try namespace.run("sysctl", "-qw", "net.ipv6.conf.up0.mldv2_unsolicited_report_interval=3600000")
        try await Task.sleep(for: .seconds(2))
        try failGateway(in: namespace)
        try namespace.run("ip", "-6", "neigh", "flush", "dev", "up0", "nud", "noarp")
        // What fails within a tenth of a second before the carrier cannot be distinguished from what fails after it.
        try await namespace.perform {
            let (queries, gateway) = (try KernelQueries(), IPAddress(ipv4: 0xc000_0201))
            let link = try #require(try queries.links().first { $0.name == "up0" })
            let key = Neighbour.Key(interface: link.index, address: gateway)
            let deadline = ContinuousClock.now + .seconds(10)
            while try queries.neighbourAges(key).map({ $0.updated < .milliseconds(150) }) ?? true,
                ContinuousClock.now < deadline
            {}
        }
        try await watched.expect(Change(.reachable, because: .carrierGained)) {
            try peer.run("ip", "link", "set", "up1", "up")
        }
        // The kernel reports the link's groups a moment after the carrier.
        var state = try await namespace.perform { try KernelSnapshot().state(of: .internet) }
        let deadline = ContinuousClock.now + .seconds(10)
        while state.status != .reachable, ContinuousClock.now < deadline {
            state = try await namespace.perform { try KernelSnapshot().state(of: .internet) }
        }
        #expect(state.status == .reachable)
        #expect(try namespace.run("ip", "neigh", "show", "192.0.2.1").contains("FAILED"))
        try failGateway(in: namespace)
        let dead = try await namespace.perform { try KernelSnapshot().state(of: .internet) }
        #expect(dead.reason == .gatewayUnreachable)
    }

    // Routers' advertisements set these, and administrators of large networks.
    @Test func `a neighbour is waited for as long as its own device's settings say`() async throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        let peer = try namespace.vethPair()
        try peer.run("ip", "address", "del", "192.0.2.1/24", "dev", "up1")
        let settings = "net.ipv4.neigh.up0."
        try namespace.run("sysctl", "-qw", settings + "base_reachable_time_ms=90000", settings + "retrans_time_ms=4000")
        let times = try await namespace.perform {
            let queries = try KernelQueries()
            return try queries.neighbourTimes(of: try #require(try queries.links().first { $0.name == "up0" }).index)
        }
        #expect(times[.ipv4] == NeighbourTimes(reachable: .seconds(90), retransmission: .seconds(4)))
        #expect(times[.ipv6] == NeighbourTimes())
        try namespace.run("sysctl", "-qw", settings + "retrans_time_ms=20000")
        _ = try? namespace.run("ping", "-c", "1", "-W", "1", "192.0.2.1")
        let watched = try await TestEngine.start(in: namespace)
        #expect(watched.state?.ipv4.neighbour == .incomplete)
        // Three times the usual second.
        try await Task.sleep(for: .seconds(4))
        #expect(watched.state?.isReachable == true && watched.changes.values.count == 1)
    }

    @Test func `when a gateway answered for the last time is the kernel's word, however long it remembers that`()
        async throws
    {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        let peer = try namespace.vethPair()
        try namespace.run("sysctl", "-qw", "net.ipv4.neigh.up0.base_reachable_time_ms=900000")
        let lastAnswer = {
            try await namespace.perform {
                let queries = try KernelQueries()
                let link = try #require(try queries.links().first { $0.name == "up0" })
                return try queries.lastAnswer(
                    of: Neighbour.Key(interface: link.index, address: IPAddress(ipv4: 0xc000_0201)))
            }
        }
        #expect(try await lastAnswer() == nil, "it was never asked")
        let start = SystemClock.now.wall
        try namespace.run("ping", "-c", "1", "-W", "5", "192.0.2.1")
        let answered = try #require(try await lastAnswer())
        // The kernel counts ages in hundredths of a second.
        #expect(answered + .milliseconds(20) >= start && answered <= SystemClock.now.wall)
        // Longer than what the kernel rounds away.
        try await Task.sleep(for: .milliseconds(100))
        try peer.run("ip", "address", "del", "192.0.2.1/24", "dev", "up1")
        let dead = SystemClock.now.wall
        try await Task.sleep(for: .milliseconds(50))
        #expect(try #require(try await lastAnswer()) < dead, "the kernel calls it reachable for minutes")
    }

    @Test func `a failed gateway is asked again for those who wait for a path, and for no one else`() async throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        try namespace.vethPair()
        let watched = try await TestEngine.start(in: namespace)
        try await watched.expect(Change(.notReachable, .gatewayUnreachable, because: .neighbour)) {
            try failGateway(in: namespace)
        }
        try await watched.drain()
        #expect(try namespace.run("ip", "neigh", "show", "192.0.2.1").contains("FAILED"))
        try await watched.expect(Change(.reachable, because: .neighbour)) {
            watched.perform { _ = $0.askNeighbours() }
        }
    }

    @Test func `a gateway that is back is found without anything else that is sent`() async throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        let peer = try namespace.vethPair()
        try peer.run("ip", "address", "del", "192.0.2.1/24", "dev", "up1")
        try failGateway(in: namespace)
        let watched = try await TestEngine.start(in: namespace)
        #expect(watched.state?.reason == .gatewayUnreachable)
        watched.perform { _ = $0.askNeighbours() }
        try await watched.drain()
        try peer.run("ip", "address", "add", "192.0.2.1/24", "dev", "up1")
        try await watched.changes.wait { $0.last?.state.status == .reachable }
    }
}
