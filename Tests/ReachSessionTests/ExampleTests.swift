import Foundation
import ReachCore
import ReachSession
import ReachSessionFoundation
import ReachTesting
import Testing

/// The README's example, and notifications through Foundation.
@Suite(.timeLimit(.minutes(1))) struct ExampleTests {
    @Test func `the README's example is the code of the tested program`() {
        let readme = ProjectFile.text("README.md")
        let program = ProjectFile.text("Tests/Support/upload/Main.swift")
        guard let start = readme.range(of: "import ReachSession\n\n"),
            let end = readme[start.upperBound...].range(of: "```")
        else {
            Issue.record("the README has no example")
            return
        }
        let lines = readme[start.upperBound..<end.lowerBound].split(separator: "\n")
        #expect(lines.count == 5)
        for line in lines.dropFirst() {
            let code = line.split(separator: "  //")[0].replacingOccurrences(
                of: #""/var/log/example.log""#, with: "file"
            )
            .replacingOccurrences(of: #""https://example.org/logs/1""#, with: "url")
            #expect(program.contains("        \(code)\n"), "\(code)")
        }
    }

    @Test(.enabled(if: TestNamespace.isAvailable, "\(TestNamespace.whyNot)"))
    func `the README's example holds an upload until there is Wi-Fi, even across runs`() async throws {
        let machine = try TestNamespace()
        defer { machine.remove() }
        let peer = try machine.vethPair()
        let server = try ScriptedServer(in: peer, at: IPAddress(ipv4: 0xc000_0201), port: 80) { connection in
            connection.write(SessionStage.echo(connection.readRequest()))
        }
        try machine.run("ip", "link", "set", "up0", "down")
        let directory = try TemporaryDirectory()
        let file = try directory.file("log", "what happened")
        let arguments = [directory.path + "/queue", file, "http://192.0.2.1/logs/1", "up*"]
        let program = BuiltProgram(named: "upload")
        // Killed while it waits: the next run sends the request that was printed as stored.
        let first = try program.start(arguments, in: machine.name)
        #expect(try first.nextLine(within: .seconds(10)) == "stored as 1")
        #expect(try first.nextLine(within: .seconds(10)) == "No path satisfies 'wifi'. It starts when there is one.")
        first.send(SIGKILL)
        _ = try? first.finish(within: .seconds(5))
        let second = try program.start(arguments, in: machine.name)
        #expect(try second.nextLine(within: .seconds(10)) == "stored as 2")
        try machine.run("ip", "link", "set", "up0", "up")
        try machine.run("ip", "route", "add", "default", "via", "192.0.2.1")
        let result = try second.finish(within: .seconds(20))
        #expect(result.status == 0 && result.standardOutput.hasSuffix("the server said 200\n"))
        let requests = try await server.requests.wait(for: 2)
        #expect(requests.allSatisfy { $0.hasPrefix("PUT /logs/1 HTTP/1.1\r\n") && $0.hasSuffix("what happened") })
    }

    @Test func `Foundation's notification centre receives notifications of tasks`() async throws {
        let stage = try SessionStage()
        let center = NotificationCenter()
        let log = EventLog<String>()
        for name in [Notification.Name.requestDidResume, .requestDidSuspend, .requestDidComplete] {
            _ = center.addObserver(forName: name, object: nil, queue: nil) { notification in
                let object = notification.userInfo?[RequestNotification.Key.serializedResponse.rawValue]
                log.append("\(notification.name.rawValue) \((object as? ResponseObject)?.json == nil)")
            }
        }
        let token = stage.session.postNotifications(to: center)
        try await stage.session.get("").response()
        #expect(try await log.wait(for: 2) == ["io.reach.request.resume true", "io.reach.request.complete false"])
        stage.session.removeObserver(token)
        try await stage.session.get("").response()
        #expect(log.values.count == 2)
    }
}
