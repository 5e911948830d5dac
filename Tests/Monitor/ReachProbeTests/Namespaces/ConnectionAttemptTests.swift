import Glibc
import ReachCore
import ReachLoop
import ReachTesting
import Testing

@testable import ReachProbe
import ReachRecords

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
        #expect(try await Self.connect("192.0.2.77", 80, in: machine) == .unreachable(EHOSTUNREACH))
    }

    @Test func `what the machine's own firewall rejects by ICMP was not sent, also where an error names the host`()
        async throws
    {
        let machine = try TestNamespace()
        try machine.vethPair()
        try machine.run("ip", "link", "set", "lo", "up")
        try machine.run("sysctl", "-qw", "net.ipv4.icmp_ratelimit=0", "net.ipv6.icmp.ratelimit=0")
        try machine.run(
            "nft",
            """
            add table inet own; add chain inet own o { type filter hook output priority 0; }
            add rule inet own o tcp dport 81 reject with icmpx port-unreachable
            add rule inet own o tcp dport 82 reject with icmpx admin-prohibited
            add rule inet own o tcp dport 83 limit rate 1/minute burst 1 packets drop
            add rule inet own o tcp dport 83 reject with icmp host-unreachable
            """)
        for address in ["192.0.2.1", "2001:db8::1"] {
            #expect(try await Self.connect(address, 80, in: machine) == .refused)
            #expect(try await Self.connect(address, 81, in: machine) == .failed(EPERM), "\(address)")
            #expect(try await Self.connect(address, 82, in: machine) == .failed(EPERM), "\(address)")
        }
        #expect(try await Self.connect("192.0.2.1", 83, in: machine) == .failed(EPERM), "the repetition is rejected")
    }

    @Test(arguments: [(84, .refused), (85, .silent)] as [(UInt16, ConnectionAnswer)])
    func `where one connection finds silence, another's refusal counts, and its failure is no connection`(
        port: UInt16, answer: ConnectionAnswer
    ) async throws {
        let machine = try TestNamespace()
        let peer = try machine.vethPair()
        // As a way that is broken for the ports of some connections.
        try peer.run(
            "nft",
            """
            add table inet t; add chain inet t i { type filter hook input priority 0; }
            add set inet t first { type inet_service; flags dynamic; }
            add rule inet t i meta l4proto tcp limit rate 1/minute burst 1 packets add @first { tcp sport } drop
            add rule inet t i tcp dport 85 tcp sport != @first reject with icmp host-unreachable
            add rule inet t i tcp sport @first drop
            """)
        #expect(try await Self.connect("192.0.2.1", port, in: machine) == answer)
    }

    @Test func `who rejects a connection on the way is named, and is not taken for the host`() async throws {
        let machine = try TestNamespace()
        let router = try machine.vethPair()
        try machine.run("ip", "route", "add", "198.51.100.0/24", "via", "192.0.2.1")
        try router.run(
            "nft",
            """
            add table inet t; add chain inet t f { type filter hook prerouting priority 0; }
            add rule inet t f tcp dport 86 reject with icmp port-unreachable
            add rule inet t f tcp dport 87 reject with icmp host-unreachable
            """)
        let by = try #require(IPAddress("192.0.2.1"))
        let forbidden = ConnectionAnswer.unreachable(EHOSTUNREACH, WayComplaint(by: by, .prohibited))
        #expect(try await Self.connect("198.51.100.7", 86, in: machine) == forbidden)
        let missing = ConnectionAnswer.unreachable(EHOSTUNREACH, WayComplaint(by: by, .hostMissing))
        #expect(try await Self.connect("198.51.100.7", 87, in: machine) == missing)
    }

    private static func connect(
        _ address: String, _ port: UInt16, in machine: TestNamespace
    ) async throws -> ConnectionAnswer? {
        let host = HostAddress(try #require(IPAddress(address)))
        return try await machine.perform {
            let loop = try EventLoop()
            var answer: ConnectionAnswer?
            let attempt = ConnectionAttempt(host, port, loop) {
                answer = $0
                loop.stop()
            }
            loop.run()
            withExtendedLifetime(attempt) {}
            return answer
        }
    }
}
