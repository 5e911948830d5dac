import Logging
import ReachServices
import ReachSession
import ReachTesting
import Reachability
import ServiceLifecycle
import ServiceLifecycleTestKit
import Testing

@Suite(.timeLimit(.minutes(1))) struct ServiceTests {
    @Test func `a monitor runs as long as its group`() async throws {
        let monitor = ReachabilityMonitor(try Target("127.0.0.1"))
        try await testGracefulShutdown { trigger in
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await monitor.run() }
                _ = try await monitor.wait { $0.isReachable }
                #expect(monitor.isRunning)
                trigger.triggerGracefulShutdown()
                try await group.waitForAll()
            }
        }
        #expect(!monitor.isRunning)
    }

    @Test(arguments: [false, true])
    func `a session ends with its group, and keeps what is stored`(isCancelled: Bool) async throws {
        let (directory, gate) = (try TemporaryDirectory(), ThreadGate())
        defer { gate.open() }
        let server = try ScriptedServer { connection in
            connection.readRequest()
            gate.wait()
            connection.write("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        }
        let place = RequestSession.Keeping.directory(directory.path + "/queue")
        let session = try makeSession(keeping: place)
        let task = try session.post("http://127.0.0.1:\(server.port)/").resume()
        try await task.stored()
        while server.requests.values.isEmpty { try await Task.sleep(for: .milliseconds(5)) }
        try await testGracefulShutdown { trigger in
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await session.run() }
                if isCancelled { group.cancelAll() } else { trigger.triggerGracefulShutdown() }
                try await group.waitForAll()
            }
        }
        let error = await #expect(throws: RequestError.self) { try await task.response() }
        #expect(error?.kind == .closed)
        gate.open()
        let later = try makeSession(keeping: place)
        let stored = await later.tasks().first
        #expect(try await stored?.response().statusCode == 200)
        await later.closeAndWait()
    }
}
