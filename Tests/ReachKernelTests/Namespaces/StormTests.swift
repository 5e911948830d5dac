internal import ReachCore
internal import ReachKernel
internal import ReachTesting
internal import Testing

private typealias Change = TestEngine.Change

/// Irrelevant notices, and more notices than the queue holds.
@Suite(.enabled(if: TestNamespace.isAvailable, "\(TestNamespace.whyNot)"), .timeLimit(.minutes(2)))
struct StormTests {
    @Test func `containers that come and go cause no change`() async throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        try namespace.vethPair()
        let watched = try await TestEngine.start(in: namespace)
        let cycle = (0..<50).map { number in
            """
            link add c\(number) type veth peer name d\(number)
            link set c\(number) up
            link set d\(number) up
            addr add 198.51.100.\(number + 1)/32 dev c\(number)
            link del c\(number)
            """
        }
        try await watched.expectNothing(
            after: { try namespace.batch(cycle.joined(separator: "\n")) },
            butThen: Change(.notReachable, .noRoute, because: .routeRemoved),
            after: { try namespace.run("ip", "route", "del", "default") })
    }

    @Test func `the kernel drops notices of routes to other networks`() async throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        try namespace.vethPair()
        let watched = try await TestEngine.start(in: namespace)
        let routes = (0..<5000).map { "198.18.\($0 / 250).\($0 % 250)/32" }
        let adds = routes.map { "route add \($0) via 192.0.2.1" }
        let deletes = routes.map { "route del \($0)" }
        try await watched.expectNothing(
            after: { try namespace.batch((adds + deletes).joined(separator: "\n")) },
            butThen: Change(.notReachable, .noRoute, because: .routeRemoved),
            after: { try namespace.run("ip", "route", "del", "default") })
        #expect(watched.others.values.isEmpty)
    }

    @Test func `after a loss the engine reads everything again and reports a resync`() async throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        try namespace.vethPair()
        var options = EngineOptions()
        // Every notice arrives, in a queue that holds only a few.
        options.observer.wantsEveryNotice = true
        options.observer.receiveBufferBytes = 2048
        let watched = try await TestEngine.start(in: namespace, options: options)
        let flapping = (0..<200).flatMap { _ in ["route del default", "route add default via 192.0.2.1"] }
        try watched.whileStalled { try namespace.batch(flapping.joined(separator: "\n")) }
        try await watched.others.wait { $0.hasPrefix("resync:") }
        try namespace.run("ip", "route", "del", "default")
        // There is at most one resync a second, so the last one may take a second.
        try await watched.changes.wait(within: .seconds(5)) { $0.last?.state.status == .notReachable }
        try namespace.run("ip", "route", "add", "default", "via", "192.0.2.1")
        let last = try await watched.changes.wait(within: .seconds(5)) { $0.last?.state.isReachable == true }
        #expect(last.last?.state.isStale == false)
    }

    @Test func `the receive buffer reports the size that the kernel granted`() async throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        let socket = try NoticeSocket(filter: nil)
        #expect(socket.receiveBufferBytes >= 2 * NoticeSocket.defaultBufferBytes)
        #expect(try NoticeSocket(filter: nil, bufferBytes: 100_000).receiveBufferBytes == 200_000)
    }

    @Test func `removing one of two routes that differ only in the gateway changes the path`() async throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        try namespace.vethPair()
        let watched = try await TestEngine.start(in: namespace)
        try await watched.expectNothing(
            after: { try namespace.run("ip", "route", "append", "default", "via", "192.0.2.5") },
            butThen: Change(.reachable, because: .routeRemoved, [.path]),
            after: { try namespace.run("ip", "route", "del", "default", "via", "192.0.2.1") })
        #expect(watched.state?.ipv4.gateway?.description == "192.0.2.5")
    }

    @Test func `two engines in one process both report a change`() async throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        try namespace.vethPair()
        let first = try await TestEngine.start(in: namespace)
        let second = try await TestEngine.start(in: namespace)
        try namespace.run("ip", "route", "del", "default")
        for watched in [first, second] {
            let change = try await watched.changes.wait(for: 2)[1]
            #expect(Change(change) == Change(.notReachable, .noRoute, because: .routeRemoved))
        }
    }

    // A notice may come before its change is complete: without KernelQueries.awaitChanges() the engine misses some.
    @Test func `none of two hundred silent route removals is missed`() async throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        try namespace.vethPair()
        let watched = try await TestEngine.start(in: namespace)
        for _ in 0..<200 {
            try await watched.expect(Change(.notReachable, .noRoute, because: .addressRemoved)) {
                try namespace.run("ip", "addr", "del", "192.0.2.2/24", "dev", "up0")
            }
            try namespace.run("ip", "addr", "add", "192.0.2.2/24", "dev", "up0")
            try await watched.drain()
            try await watched.expect(Change(.reachable, because: .routeAdded)) {
                try namespace.run("ip", "route", "add", "default", "via", "192.0.2.1")
            }
        }
    }

    @Test func `a change that ends within the hold-down is not reported`() async throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        try namespace.vethPair()
        var options = EngineOptions()
        options.holdDown = HoldDown(down: .seconds(30))
        let watched = try await TestEngine.start(in: namespace, options: options)
        try await watched.expectNothing(
            after: {
                try namespace.run("ip", "route", "del", "default")
                try namespace.run("ip", "route", "add", "default", "via", "192.0.2.1")
            },
            butThen: Change(.reachable, because: .routeReplaced, [.path]),
            after: { try namespace.run("ip", "route", "replace", "default", "via", "192.0.2.4") })
        options.holdDown = HoldDown(down: .milliseconds(200))
        let brief = try await TestEngine.start(in: namespace, options: options)
        try await brief.expect(Change(.notReachable, .noRoute, because: .holdElapsed)) {
            try namespace.run("ip", "route", "del", "default")
        }
    }
}

extension TestNamespace {
    /// Runs many `ip` commands, one a line, in few processes: an argument holds 128 KiB.
    func batch(_ commands: String) throws {
        var rest = commands.split(separator: "\n")[...]
        while !rest.isEmpty {
            let part = rest.prefix(1500).joined(separator: "\n")
            rest = rest.dropFirst(1500)
            let script = "printf '%s\\n' \"$1\" | ip -n \"$0\" -force -batch - 2>&1 || true"
            try ChildProcess.run(["sh", "-c", script, name, part])
        }
    }
}
