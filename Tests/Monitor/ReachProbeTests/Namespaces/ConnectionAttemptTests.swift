import Glibc
import ReachCore
import ReachLoop
import ReachTesting
import Testing

@testable import ReachProbe

/// The connections of `reach explain --probe`, on a machine with a real link.
@Suite(.enabled(if: TestNamespace.isAvailable, "\(TestNamespace.whyNot)"), .timeLimit(.minutes(1)))
struct ConnectionAttemptTests {
    @Test func `a host that does not answer ARP does not accept the connection`() async throws {
        let machine = try TestNamespace()
        let far = try TestNamespace()
        try machine.run("ip", "link", "add", "lan0", "type", "veth", "peer", "name", "far", "netns", far.name)
        try machine.run("ip", "link", "set", "lan0", "up")
        try machine.run("ip", "address", "add", "192.0.2.2/24", "dev", "lan0")
        try far.run("ip", "link", "set", "far", "up")
        // The kernel gives up after 3 s, and the attempt after 2.5, so it has to be asking already.
        try machine.run("sh", "-c", "ping -c 1 -W 1 192.0.2.77 >/dev/null || true")
        let host = HostAddress(try #require(IPAddress("192.0.2.77")))
        let answer = try await machine.perform {
            let loop = try EventLoop()
            var answer: ConnectionAnswer?
            let attempt = ConnectionAttempt(host, 80, loop) {
                answer = $0
                loop.stop()
            }
            loop.run()
            withExtendedLifetime(attempt) {}
            return answer
        }
        #expect(answer == .unreachable(EHOSTUNREACH))
    }
}
