import ReachCore
import ReachSession
import ReachTesting
import Testing

/// Requests while the network disappears and returns.
@Suite(.enabled(if: TestNamespace.isAvailable, "\(TestNamespace.whyNot)"), .timeLimit(.minutes(1)))
struct NetworkTests {
    private static let url = "http://192.0.2.1/"

    @Test func `a request waits for Wi-Fi, explains why, and starts when it is available`() async throws {
        let scene = try NetworkScene()
        try scene.link(up: false)
        let log = EventLog<String>()
        scene.session.addObserver { if $0.name != .didStart { log.append("\($0.name)") } }
        let task = try scene.session.get(Self.url, when: .wifi).resume()
        try await log.wait { $0 == "didSuspend" }
        #expect(task.requestState == .suspended && task.suspensionReasons == .network)
        let explanation = await task.explanation()
        let text = "There is no network path to http://192.0.2.1:80. It starts when there is one."
        #expect(explanation.description == text)
        #expect(explanation.reasons.map(\.word) == ["no-path"])
        #expect(scene.server.requests.values.isEmpty)
        try scene.link(up: true)
        #expect(try await task.response().statusCode == 200)
        #expect(try await log.wait(for: 4) == ["didResume", "didSuspend", "didResume", "didComplete"])
    }

    @Test func `in memory a request that nobody asked to wait ends after a minute without a network`() async throws {
        let scene = try NetworkScene { $0.patience = .milliseconds(50) }
        try scene.link(up: false)
        // Those that are asked to wait do.
        var (patient, expiring) = (RequestOptions(), RequestOptions())
        patient.waitsForConnectivity = true
        expiring.expiresAfter = .seconds(3600)
        let waiting = [
            try scene.session.get(Self.url, options: patient).resume(),
            try scene.session.get(Self.url, options: expiring).resume(),
            try scene.session.get(Self.url, when: .wifi).resume(),
        ]
        for constraint in [RequestConstraint.any, .reachable] {
            let task = try scene.session.get(Self.url, when: constraint)
            guard case .failure(let error) = await task.awaitedResult else { throw TestFailure("no error") }
            #expect(error.kind == .offline && !error.description.isEmpty)
        }
        #expect(waiting.allSatisfy { $0.result == nil })
        try scene.link(up: true)
        for task in waiting { #expect(try await task.response().statusCode == 200) }
        // The time begins when the network is lost.
        #expect(try await scene.session.get(Self.url).response().statusCode == 200)
    }

    @Test func `the network's return does not resume what its user suspended, nor vice versa`() async throws {
        let scene = try NetworkScene()
        try scene.link(up: false)
        let log = EventLog<String>()
        let task = try scene.session.get(Self.url, when: .any)
        scene.session.addObserver { if $0.name != .didStart { log.append("\($0.name)") } }
        task.resume()
        try await log.wait { $0 == "didSuspend" }
        task.suspend()
        #expect(task.suspensionReasons == [.user, .network])
        task.resume()
        #expect(task.suspensionReasons == .network && task.requestState == .suspended)
        task.suspend()
        try scene.link(up: true)
        // Another request, which no user suspends, shows that the network is available.
        try await scene.session.get(Self.url, when: .any).response()
        #expect(task.requestState == .suspended && task.suspensionReasons.contains(.user))
        #expect(scene.server.requests.values.count == 1)
        task.resume()
        #expect(try await task.response().statusCode == 200)
    }

    @Test func `losing the network suspends a running request, which is sent again`() async throws {
        let scene = try NetworkScene()
        let gate = ThreadGate()
        let server = try ScriptedServer(in: scene.peer, at: IPAddress(ipv4: 0xc000_0201), port: 8080) { connection in
            connection.readRequest()
            gate.wait()
            connection.write(SessionStage.answer("{}"))
        }
        let log = EventLog<String>()
        scene.session.addObserver { if $0.name != .didStart { log.append("\($0.name)") } }
        let task = try scene.session.get("http://192.0.2.1:8080/", when: .wifi).resume()
        try await server.requests.wait(for: 1)
        #expect(task.requestState == .running)
        try scene.link(up: false)
        try await log.wait { $0 == "didSuspend" }
        #expect(task.suspensionReasons == .network)
        gate.open()
        try scene.link(up: true)
        #expect(try await task.response().statusCode == 200)
        #expect(server.requests.values.count == 2)
    }

    @Test func `resolving a name does not suspend a task for the network`() async throws {
        let stage = try SessionStage()
        let log = EventLog<String>()
        stage.session.addObserver { if $0.name != .didStart { log.append("\($0.name)") } }
        try await stage.session.get("http://localhost:\(stage.server.port)/").response()
        #expect(try await log.wait(for: 2) == ["didResume", "didComplete"])
    }

    @Test(.enabled(if: NameServer.isAvailable, "\(NameServer.whyNot)"))
    func `a name that does not exist is an error for a single attempt with the Internet reachable`() async throws {
        let scene = try NetworkScene()
        let names = try NameServer(
            ["--address=/host.example/192.0.2.1", "--address=/nobody.example/"], port: 53, in: scene.peer)
        let directory = try TemporaryDirectory()
        let resolver = try directory.file("resolv.conf", "nameserver 192.0.2.1\n")
        let program = BuiltProgram(named: "getonce").path
        func get(_ url: String) throws -> String {
            try scene.machine.run(
                "unshare", "-m", "sh", "-c",
                "mount --bind \(resolver) /etc/resolv.conf && exec timeout 20 \(program) \(url)")
        }
        #expect(try get("http://host.example/") == "200\n")
        #expect(
            try get("http://nobody.example/")
                == "destination name-not-found nobody.example: there is no host of this name\n")
        withExtendedLifetime(names) {}
    }

    @Test func `a request uses the path to its own host without the Internet`() async throws {
        let scene = try NetworkScene()
        try scene.machine.run("ip", "route", "delete", "default")
        #expect(try await scene.session.get(Self.url).response().statusCode == 200)
        #expect(try await scene.session.get(Self.url, when: .any).response().statusCode == 200)
        let elsewhere = try scene.session.get("http://203.0.113.77/", when: .any).resume()
        #expect(await elsewhere.explanation().reasons.map(\.word) == ["no-path"])
    }

    @Test func `a request over its own host's path survives changes of other paths`() async throws {
        let scene = try NetworkScene()
        try scene.machine.run("ip", "route", "delete", "default")
        let gate = ThreadGate()
        let server = try ScriptedServer(in: scene.peer, at: IPAddress(ipv4: 0xc000_0201), port: 8080) { connection in
            connection.readRequest()
            gate.wait()
            connection.write(SessionStage.answer("{}"))
        }
        let task = try scene.session.get("http://192.0.2.1:8080/").resume()
        try await server.requests.wait(for: 1)
        // A path to the Internet appears and disappears, over another link.
        try scene.machine.run("ip", "link", "add", "d0", "type", "veth", "peer", "name", "d1")
        try scene.machine.run("ip", "address", "add", "198.51.100.2/24", "dev", "d0")
        for name in ["d0", "d1"] { try scene.machine.run("ip", "link", "set", name, "up") }
        try scene.machine.run("ip", "route", "add", "default", "via", "198.51.100.1", "dev", "d0")
        // This request uses the new path, which shows that the session has seen it.
        let other = try scene.session.get("http://203.0.113.9/", when: .any).resume()
        while await other.explanation().state != "running" { await Task.yield() }
        other.cancel()
        try scene.machine.run("ip", "link", "delete", "d0")
        // Longer than an attempt survives the loss of its path.
        try await Task.sleep(for: .milliseconds(2500))
        gate.open()
        #expect(try await task.response().statusCode == 200)
        #expect(server.requests.values.count == 1)
    }
}
