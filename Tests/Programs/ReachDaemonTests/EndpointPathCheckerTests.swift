import CReachLinux
import Glibc
import ReachCore
import ReachLoop
import ReachProbe
import ReachQueue
import ReachQueueRuntime
import ReachTesting
import Testing

@testable import ReachDaemon

/// The check of a path for the daemon's queue.
@Suite(.enabled(if: SmallInternet.whyNot == nil, "\(SmallInternet.whyNot ?? "")"), .timeLimit(.minutes(1)))
struct EndpointPathCheckerTests {
    /// A checker with a loop of its own, in the network namespace of a small Internet.
    private final class Stage: Sendable {
        private final class Box: @unchecked Sendable {
            var checker: EndpointPathChecker?
        }

        let broken = EventLog<Bool>()
        private let mailbox: Mailbox
        private let box = Box()

        init(in small: SmallInternet, endpoints: [String]) throws {
            signal(SIGPIPE, SIG_IGN)
            let (box, broken, descriptor) = (box, broken, small.machine.descriptor)
            let (ready, made) = (ThreadGate(), EventLog<Mailbox>())
            BackgroundThread.start(named: "test-checker") {
                reach_enter_network_namespace(descriptor)
                guard let loop = try? EventLoop() else { return ready.open() }
                let checker = EndpointPathChecker(
                    loop: loop, transfers: SharedTransfers(loop: loop))
                checker.use(endpoints.compactMap { ConnectivityEndpoint($0) })
                checker.onBrokenPath = { broken.append(true) }
                box.checker = checker
                made.append(loop.mailbox)
                ready.open()
                loop.run()
                box.checker = nil
            }
            ready.wait()
            guard let mailbox = made.values.first else { throw CancellationError() }
            self.mailbox = mailbox
        }

        deinit { mailbox.post { $0.stop() } }

        func check(_ path: QueuePath) async throws -> Bool? {
            let log = EventLog<Bool?>()
            mailbox.post { [box] _ in box.checker?.check(path) { log.append($0) } }
            return try await log.wait(for: 1)[0]
        }
    }

    private static let plain = "http://198.51.100.80/204"

    private static func path(in small: SmallInternet, _ families: Set<IPAddress.Family> = [.ipv4]) throws -> QueuePath {
        let index = try small.machine.run("cat", "/sys/class/net/up0/ifindex").filter(\.isNumber)
        let traits = PathTraits(linkClass: .wired)
        var path = QueuePath(interfaceIndex: UInt32(index) ?? 0, interface: "up0", traits: traits)
        path.families = families
        path.sources = [try #require(IPAddress("192.0.2.2")), try #require(IPAddress("2001:db8::2"))]
        return path
    }

    @Test func `a path works if the endpoint answers over it, and without endpoints there is no result`() async throws {
        let small = try SmallInternet()
        let path = try Self.path(in: small)
        let stage = try Stage(in: small, endpoints: [Self.plain])
        #expect(try await stage.check(path) == true)
        // Without an address family no request is possible.
        #expect(try await stage.check(try Self.path(in: small, [])) == nil)
        #expect(try await Stage(in: small, endpoints: []).check(path) == nil)
        #expect(stage.broken.values.isEmpty)
    }

    @Test func `a path behind a portal or without answers does not work, and that is reported`()
        async throws
    {
        let small = try SmallInternet()
        let path = try Self.path(in: small)
        let stage = try Stage(in: small, endpoints: [Self.plain])
        try small.openPortal()
        #expect(try await stage.check(path) == false)
        try await stage.broken.wait(for: 1)
        try small.closePortal()
        try small.goDark()
        #expect(try await stage.check(path) == false)
        try await stage.broken.wait(for: 2)
    }

    @Test func `one working address family is enough`() async throws {
        let small = try SmallInternet()
        try small.goDark("ip protocol tcp")
        let stage = try Stage(in: small, endpoints: [Self.plain, "http://[2001:db8:80::80]/204"])
        #expect(try await stage.check(try Self.path(in: small, [.ipv4])) == false)
        #expect(try await stage.check(try Self.path(in: small, [.ipv4, .ipv6])) == true)
        #expect(stage.broken.values.count == 1)
    }
}
