internal import ReachCore
internal import ReachTesting
internal import Testing

private typealias Told = Watched.Told

/// Which addresses a machine can send from.
@Suite(.enabled(if: TestNamespace.isAvailable, "\(TestNamespace.whyNot)"), .timeLimit(.minutes(1)))
struct AddressTests {
    /// IPv6 only, with a default route.
    private func makeUplink() throws -> TestNamespace {
        let namespace = try TestNamespace()
        try namespace.vethPair()
        try namespace.run("ip", "route", "del", "default")
        try namespace.run("ip", "-6", "route", "add", "default", "via", "2001:db8::1")
        return namespace
    }

    // peers 19, 21; kernel-facts 3
    @Test func `an address counts once duplicate address detection is over`() async throws {
        let namespace = try makeUplink()
        defer { namespace.remove() }
        let watched = try await Watched.start(in: namespace)
        try await watched.expect(Told(.notReachable, .noAddress, because: .addressRemoved)) {
            try namespace.run("ip", "addr", "del", "2001:db8::2/64", "dev", "up0")
        }
        // Without `nodad` it is tentative for a second and more.
        try await watched.expect(Told(.reachable, because: .addressAdded)) {
            try namespace.run("ip", "addr", "add", "2001:db8::2/64", "dev", "up0")
        }
    }

    // peers 21
    @Test func `a duplicate address does not count`() async throws {
        let namespace = try makeUplink()
        defer { namespace.remove() }
        try namespace.run("ip", "addr", "del", "2001:db8::2/64", "dev", "up0")
        let watched = try await Watched.start(in: namespace)
        let link = try await Watched.start(Target.interface("up0"), in: namespace)
        // The gateway has it already.
        try namespace.run("ip", "addr", "add", "2001:db8::1/64", "dev", "up0")
        try await namespace.waitUntil("dadfailed", in: "ip", "addr", "show", "dev", "up0")
        try await watched.drain()
        try await link.drain()
        #expect(watched.state?.status == .notReachable)
        #expect(link.state?.ipv6.reason == .noAddress)
    }

    // peers 20
    @Test func `a deprecated address does not count, and a renewal tells nothing`() async throws {
        let namespace = try makeUplink()
        defer { namespace.remove() }
        func set(_ validSeconds: Int, _ preferredSeconds: Int) throws {
            try namespace.run(
                "ip", "addr", "change", "2001:db8::2/64", "dev", "up0", "valid_lft", "\(validSeconds)",
                "preferred_lft", "\(preferredSeconds)")
        }
        let watched = try await Watched.start(in: namespace)
        try await watched.expectNothing(
            after: {
                try set(1000, 500)
                try set(2000, 1000)
                try set(3000, 1500)
            },
            butThen: Told(.notReachable, .noAddress, because: .addressChanged), after: { try set(3000, 0) })
        try await watched.expect(Told(.reachable, because: .addressChanged)) { try set(3000, 1500) }
    }

    // kernel-facts 3
    @Test func `a default route with only a link-local address is no way to the Internet`() async throws {
        let namespace = try makeUplink()
        defer { namespace.remove() }
        try namespace.run("ip", "addr", "add", "fe80::2/64", "dev", "up0", "nodad")
        let watched = try await Watched.start(in: namespace)
        try await watched.expect(Told(.notReachable, .noAddress, because: .addressRemoved)) {
            try namespace.run("ip", "addr", "del", "2001:db8::2/64", "dev", "up0")
        }
    }

    // kernel-facts 11
    @Test func `a primary address takes its secondaries and the route with it`() async throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        try namespace.vethPair()
        try namespace.run("sysctl", "-qw", "net.ipv4.conf.up0.promote_secondaries=0")
        try namespace.run("sysctl", "-qw", "net.ipv4.conf.all.promote_secondaries=0")
        try namespace.run("ip", "addr", "add", "192.0.2.3/24", "dev", "up0")
        let watched = try await Watched.start(in: namespace)
        try await watched.expect(Told(.notReachable, .noRoute, because: .addressRemoved)) {
            try namespace.run("ip", "addr", "del", "192.0.2.2/24", "dev", "up0")
        }
    }

    // kernel-facts 10
    @Test func `an address of the machine's own works while the loopback device does`() async throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        try namespace.vethPair()
        let watched = try await Watched.start(Target.address(#require(IPAddress("192.0.2.2"))), in: namespace)
        #expect(watched.state?.linkClass == .loopback)
        try await watched.expect(Told(.notReachable, .linkDown, because: .linkDown)) {
            try namespace.run("ip", "link", "set", "lo", "down")
        }
        try await watched.expect(Told(.reachable, because: .linkUp)) {
            try namespace.run("ip", "link", "set", "lo", "up")
        }
    }
}

extension TestNamespace {
    /// Asks again and again until the answer has this word in it, ten seconds at most.
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
