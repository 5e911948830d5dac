import ReachCore
import ReachKernel
import ReachLoop
import ReachTesting
import Testing

@testable import ReachProbe

/// The sockets of echo requests. Here the line is the loopback.
@Suite(.enabled(if: TestNamespace.isAvailable, "\(TestNamespace.whyNot)"), .timeLimit(.minutes(1)))
struct QualityWatchTests {
    private static func namespace() throws -> TestNamespace {
        let namespace = try TestNamespace()
        try namespace.run("ip", "link", "set", "lo", "up")
        try namespace.run("sysctl", "-qw", "net.ipv4.ping_group_range=0 2147483647")
        return namespace
    }

    private static func path(to witness: UInt32) -> QualityPath {
        let route = DefaultRoute(key: .init(family: .ipv4, interface: 1), name: "lo", traits: PathTraits())
        return QualityPath(route, witnesses: [IPAddress(ipv4: witness)])
    }

    private static func watch(_ loop: EventLoop) -> QualityWatch {
        QualityWatch(
            loop: loop, traffic: TrafficReader(), interval: .milliseconds(20), onChange: {}, onDoubt: {},
            onPeriod: { _ in })
    }

    @Test func `a request that is answered leaves no socket`() async throws {
        let (quality, isClosed) = try await Self.namespace().perform {
            let loop = try EventLoop()
            let before = loop.watchCount
            let watch = Self.watch(loop)
            watch.update([Self.path(to: 0x7f00_0001)], own: OwnAddresses())
            _ = loop.runs { watch.qualities["lo"] != nil }
            return (watch.qualities["lo"], loop.runs { loop.watchCount == before })
        }
        #expect(quality?.roundTrip != nil && isClosed)
    }

    @Test func `a request without an answer is closed with its line, after a sleep, and with the watch`() async throws {
        let namespace = try Self.namespace()
        try namespace.run(
            "nft", "add table inet t; add chain inet t in { type filter hook input priority 0; policy drop; }")
        let found = try await namespace.perform {
            let loop = try EventLoop()
            let before = (loop.watchCount, loop.timerCount)
            var watch: QualityWatch? = Self.watch(loop)
            /// What is watched once a request was sent, and after it was given up.
            func sent(_ giveUp: () -> Void) -> [Int] {
                watch?.update([Self.path(to: 0x7f00_0001)], own: OwnAddresses())
                _ = loop.runs { loop.watchCount > before.0 }
                let open = loop.watchCount - before.0
                giveUp()
                return [open, loop.watchCount - before.0, loop.timerCount - before.1]
            }
            return [
                sent { watch?.update([], own: OwnAddresses()) }, sent { watch?.restart() }, sent { watch = nil },
            ]
        }
        #expect(found == [[1, 0, 0], [1, 0, 0], [1, 0, 0]])
    }
}
