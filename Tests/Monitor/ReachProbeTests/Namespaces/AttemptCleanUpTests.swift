import Glibc
import ReachCore
import ReachKernel
import ReachLoop
import ReachTesting
import ReachTransfer
import Testing

@testable import ReachProbe
import ReachRecords

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
    /// - Returns: How many more descriptors are open than before, and how many more the loop watches, or has timers of.
    private static func left(
        _ make: @escaping @Sendable (HostAddress, EventLoop) throws -> any DiagnosisAttempt
    ) async throws -> (open: Int, watched: Int, timers: Int) {
        let namespace = try namespace()
        try namespace.vethPair()
        return try await namespace.perform {
            let loop = try EventLoop()
            let host = HostAddress(IPAddress(ipv4: 0x7f00_0001))
            let before = (openDescriptors, loop.watchCount, loop.timerCount)
            for _ in 0..<100 { _ = try make(host, loop) }
            return (openDescriptors - before.0, loop.watchCount - before.1, loop.timerCount - before.2)
        }
    }

    private static var hop: FirstHop {
        FirstHop(
            interface: "up0", interfaceIndex: InterfaceIndex(bitPattern: if_nametoindex("up0")),
            address: IPAddress(ipv4: 0xc000_0201))
    }

    @Test func `attempts that are given up close their sockets, and are not called again`() async throws {
        for left in [
            try await Self.left { TraceAttempt($0, $1) { _ in } }, try await Self.left { LineSampler($0, $1) { _ in } },
            try await Self.left { SizedPing($0, isLarge: false, $1) { _ in } },
            try await Self.left { ConnectionAttempt($0, 80, $1) { _ in } },
            try await Self.left { BurstAttempt($0, 80, on: nil, $1) { _ in } },
            try await Self.left { OwnersAttempt(Self.hop, $1) { _ in } },
            try await Self.left { Solicitation(Self.hop, try KernelSnapshot().view.queries, $1) { _ in } },
            try await Self.left {
                ForwardAttempt(Self.hop, HardwareAddress([2, 0, 0, 0, 0, 1])!, $0, from: $0.address, $1) { _ in }
            },
            try await Self.left {
                let question = NameServerQuestion(
                    server: NameServerAddress($0, port: 53), name: "a.example", family: .ipv4, isByTCP: false)
                return NameServerAttempt(question, $1) { _ in }
            },
        ] {
            #expect(left.open < 50 && left.watched == 0 && left.timers == 0, "\(left)")
        }
    }

    @Test func `tests of a path for silence that are given up close their sockets, and have no timer`() async throws {
        let namespace = try Self.namespace()
        try namespace.run(
            "nft", "add table inet t; add chain inet t in { type filter hook input priority 0; policy drop; }")
        let (begun, left) = try await namespace.perform {
            let loop = try EventLoop()
            let route = DefaultRoute(key: .init(family: .ipv4, interface: 1), name: "lo", traits: PathTraits())
            let server = TrafficQuestion.Remote(address: IPAddress(ipv4: 0x7f00_0001), port: 9)
            let before = (Self.openDescriptors, loop.watchCount, loop.timerCount)
            var tests = (0..<100).map { _ in
                HandshakeTest([server], by: route, most: 1, within: .seconds(10), on: loop) { _ in }
            }
            let limit = SystemClock.boot + .seconds(5)
            func check() {
                if loop.watchCount >= before.1 + 100 || SystemClock.boot > limit { return loop.stop() }
                loop.schedule(at: SystemClock.boot + .milliseconds(1), check)
            }
            loop.afterEvents(check)
            loop.run()
            let begun = tests.reduce(0) { $0 + $1.begun }
            tests = []
            return (
                begun,
                (
                    open: Self.openDescriptors - before.0, watched: loop.watchCount - before.1,
                    timers: loop.timerCount - before.2
                )
            )
        }
        #expect(begun == 100)
        #expect(left.open < 50 && left.watched == 0 && left.timers == 0, "\(left)")
    }

    /// What a hundred attempts at a silent host open, and what is left of them once they are cancelled.
    private struct Trace: Sendable {
        var opened = 0
        var left = 0
        var timers = 0
        var transfers = 0
        var ended = 0
    }

    /// - Parameter target: What sends, and gets no answer.
    private static func cancelled(_ target: String, in namespace: TestNamespace) async throws -> Trace {
        let specification = ProbeSpecification(name: "x", target: try ProbeTarget(target))
        return try await namespace.perform {
            let loop = try EventLoop()
            let runner = ProbeRunner(loop: loop, transfers: try TransferEngine(loop: loop))
            var ended = 0
            /// Starts attempts, and cancels them once each has a socket.
            func attempt(_ count: Int) -> (attempts: [any ProbeAttempt], opened: Int) {
                let before = openDescriptors
                let attempts = (0..<count).map { _ in
                    runner.start(ProbeTerms(specification), binding: nil) { _ in ended += 1 }
                }
                let limit = SystemClock.boot + .seconds(5)
                func check() {
                    if openDescriptors - before >= count || SystemClock.boot > limit { return loop.stop() }
                    loop.schedule(at: SystemClock.boot + .milliseconds(1), check)
                }
                loop.afterEvents(check)
                loop.run()
                let opened = openDescriptors - before
                attempts.forEach { $0.cancel() }
                // What is put off to the end of a turn.
                loop.schedule(at: SystemClock.boot + .milliseconds(1)) { loop.stop() }
                loop.run()
                return (attempts, opened)
            }
            // What the first one begins, such as the resolver's, stays.
            _ = attempt(1)
            let before = (openDescriptors, loop.timerCount)
            let (attempts, opened) = attempt(100)
            return withExtendedLifetime(attempts) {
                Trace(
                    opened: opened, left: openDescriptors - before.0, timers: loop.timerCount - before.1,
                    transfers: runner.transfers.runningCount, ended: ended)
            }
        }
    }

    @Test(arguments: ["tcp://127.0.0.1:9", "icmp://127.0.0.1", "dns://127.0.0.1/a.example"])
    func `attempts of probes that are cancelled leave no socket and no timer`(target: String) async throws {
        let namespace = try Self.namespace()
        try namespace.run(
            "nft", "add table inet t; add chain inet t in { type filter hook input priority 0; policy drop; }")
        let trace = try await Self.cancelled(target, in: namespace)
        #expect(trace.opened >= 100 && trace.ended == 0, "\(trace)")
        // libcurl's own timer may run a moment longer.
        #expect(trace.left < 50 && trace.timers < 50 && trace.transfers == 0, "\(trace)")
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
