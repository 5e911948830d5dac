import Glibc
import ReachCore
import ReachLoop
import ReachTesting
import ReachTransfer
import Testing

@testable import ReachProbe

/// What is left of attempts that nobody waits for any more.
@Suite(.enabled(if: TestNamespace.isAvailable, "\(TestNamespace.whyNot)"), .timeLimit(.minutes(1)))
struct AttemptCleanUpTests {
    private static var openDescriptors: Int { (0..<4096).count { fcntl(CInt($0), F_GETFD) >= 0 } }

    private static func namespace() throws -> TestNamespace {
        let namespace = try TestNamespace()
        try namespace.run("ip", "link", "set", "lo", "up")
        try namespace.run("sysctl", "-qw", "net.ipv4.ping_group_range=0 2147483647")
        return namespace
    }

    /// Makes many, since other threads of the tests may open or close a few descriptors.
    ///
    /// - Returns: How many more descriptors are open than before.
    private static func left(
        _ make: @escaping @Sendable (HostAddress, EventLoop) throws -> any DiagnosisAttempt
    ) async throws -> Int {
        let namespace = try namespace()
        return try await namespace.perform {
            let loop = try EventLoop()
            let host = HostAddress(IPAddress(ipv4: 0x7f00_0001))
            let before = openDescriptors
            for _ in 0..<100 { _ = try make(host, loop) }
            return openDescriptors - before
        }
    }

    @Test func `attempts that are given up close their sockets`() async throws {
        #expect(try await Self.left { TraceAttempt($0, $1) { _ in } } < 50)
        #expect(try await Self.left { LineSampler($0, $1) { _ in } } < 50)
        #expect(try await Self.left { SizedPing($0, isLarge: false, $1) { _ in } } < 50)
        #expect(try await Self.left { ConnectionAttempt($0, 80, $1) { _ in } } < 50)
    }

    @Test func `attempts of probes that have ended leave no timer`() async throws {
        let namespace = try Self.namespace()
        let scene = try RunnerScene(in: namespace)
        for target in ["tcp://127.0.0.1:9", "icmp://127.0.0.1"] {
            // What the first attempt begins, such as the resolver's, stays.
            _ = try await scene.run(target)
            let first = try await scene.timers()
            for _ in 0..<3 { _ = try await scene.run(target) }
            #expect(try await scene.timers() == first, "\(target)")
        }
    }
}
