internal import Glibc
internal import ReachTesting
internal import Testing

/// The journal of a daemon: `reach history --events`, with the daemon, without it, and after a kill.
@Suite(.timeLimit(.minutes(2))) struct JournalProgramTests {
    private let directory: TemporaryDirectory
    private let reach = BuiltProgram.reach

    init() throws { directory = try TemporaryDirectory() }

    private var state: String { directory.path + "/state" }

    private func start(_ journal: String = "events = [\"status\", \"queue\"]") throws -> RunningProgram {
        let file = try directory.file("reach.toml", "[journal]\n\(journal)\n")
        let daemon = try BuiltProgram(named: "reachd").start([
            "--config", file, "--socket", directory.path + "/socket", "--state", state, "--events",
        ])
        _ = try daemon.nextLine()
        return daemon
    }

    private func run(_ words: String...) throws -> BuiltProgram.Result {
        try reach.run(words, environment: ["REACH_SOCKET": directory.path + "/socket"])
    }

    private static func count(_ word: String, in lines: [String]) -> Int { lines.count { $0.contains(word) } }

    @Test func `events are printed with the daemon and without it, and continue after a kill`() throws {
        var daemon = try start()
        defer { daemon.send(SIGKILL) }
        let id = try #require(try run("queue", "add", "--when", "interface=nosuch0", "http://127.0.0.1:1/").lines.first)
        #expect(try run("queue", "cancel", id).status == 0)
        var lines = try run("history", "--events", "--type", "queue").lines
        #expect(lines.count == 2, "\(lines)")
        #expect(lines[0].contains("request \(id) queued") && lines[1].contains("request \(id) cancelled"))
        daemon.send(SIGKILL)
        _ = try daemon.finish()
        daemon = try start()
        lines = try run("history", "--events").lines
        #expect(Self.count("reachd started", in: lines) == 2 && Self.count("reachd stopped", in: lines) == 0)
        #expect(Self.count("queued", in: lines) == 1 && Self.count("cancelled", in: lines) == 1)
        daemon.send(SIGTERM)
        #expect(try daemon.finish().status == 0)
        lines = try run("history", "--events", "--state", state, "--json").lines
        #expect(lines.last?.contains("\"type\":\"stopped\"") == true)
        let numbers = lines.map { line in
            line.split(separator: "\"n\":").last.flatMap { Int($0.prefix { $0.isNumber }) } ?? 0
        }
        #expect(numbers == Array(1...lines.count))
        // Every key is in the manual.
        let page = ProjectFile.text("man/reach-events.7")
        for key in JSONKeys.all(in: lines.joined()) { #expect(page.contains(key), "\(key)") }
    }

    @Test func `a type that does not exist is an error that lists those that do`() throws {
        let result = try run("history", "--events", "--type", "queues")
        #expect(result.status == 2)
        #expect(result.standardError.contains("'queues' is not a type of events: started, stopped, snapshot, change"))
        #expect(try run("history", "--type", "queue").status == 2)
    }

    @Test func `without a journal the message names the key`() throws {
        let daemon = try start("events = []")
        defer { daemon.send(SIGKILL) }
        let result = try run("history", "--events", "--state", state)
        #expect(result.status == 1 && result.standardError.contains("[journal] events"), "\(result)")
        #expect(access(state + "/journal", F_OK) != 0)
    }

    @Test func `an unknown target is an error that lists the recorded ones`() throws {
        let daemon = try start()
        defer { daemon.send(SIGKILL) }
        let result = try run("history", "--state", state, "office")
        #expect(result.status == 1 && result.standardError.contains("no history for 'office'; recorded: internet"))
    }

    @Test(.enabled(if: getuid() == 0, "only root can become another user"))
    func `other users see no events of root's requests, and members of the group do`() throws {
        let daemon = try start("events = [\"queue\"]\ngroup = \"65533\"")
        defer { daemon.send(SIGKILL) }
        chmod(directory.path, 0o755)
        chmod(directory.path + "/socket", 0o666)
        let id = try #require(try run("queue", "add", "--when", "interface=nosuch0", "http://127.0.0.1:1/").lines.first)
        let program = directory.path + "/reach"
        try ChildProcess.run(["cp", reach.path, program])
        func lines(_ groups: String) throws -> [String] {
            let script = "exec setpriv --reuid=65534 --regid=65534 \(groups) \(program) history --events"
            let socket = ["REACH_SOCKET": directory.path + "/socket"]
            return try BuiltProgram(named: "sh").run(["-c", script], environment: socket).lines
        }
        let stranger = try lines("--clear-groups")
        #expect(stranger.count == 1 && stranger[0].hasSuffix("reachd started"), "\(stranger)")
        #expect(Self.count("request \(id) queued", in: try lines("--groups=65533")) == 1)
    }

    @Test func `an idle journal has one thread, which sleeps`() throws {
        let daemon = try start()
        defer { daemon.send(SIGKILL) }
        // A thread may end between the listing of its directory and the reading of its state.
        let script = "cat /proc/\(daemon.process)/task/*/stat 2>/dev/null || true"
        let threads = {
            try ChildProcess.run(["sh", "-c", script]).split(separator: "\n").filter { $0.contains("(reach-journal)") }
        }
        let deadline = ContinuousClock.now + .seconds(20)
        var states = try threads()
        // It writes once more before it rests.
        while states.count != 1 || !states[0].contains("(reach-journal) S "), ContinuousClock.now < deadline {
            usleep(10_000)
            states = try threads()
        }
        #expect(states.count == 1 && states[0].contains("(reach-journal) S "), "\(states)")
        #expect(access(state + "/journal/head.json", F_OK) == 0)
    }
}
