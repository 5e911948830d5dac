internal import Glibc
internal import ReachCore
internal import ReachKernel
internal import ReachLoop
internal import ReachProbe
internal import ReachTesting
internal import Synchronization
internal import Testing

/// Paths that become silent while TCP connections use them, with a real router and a real kernel.
@Suite(.enabled(if: SmallInternet.whyNot == nil, "\(SmallInternet.whyNot ?? "")"), .timeLimit(.minutes(2)))
struct SilenceTests {
    /// Connections of the machine to several hosts of the Internet, over each of which a byte is sent every 100 ms.
    private final class Traffic: Sendable {
        private let connections: [TCPConnection]
        private let isRunning = Mutex(true)

        init(in small: SmallInternet, to addresses: [String] = ["198.51.100.7", "198.51.100.53", "198.51.100.80"])
            async throws
        {
            var made: [TCPConnection] = []
            for address in addresses {
                made.append(try await .make(from: small.machine, to: small.internet, address, port: 5222))
            }
            connections = made
            BackgroundThread.start(named: "reach-traffic") { [weak self, made] in
                while self?.isRunning.withLock({ $0 }) == true {
                    for connection in made {
                        var byte: UInt8 = 1
                        send(connection.near, &byte, 1, CInt(MSG_NOSIGNAL) | CInt(MSG_DONTWAIT))
                    }
                    usleep(100_000)
                }
            }
        }

        deinit { stop() }

        func stop() { isRunning.withLock { $0 = false } }
    }

    private func provedEngine(in small: SmallInternet) async throws -> ValidatingEngine {
        // With a patience of 5 s three failing checks take 18 s.
        let validated = try await ValidatingEngine.start(in: small, timeout: .seconds(5))
        try await validated.changes.wait { $0.state.ipv4.connectivity == .full && $0.state.ipv6.connectivity == .full }
        return validated
    }

    @Test func `an upstream that goes dark under three connections is known within 4 s, and its return as well`()
        async throws
    {
        let small = try SmallInternet()
        let validated = try await provedEngine(in: small)
        let traffic = try await Traffic(in: small)
        try await Task.sleep(for: .milliseconds(500))
        try small.goDark()
        let dark = ContinuousClock.now
        let reported = try await validated.wait(for: .limited)
        #expect(reported - dark < .seconds(4))
        try await Task.sleep(for: .seconds(1))
        try small.comeBack()
        let light = ContinuousClock.now
        let back = try await validated.wait(for: .full)
        #expect(back - light < .seconds(4))
        traffic.stop()
    }

    @Test func `traffic by the gateway wakes the thread once a second`() async throws {
        let small = try SmallInternet()
        let validated = try await provedEngine(in: small)
        for gateway in ["192.0.2.1", "2001:db8::1"] {
            try small.machine.run("ip", "neighbour", "change", gateway, "dev", "up0", "nud", "stale")
        }
        let traffic = try await Traffic(in: small)
        // The kernel confirms the gateway within seconds; this is the same notice.
        try small.machine.run("ip", "neighbour", "change", "192.0.2.1", "dev", "up0", "nud", "reachable")
        let begun = validated.switches
        try await Task.sleep(for: .seconds(2))
        #expect((1...5).contains(validated.switches - begun))
        traffic.stop()
    }

    @Test func `one user's connections to where no one answers lead to tests, and close nothing`() async throws {
        let small = try SmallInternet()
        let validated = try await provedEngine(in: small)
        let addresses = ["198.51.100.7", "198.51.100.53"]
        let traffic = try await Traffic(in: small, to: addresses)
        try small.goDark("ip daddr { \(addresses.joined(separator: ", ")) } tcp dport 5222")
        let limit = ContinuousClock.now + .seconds(8)
        while try await validated.silence.tests == 0, ContinuousClock.now < limit {
            try await Task.sleep(for: .milliseconds(100))
        }
        try await Task.sleep(for: .seconds(2))
        let found = try await validated.silence
        #expect(found.tests >= 1 && found.tests <= 2 && found.silent == 0)
        #expect(validated.state?.connectivity == .full)
        traffic.stop()
    }
}
