import Glibc
import ReachCore
import ReachFleet
import ReachFleetLink
import ReachLoop
import ReachTesting
import Testing

/// An agent with its daemon and its engine.
private final class AgentFixture {
    static let host = "till-17"

    let directory = try! TemporaryDirectory()
    let server: NATSServerProcess
    let daemon: FakeDaemon
    private var program: RunningProgram?

    init() throws {
        server = try NATSServerProcess()
        daemon = try FakeDaemon(at: directory.path + "/reach.sock")
        try makeStreams()
        try directory.file(
            "fleet.toml",
            """
            servers = ["\(server.server)"]
            host = "\(Self.host)"
            send = ["status", "wake"]
            lease = "10s"
            spread = "1s"
            """)
        try start()
    }

    deinit { daemon.stop() }

    private func makeStreams() throws {
        let stream = try JetStream(server.connect())
        for (name, subject) in [
            (FleetNames.events, "reach.v1.ev.*"), (FleetNames.stream(of: FleetNames.state), "$KV.reach_state.>"),
            (FleetNames.stream(of: FleetNames.lease), "$KV.reach_lease.>"),
        ] {
            let text = "{\"name\":\"\(name)\",\"subjects\":[\"\(subject)\"],\"allow_direct\":true}"
            _ = try stream.createStream(name, Array(text.utf8))
        }
    }

    var arguments: [String] {
        [
            "--config", directory.path + "/fleet.toml", "--socket", daemon.path, "--runtime", directory.path,
        ]
    }

    func start() throws {
        program = try BuiltProgram(named: "reach-fleet").start(["agent", "--state", directory.path] + arguments)
    }

    func kill() throws {
        program?.send(SIGKILL)
        _ = try program?.finish()
        program = nil
    }

    /// Says goodbye.
    func stop() throws -> Int32 {
        program?.send(SIGTERM)
        defer { program = nil }
        return try program?.finish().status ?? -1
    }

    /// The numbers of the events in the stream, in its order.
    func stored() throws -> [UInt64] {
        let stream = try JetStream(server.connect())
        var numbers: [UInt64] = []
        try stream.read(FleetNames.events, filter: FleetNames.eventSubject(of: Self.host), from: .first) {
            (message) throws(NATSError) in
            guard let chunk = try? EventChunk(headers: message.headers, payload: message.payload) else { return }
            numbers += chunk.events().events.map(\.n)
        }
        return numbers
    }

    func waitForEvents(_ count: Int) throws {
        try waitUntil("\(count) events", within: .seconds(40)) { try self.stored().count >= count }
    }

    func entry(in bucket: String) throws -> KeyValueEntry? {
        try JetStream(server.connect()).entry(Self.host, in: bucket)
    }
}

@Suite struct `The agent with a real server` {
    @Test func `events, state and lease arrive, and the goodbye`() throws {
        let fixture = try AgentFixture()
        for _ in 1...250 { fixture.daemon.record() }
        try fixture.waitForEvents(250)
        #expect(try fixture.stored() == Array(1...250))
        try waitUntil("the state with all events") {
            guard let value = try fixture.entry(in: FleetNames.state)?.value else { return false }
            return try HostState(value).n == 250
        }
        let state = try HostState(#require(try fixture.entry(in: FleetNames.state)?.value))
        #expect(state.host == AgentFixture.host)
        #expect(state.status?.status == .reachable)
        #expect(state.outbox.behind == 0)
        #expect(state.left == nil)
        let lease = try HostLease(#require(try fixture.entry(in: FleetNames.lease)?.value))
        #expect(lease.boot == state.boot)
        #expect(try fixture.stop() == 0)
        #expect(try HostState(#require(try fixture.entry(in: FleetNames.state)?.value)).left != nil)
        #expect(try #require(try fixture.entry(in: FleetNames.lease)).value == nil)
    }

    @Test func `killed servers and killed agents lose nothing and repeat nothing`() throws {
        let fixture = try AgentFixture()
        var count = 0
        for round in 0..<6 {
            for _ in 0..<40 { count = fixture.daemon.record() }
            if round.isMultiple(of: 2) {
                try fixture.server.restart()
            } else {
                try fixture.kill()
                try fixture.start()
            }
        }
        try fixture.waitForEvents(count)
        #expect(try fixture.stored() == Array(1...UInt64(count)))
    }

    @Test func `self prints the word, and the lines as they leave`() throws {
        let fixture = try AgentFixture()
        fixture.daemon.record()
        try fixture.waitForEvents(1)
        let fleet = BuiltProgram(named: "reach-fleet")
        try waitUntil("the word") { try fleet.run(["self", "--json"] + fixture.arguments).status == 0 }
        #expect(try fleetFaults(in: fleet.run(["self", "--json"] + fixture.arguments).lines) == [])
        let shown = try fleet.run(["self", "--show"] + fixture.arguments)
        #expect(shown.status == 0)
        #expect(shown.lines.count == 1)
        let line = try #require(shown.lines.first)
        #expect(try FleetEvent(Array(line.utf8)).n == 1)
        #expect(!line.contains("secret"))
        fixture.server.kill()
        try waitUntil("the word for a server that is gone") {
            let result = try fleet.run(["self"] + fixture.arguments)
            return result.status == 1 && result.standardOutput.hasPrefix("engine-down: ")
        }
    }

    @Test func `each mistake in the configuration is named with file, line and key`() throws {
        let directory = try TemporaryDirectory()
        try directory.file(
            "fleet.toml", "servers = [\"http://x\"]\nleese = \"2m\"\nlabels = { a = \"\\u001b\" }\nlease = \"1s\"\n")
        let path = directory.path + "/fleet.toml"
        let result = try BuiltProgram(named: "reach-fleet").run(["agent", "--check-config", "--config", path])
        #expect(result.status == 78)
        let lines = result.standardError.split(separator: "\n").map(String.init)
        #expect(lines.count == 4)
        for (line, start) in zip(lines, ["1: servers: ", "2: leese: ", "3: labels.a: ", "4: lease: "]) {
            #expect(line.hasPrefix("reach-fleet: \(path):\(start)"))
        }
        #expect(lines.dropFirst().first?.hasSuffix("unknown key; did you mean 'lease'?") == true)
    }
}
