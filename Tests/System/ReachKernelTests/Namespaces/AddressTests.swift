internal import ReachCore
internal import ReachTesting
internal import Testing

private typealias Change = TestEngine.Change

/// The addresses that count as source addresses.
@Suite(.enabled(if: TestNamespace.isAvailable, "\(TestNamespace.whyNot)"), .timeLimit(.minutes(1)))
struct AddressTests {
    /// An uplink with IPv6 only, and a default route.
    private func makeUplink() throws -> TestNamespace {
        let namespace = try TestNamespace()
        try namespace.vethPair()
        try namespace.run("ip", "route", "del", "default")
        try namespace.run("ip", "-6", "route", "add", "default", "via", "2001:db8::1")
        return namespace
    }

    @Test func `an address counts once duplicate address detection has finished`() async throws {
        let namespace = try makeUplink()
        defer { namespace.remove() }
        let watched = try await TestEngine.start(in: namespace)
        try await watched.expect(Change(.notReachable, .noAddress, because: .addressRemoved)) {
            try namespace.run("ip", "addr", "del", "2001:db8::2/64", "dev", "up0")
        }
        // Without `nodad` the address is tentative for a second or more, which is then the root cause.
        try await watched.expect(Change(.notReachable, .noAddress, because: .addressAdded, [.path])) {
            try namespace.run("ip", "addr", "add", "2001:db8::2/64", "dev", "up0")
        }
        #expect(watched.state?.rootCause == RootCause(.addressTentative, interface: "up0"))
        try await watched.expect(Change(.reachable, because: .addressAdded)) {}
    }

    @Test func `a duplicate address does not count`() async throws {
        let namespace = try makeUplink()
        defer { namespace.remove() }
        try namespace.run("ip", "addr", "del", "2001:db8::2/64", "dev", "up0")
        let watched = try await TestEngine.start(in: namespace)
        let link = try await TestEngine.start(Target.interface("up0"), in: namespace)
        // The gateway already uses this address.
        try namespace.run("ip", "addr", "add", "2001:db8::1/64", "dev", "up0")
        try await namespace.waitUntil("dadfailed", in: "ip", "addr", "show", "dev", "up0")
        try await watched.drain()
        try await link.drain()
        #expect(watched.state?.status == .notReachable)
        #expect(link.state?.ipv6.reason == .noAddress)
    }

    @Test func `a deprecated address counts where there is no other, and a renewal causes no change`() async throws {
        let namespace = try makeUplink()
        defer { namespace.remove() }
        func set(_ validSeconds: Int, _ preferredSeconds: Int) throws {
            try namespace.run(
                "ip", "addr", "change", "2001:db8::2/64", "dev", "up0", "valid_lft", "\(validSeconds)",
                "preferred_lft", "\(preferredSeconds)")
        }
        let watched = try await TestEngine.start(in: namespace)
        let link = try await TestEngine.start(Target.interface("up0"), in: namespace)
        try await watched.expectNothing(
            after: {
                try set(1000, 500)
                try set(2000, 1000)
                try set(3000, 0)
            },
            butThen: Change(.notReachable, .noAddress, because: .addressRemoved),
            after: { try namespace.run("ip", "addr", "del", "2001:db8::2/64", "dev", "up0") })
        try await watched.expect(Change(.reachable, because: .addressAdded)) {
            try namespace.run(
                "ip", "addr", "add", "2001:db8::2/64", "dev", "up0", "nodad", "preferred_lft", "0")
        }
        try await link.drain()
        #expect(link.state?.ipv6.source == IPAddress("2001:db8::2"))
        // The kernel sends from another address as soon as there is one.
        try await watched.expect(Change(.reachable, because: .addressAdded, [.path])) {
            try namespace.run("ip", "addr", "add", "2001:db8::3/64", "dev", "up0", "nodad")
        }
        #expect(watched.state?.ipv6.source == IPAddress("2001:db8::3"))
    }

    @Test func `a default route with only a link-local address does not reach the Internet`() async throws {
        let namespace = try makeUplink()
        defer { namespace.remove() }
        try namespace.run("ip", "addr", "add", "fe80::2/64", "dev", "up0", "nodad")
        let watched = try await TestEngine.start(in: namespace)
        try await watched.expect(Change(.notReachable, .noAddress, because: .addressRemoved)) {
            try namespace.run("ip", "addr", "del", "2001:db8::2/64", "dev", "up0")
        }
    }

    @Test func `removing a primary address also removes its secondaries and the route`() async throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        try namespace.vethPair()
        try namespace.run("sysctl", "-qw", "net.ipv4.conf.up0.promote_secondaries=0")
        try namespace.run("sysctl", "-qw", "net.ipv4.conf.all.promote_secondaries=0")
        try namespace.run("ip", "addr", "add", "192.0.2.3/24", "dev", "up0")
        let watched = try await TestEngine.start(in: namespace)
        try await watched.expect(Change(.notReachable, .noRoute, because: .addressRemoved)) {
            try namespace.run("ip", "addr", "del", "192.0.2.2/24", "dev", "up0")
        }
    }

    @Test func `an address of this machine is reachable while the loopback device is up`() async throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        try namespace.vethPair()
        let watched = try await TestEngine.start(Target.address(#require(IPAddress("192.0.2.2"))), in: namespace)
        #expect(watched.state?.linkClass == .loopback)
        try await watched.expect(Change(.notReachable, .linkDown, because: .linkDown)) {
            try namespace.run("ip", "link", "set", "lo", "down")
        }
        try await watched.expect(Change(.reachable, because: .linkUp)) {
            try namespace.run("ip", "link", "set", "lo", "up")
        }
    }
}

extension TestNamespace {
    /// Repeats a command until its output contains a word, for ten seconds at most.
    func waitUntil(_ word: String, in command: String...) async throws {
        for _ in 0..<200 {
            if try run("ip", "netns", "exec", name, command: command).contains(word) { return }
            try await Task.sleep(for: .milliseconds(50))
        }
        Issue.record("no '\(word)' in the output of \(command) within ten seconds")
    }

    private func run(_ prefix: String..., command: [String]) throws -> String {
        try ChildProcess.run(prefix + command)
    }
}
