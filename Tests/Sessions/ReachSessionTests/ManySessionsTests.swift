import Foundation
import ReachCore
import ReachSession
import ReachTesting
import Testing

/// The sessions of one process next to each other.
@Suite(.timeLimit(.minutes(2))) struct ManySessionsTests {
    @Test func `a hundred sessions in memory share one thread and need few descriptors`() async throws {
        let stage = try SessionStage()
        let descriptors = Self.descriptors
        let sessions = try (0..<100).map { _ in try RequestSession(baseURL: stage.root) }
        for session in sessions { try await session.get("x").response() }
        await Self.awaitThreads(1)
        #expect(Self.descriptors - descriptors <= 250)
        withExtendedLifetime(sessions) {}
    }

    @Test func `the thread ends with the last session, and starts again with the next`() async throws {
        for _ in 0..<3 {
            let stage = try SessionStage()
            let other = try RequestSession()
            try await stage.session.get("x").response()
            try await other.get(stage.root).response()
            await Self.awaitThreads(1)
            await stage.session.closeAndWait()
            try await other.get(stage.root).response()
            await other.closeAndWait()
            await Self.awaitThreads(0)
        }
    }

    @Test func `a session that is closed does not end the tasks of another`() async throws {
        let slow = try SlowServer()
        let (first, second) = (try RequestSession(), try RequestSession())
        let (one, two) = (try first.get(slow.url), try second.get(slow.url))
        one.resume()
        two.resume()
        try await slow.server.requests.wait(for: 2)
        first.close()
        #expect(await failure { try await one.response() } == "closed closed")
        slow.gate.open()
        #expect(try await two.response().statusCode == 200)
    }

    @Test func `sessions in memory may have different classes of links`() async throws {
        let stage = try SessionStage()
        var options = RequestSessionOptions()
        options.linkClasses = ["lo": .wwan]
        let modem = try RequestSession(options: options)
        let waiting = try modem.get(stage.root, when: .wifi)
        waiting.resume()
        try await waiting.stored()
        try await stage.session.get("x").response()
        #expect(waiting.requestState != .completed)
        waiting.cancel()
        try await modem.get(stage.root).response()
    }

    @Test func `a session with a directory has a thread of its own`() async throws {
        let directory = try TemporaryDirectory()
        let stage = try SessionStage(keeping: .directory(directory.path + "/queue"))
        let other = try RequestSession()
        try await stage.session.get("x").response()
        try await other.get(stage.root).response()
        await Self.awaitThreads(2)
        await stage.session.closeAndWait()
    }

    private static var descriptors: Int { entries("/proc/self/fd").count }

    /// Waits until the process has so many threads of sessions: those of earlier tests may still be ending.
    private static func awaitThreads(_ count: Int) async {
        while threads != count { await Task.yield() }
    }

    private static var threads: Int {
        entries("/proc/self/task").filter {
            (try? String(contentsOfFile: "/proc/self/task/\($0)/comm", encoding: .utf8)) == "reach-session\n"
        }.count
    }

    private static func entries(_ path: String) -> [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
    }
}
