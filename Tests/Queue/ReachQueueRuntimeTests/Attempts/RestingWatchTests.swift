import ReachCore
import ReachQueue
import ReachTesting
import Testing

@testable import ReachQueueRuntime

/// How long a host is watched for its requests.
@Suite(
    .enabled(if: TestNamespace.isAvailable, "\(TestNamespace.whyNot)"),
    .enabled(if: WebServer.isAvailable, "\(WebServer.whyNot)"), .timeLimit(.minutes(2)))
struct RestingWatchTests {
    @Test func `the watch of a host goes on from one request to the next, and ends after the last one`() async throws {
        let scene = try RouteScene()
        for _ in 0..<2 {
            #expect(try await scene.source(of: RouteScene.intranet, when: "reachable") == RouteScene.lan)
            let watched = await scene.room.ask { $0.queue.watches.count }
            #expect(watched == 1)
        }
        while await scene.room.ask({ !$0.queue.watches.isEmpty }) { usleepSeconds(0.05) }
        let states = await scene.room.ask { $0.queue.targets.count }
        #expect(states == 0)
    }

    @Test func `a host that rests is seen to go before its next request`() async throws {
        let scene = try RouteScene()
        #expect(try await scene.source(of: RouteScene.intranet, when: "reachable") == RouteScene.lan)
        try scene.ip("link set lan0 down")
        let next = try await scene.room.add(RouteScene.intranet, when: "reachable")
        #expect(try await !scene.blockers(of: next).isEmpty)
        try scene.links.bring(up: "lan0")
        #expect(try await scene.answer(to: next) == RouteScene.lan)
    }
}
