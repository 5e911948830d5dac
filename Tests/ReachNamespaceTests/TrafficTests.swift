internal import Glibc
internal import ReachCore
internal import ReachKernel
internal import ReachTesting
internal import Testing

/// What the kernel tells of sockets, by real connections over an uplink.
@Suite(.enabled(if: TestNamespace.isAvailable, "\(TestNamespace.whyNot)"), .timeLimit(.minutes(1)))
struct TrafficTests {
    /// An uplink whose far end has two addresses behind it, one in each family, and a route to them.
    private func world() throws -> (TestNamespace, TestNamespace) {
        let namespace = try TestNamespace()
        let peer = try namespace.vethPair()
        for address in ["198.51.100.7/32", "2001:db8:7::7/128"] {
            try peer.run("ip", "address", "add", address, "dev", "lo", "nodad")
        }
        try namespace.run("ip", "route", "add", "default", "via", "2001:db8::1")
        return (namespace, peer)
    }

    private static let window = Duration.seconds(30)

    private func question(
        _ family: IPAddress.Family = .ipv4, from sources: [String] = ["192.0.2.2"], excluding prefixes: [String] = [],
        remotes: Set<TrafficQuestion.Remote> = [], within window: Duration = Self.window
    ) -> TrafficQuestion {
        TrafficQuestion(
            family: family, sources: sources.compactMap(IPAddress.init),
            excludedPrefixes: prefixes.compactMap(IPPrefix.init),
            excludedRemotes: remotes, window: window)
    }

    private func ask(_ question: TrafficQuestion, in namespace: TestNamespace) async throws -> TrafficAnswer {
        try await namespace.perform { TrafficReader().answer(question) }
    }

    @Test func `without a socket nothing moves`() async throws {
        let (namespace, _) = try world()
        defer { namespace.remove() }
        #expect(try await ask(question(), in: namespace) == .still)
        #expect(try await ask(question(from: []), in: namespace) == .still)
    }

    @Test func `a socket that moved bytes both ways counts, and for as long as it was asked`() async throws {
        let (namespace, peer) = try world()
        defer { namespace.remove() }
        let connection = try await TCPConnection.make(from: namespace, to: peer, "198.51.100.7")
        #expect(try await ask(question(), in: namespace) == .still, "no bytes were moved yet")
        connection.talk()
        #expect(try await ask(question(), in: namespace) == .moving)
        // The kernel's own clock has to get beyond the window.
        usleep(60_000)
        #expect(try await ask(question(within: .milliseconds(20)), in: namespace) == .still)
        connection.talk()
        #expect(try await ask(question(within: .milliseconds(1000)), in: namespace) == .moving)
    }

    @Test func `sockets of other addresses, and of other families, do not`() async throws {
        let (namespace, peer) = try world()
        defer { namespace.remove() }
        let connection = try await TCPConnection.make(from: namespace, to: peer, "198.51.100.7")
        connection.talk()
        #expect(try await ask(question(from: ["192.0.2.3"]), in: namespace) == .still)
        #expect(try await ask(question(.ipv6, from: ["2001:db8::2"]), in: namespace) == .still)
        let many = (3...9).map { "192.0.2.\($0)" }
        #expect(try await ask(question(from: many + ["192.0.2.2"]), in: namespace) == .moving)
        #expect(try await ask(question(from: ["192.0.2.2"] + many), in: namespace) == .moving)
        #expect(try await ask(question(from: many), in: namespace) == .still)
    }

    @Test func `what is near, or one's own, or HTTP, does not`() async throws {
        let (namespace, peer) = try world()
        defer { namespace.remove() }
        let connection = try await TCPConnection.make(from: namespace, to: peer, "198.51.100.7")
        connection.talk()
        let others = ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "127.0.0.0/8", "192.0.2.0/24"]
        #expect(try await ask(question(excluding: others), in: namespace) == .moving)
        for place in 0...others.count {
            var prefixes = others
            prefixes.insert("198.51.100.0/24", at: place)
            #expect(try await ask(question(excluding: prefixes), in: namespace) == .still)
        }
        let own = TrafficQuestion.Remote(address: try #require(IPAddress("198.51.100.7")), port: 443)
        #expect(try await ask(question(remotes: [own]), in: namespace) == .still)
        let other = TrafficQuestion.Remote(address: own.address, port: 444)
        #expect(try await ask(question(remotes: [other]), in: namespace) == .moving)
        connection.part()
        let http = try await TCPConnection.make(from: namespace, to: peer, "198.51.100.7", port: 80)
        http.talk()
        #expect(try await ask(question(remotes: [own]), in: namespace) == .still)
    }

    @Test func `IPv6 counts for itself, and IPv6 sockets that talk IPv4 for IPv4`() async throws {
        let (namespace, peer) = try world()
        defer { namespace.remove() }
        let six = try await TCPConnection.make(from: namespace, to: peer, "2001:db8:7::7")
        six.talk()
        #expect(try await ask(question(), in: namespace) == .still)
        #expect(try await ask(question(.ipv6, from: ["2001:db8::2"]), in: namespace) == .moving)
        #expect(
            try await ask(question(.ipv6, from: ["2001:db8::2"], excluding: ["2001:db8:7::/48"]), in: namespace)
                == .still)
        let mapped = try await TCPConnection.make(from: namespace, to: peer, "198.51.100.7", isMapped: true)
        mapped.talk()
        #expect(try await ask(question(), in: namespace) == .moving)
        #expect(try await ask(question(excluding: ["198.51.100.0/24"]), in: namespace) == .still)
    }

    @Test func `a connection that has just been ended counts for a while`() async throws {
        let (namespace, peer) = try world()
        defer { namespace.remove() }
        do {
            let connection = try await TCPConnection.make(from: namespace, to: peer, "198.51.100.7")
            connection.talk()
            connection.part()
        }
        #expect(try await ask(question(within: .seconds(5)), in: namespace) == .moving)
        usleep(60_000)
        #expect(try await ask(question(within: .milliseconds(20)), in: namespace) == .still)
    }

    @Test func `what is sent into the dark does not`() async throws {
        let (namespace, peer) = try world()
        defer { namespace.remove() }
        let connection = try await TCPConnection.make(from: namespace, to: peer, "198.51.100.7")
        connection.talk()
        try peer.run(
            "nft", "add table inet dark; add chain inet dark in { type filter hook input priority 0; policy drop; }")
        usleep(60_000)
        var byte: UInt8 = 2
        send(connection.near, &byte, 1, CInt(MSG_NOSIGNAL))
        #expect(try await ask(question(within: .milliseconds(20)), in: namespace) == .still)
        try peer.run("nft", "delete table inet dark")
        connection.talk()
        #expect(try await ask(question(within: .seconds(1)), in: namespace) == .moving)
    }

    @Test func `a connection that nothing is left of counts where closed ones do, once`() async throws {
        let (namespace, peer) = try world()
        defer { namespace.remove() }
        let reader = TrafficReader()
        reader.setCountsClosed(true)
        let asked = question(within: .seconds(1))
        let before = try await namespace.perform { reader.answer(asked) }
        #expect(before == .still)
        do {
            let connection = try await TCPConnection.make(from: namespace, to: peer, "198.51.100.7")
            connection.talk()
            // The far end closes first: it is the one that remembers.
            connection.part(farFirst: true)
        }
        #expect(try await ask(asked, in: namespace) == .still)
        // The kernel tells of it from a queue of work.
        let deadline = ContinuousClock.now + .seconds(5)
        while try await namespace.perform({ reader.answer(asked) }) != .moving, ContinuousClock.now < deadline {}
        let answers = try await namespace.perform { [self] in
            [
                asked, question(from: ["192.0.2.3"], within: .seconds(1)),
                question(excluding: ["198.51.100.0/24"], within: .seconds(1)),
            ].map(reader.answer)
        }
        #expect(answers == [.moving, .still, .still])
        usleep(60_000)
        let late = question(within: .milliseconds(20))
        let forgotten = try await namespace.perform { reader.answer(late) }
        #expect(forgotten == .still)
    }
}
