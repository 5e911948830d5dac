import Glibc
import ReachCore
import ReachKernel
import ReachLoop
import ReachTesting
import Testing

@testable import ReachProbe

/// What the tests of paths cost is reported, since metered links have budgets. Here the path is the loopback.
@Suite struct SilenceWatchTests {
    private let loop: EventLoop
    private let route = DefaultRoute(key: .init(family: .ipv4, interface: 1), name: "lo", traits: PathTraits())
    private let server: TrafficQuestion.Remote

    init() throws {
        loop = try EventLoop()
        server = .init(address: IPAddress(ipv4: 0x7f00_0001), port: try TestProgram.freePort())
    }

    /// The handshakes of the tests that are reported until the loop has nothing more to do for them.
    private func reported(_ carryOut: (SilenceWatch) -> Void) -> [Int] {
        var handshakes: [Int] = []
        let watched = loop.watchCount
        let watch = SilenceWatch(loop: loop, traffic: TrafficReader()) { event in
            guard case .tested(let key, let count) = event, key == route.key else { return }
            handshakes.append(count)
        }
        carryOut(watch)
        let limit = SystemClock.boot + .seconds(10)
        func check() {
            // The one timer is this.
            if loop.timerCount == 0 || SystemClock.boot > limit { return loop.afterEvents { [loop] in loop.stop() } }
            loop.schedule(at: SystemClock.boot + .milliseconds(1), check)
        }
        loop.schedule(at: SystemClock.boot, check)
        loop.run()
        watch.stop()
        #expect(loop.watchCount == watched)
        return handshakes
    }

    private var test: SilenceCommand { .test(route, [server], most: 3, within: .seconds(10), 1) }

    @Test func `a test that is answered, be it by a refusal, has begun one connection`() {
        #expect(reported { $0.carryOut([test]) } == [1])
    }

    @Test func `what a test sent before it was cancelled counts, and one that sent nothing does not`() {
        let begun = reported { watch in
            watch.carryOut([test])
            // The connection begins at the first timer, and this is the second of the same turn.
            loop.schedule(at: SystemClock.boot) { watch.carryOut([.cancel(1)]) }
        }
        #expect(begun == [1])
        #expect(reported { $0.carryOut([test, .cancel(1)]) } == [])
        #expect(reported { $0.carryOut([.cancel(7)]) } == [])
    }

    @Test func `the kernel's counters are open, and a timer runs, only while a path is watched`() {
        func open() -> Int { (0..<4096).count { fcntl(CInt($0), F_GETFD) >= 0 } }
        let before = open()
        var used = route
        used.neighbour = .reachable
        let path = SilencePath(used, .working, servers: [server], allowed: SystemClock.boot)
        // Many, since other threads of the tests may open or close a few descriptors.
        let watches = (0..<100).map { _ in SilenceWatch(loop: loop, traffic: TrafficReader()) { _ in } }
        watches.forEach { $0.update([path], own: OwnAddresses()) }
        #expect(open() - before > 50 && loop.timerCount == 100)
        watches.forEach { $0.update([], own: OwnAddresses()) }
        #expect(open() - before < 50 && loop.timerCount == 0)
    }
}
