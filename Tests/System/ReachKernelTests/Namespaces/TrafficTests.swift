internal import Glibc
internal import ReachCore
internal import ReachKernel
internal import ReachTesting
internal import Testing

/// The kernel's data on sockets, with real connections over an uplink.
@Suite(.enabled(if: TestNamespace.isAvailable, "\(TestNamespace.whyNot)"), .timeLimit(.minutes(1)))
struct TrafficTests {
    /// An uplink, with an address of each family behind its far end and routes to them.
    private func makeUplink() throws -> (TestNamespace, TestNamespace) {
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
            PathSockets(
                family, by: 2, from: sources.compactMap(IPAddress.init), excluding: prefixes.compactMap(IPPrefix.init)),
            excludedRemotes: remotes, window: window)
    }

    private func ask(_ question: TrafficQuestion, in namespace: TestNamespace) async throws -> TrafficAnswer {
        try await namespace.perform { TrafficReader().answer(question) }
    }

    @Test func `without a socket there is no traffic`() async throws {
        let (namespace, _) = try makeUplink()
        defer { namespace.remove() }
        #expect(try await ask(question(), in: namespace) == .still)
        #expect(try await ask(question(from: []), in: namespace) == .still)
    }

    @Test func `a socket that transferred bytes in both directions counts within the window`() async throws {
        let (namespace, peer) = try makeUplink()
        defer { namespace.remove() }
        let connection = try await TCPConnection.make(from: namespace, to: peer, "198.51.100.7")
        #expect(try await ask(question(), in: namespace) == .still, "no bytes were transferred yet")
        connection.exchangeBytes()
        #expect(try await ask(question(), in: namespace) == .moving)
        // The window has to pass on the kernel's own clock.
        usleep(60_000)
        #expect(try await ask(question(within: .milliseconds(20)), in: namespace) == .still)
        connection.exchangeBytes()
        #expect(try await ask(question(within: .milliseconds(1000)), in: namespace) == .moving)
    }

    @Test func `sockets with other local addresses or families do not count`() async throws {
        let (namespace, peer) = try makeUplink()
        defer { namespace.remove() }
        let connection = try await TCPConnection.make(from: namespace, to: peer, "198.51.100.7")
        connection.exchangeBytes()
        #expect(try await ask(question(from: ["192.0.2.3"]), in: namespace) == .still)
        #expect(try await ask(question(.ipv6, from: ["2001:db8::2"]), in: namespace) == .still)
        let many = (3...9).map { "192.0.2.\($0)" }
        #expect(try await ask(question(from: many + ["192.0.2.2"]), in: namespace) == .moving)
        #expect(try await ask(question(from: ["192.0.2.2"] + many), in: namespace) == .moving)
        #expect(try await ask(question(from: many), in: namespace) == .still)
    }

    @Test func `excluded prefixes, the caller's own connections and HTTP do not count`() async throws {
        let (namespace, peer) = try makeUplink()
        defer { namespace.remove() }
        let connection = try await TCPConnection.make(from: namespace, to: peer, "198.51.100.7")
        connection.exchangeBytes()
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
        connection.shutDown()
        let http = try await TCPConnection.make(from: namespace, to: peer, "198.51.100.7", port: 80)
        http.exchangeBytes()
        #expect(try await ask(question(remotes: [own]), in: namespace) == .still)
    }

    @Test func `what a user sends to this machine's address on another link does not count`() async throws {
        let (namespace, _) = try makeUplink()
        defer { namespace.remove() }
        try namespace.run("ip", "address", "add", "203.0.113.9/32", "dev", "lo")
        try namespace.run(
            "ip", "route", "replace", "local", "203.0.113.9", "dev", "lo", "table", "local", "src", "192.0.2.2")
        let connection = try await TCPConnection.make(from: namespace, to: namespace, "203.0.113.9")
        connection.exchangeBytes()
        var traffic = question()
        var silence = SilenceQuestion(traffic.sockets, hearing: Self.window)
        #expect(try await ask(traffic, in: namespace) == .moving, "as from another host")
        let heard = try await namespace.perform { [silence] in TrafficReader().answer(silence) }
        #expect(heard == .heard)
        let address = try #require(IPAddress("203.0.113.9"))
        let many = (0..<300).map { IPAddress(ipv4: 0xcb00_7200 + $0) }
        for own in [OwnAddresses([address]), OwnAddresses([address] + many), OwnAddresses(many + [address])] {
            (traffic.sockets.own, silence.sockets.own) = (own, own)
            #expect(try await ask(traffic, in: namespace) == .still)
            let answer = try await namespace.perform { [silence] in TrafficReader().answer(silence) }
            #expect(answer == .sample(SilenceSample()))
        }
    }

    @Test func `IPv6 sockets count for IPv6, or with IPv4-mapped addresses for IPv4`() async throws {
        let (namespace, peer) = try makeUplink()
        defer { namespace.remove() }
        let six = try await TCPConnection.make(from: namespace, to: peer, "2001:db8:7::7")
        six.exchangeBytes()
        #expect(try await ask(question(), in: namespace) == .still)
        #expect(try await ask(question(.ipv6, from: ["2001:db8::2"]), in: namespace) == .moving)
        #expect(
            try await ask(question(.ipv6, from: ["2001:db8::2"], excluding: ["2001:db8:7::/48"]), in: namespace)
                == .still)
        let mapped = try await TCPConnection.make(from: namespace, to: peer, "198.51.100.7", isMapped: true)
        mapped.exchangeBytes()
        #expect(try await ask(question(), in: namespace) == .moving)
        #expect(try await ask(question(excluding: ["198.51.100.0/24"]), in: namespace) == .still)
    }

    @Test func `a connection that was just closed counts within the window`() async throws {
        let (namespace, peer) = try makeUplink()
        defer { namespace.remove() }
        do {
            let connection = try await TCPConnection.make(from: namespace, to: peer, "198.51.100.7")
            connection.exchangeBytes()
            connection.shutDown()
        }
        #expect(try await ask(question(within: .seconds(5)), in: namespace) == .moving)
        usleep(60_000)
        #expect(try await ask(question(within: .milliseconds(20)), in: namespace) == .still)
    }

    @Test func `a packet without an answer does not count`() async throws {
        let (namespace, peer) = try makeUplink()
        defer { namespace.remove() }
        let connection = try await TCPConnection.make(from: namespace, to: peer, "198.51.100.7")
        connection.exchangeBytes()
        try peer.run(
            "nft", "add table inet dark; add chain inet dark in { type filter hook input priority 0; policy drop; }")
        usleep(60_000)
        var byte: UInt8 = 2
        send(connection.near, &byte, 1, CInt(MSG_NOSIGNAL))
        #expect(try await ask(question(within: .milliseconds(20)), in: namespace) == .still)
        try peer.run("nft", "delete table inet dark")
        connection.exchangeBytes()
        #expect(try await ask(question(within: .seconds(1)), in: namespace) == .moving)
    }

    @Test func `a closed connection without a trace counts where closed sockets count`() async throws {
        let (namespace, peer) = try makeUplink()
        defer { namespace.remove() }
        let reader = TrafficReader()
        reader.setCountsClosed(true)
        let asked = question(within: .seconds(1))
        let before = try await namespace.perform { reader.answer(asked) }
        #expect(before == .still)
        do {
            let connection = try await TCPConnection.make(from: namespace, to: peer, "198.51.100.7")
            connection.exchangeBytes()
            // The end that closes first keeps TIME_WAIT, so the far end closes first here.
            connection.shutDown(farFirst: true)
        }
        #expect(try await ask(asked, in: namespace) == .still)
        // The kernel sends the message from a work queue.
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
