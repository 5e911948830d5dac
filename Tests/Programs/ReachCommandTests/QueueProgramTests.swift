internal import Glibc
internal import ReachCore
internal import ReachTesting
internal import Testing

/// The daemon's queue, across restarts of the daemon and the loss of a link.
@Suite(.enabled(if: TestNamespace.isAvailable, "\(TestNamespace.whyNot)"), .timeLimit(.minutes(1)))
struct QueueProgramTests {
    private let reachd = BuiltProgram(named: "reachd")

    @Test func `requests of another process are sent when the link returns, with events`() throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        let peer = try namespace.vethPair()
        let directory = try TemporaryDirectory()
        let server = try ScriptedServer(in: peer, at: IPAddress(ipv4: 0xc000_0201), port: 80) { connection in
            connection.readRequest()
            connection.write("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        }
        try namespace.run("ip", "link", "set", "up0", "down")
        let earlier = try BuiltProgram(named: "queuerun").start(
            [directory.path + "/queue", "3", "http://192.0.2.1/"], in: namespace.name)
        #expect(try earlier.nextLine() == "open 0")
        for _ in 0..<3 { #expect(try earlier.nextLine().hasPrefix("added ")) }
        earlier.send(SIGKILL)
        _ = try earlier.finish()

        let daemon = try reachd.start(
            ["--socket", directory.path + "/socket", "--state", directory.path, "--events"], in: namespace.name)
        #expect(try daemon.nextLine().contains("\"type\":\"snapshot\""))
        #expect(server.requests.values.isEmpty)
        try namespace.run("ip", "link", "set", "up0", "up")
        try namespace.run("ip", "route", "replace", "default", "via", "192.0.2.1")
        var lines: [String] = []
        while lines.count(where: { $0.contains("\"event\":\"done\"") }) < 3 { lines.append(try daemon.nextLine()) }
        #expect(server.requests.values.count == 3)
        let started = lines.filter { $0.contains("\"event\":\"started\"") }
        #expect(started.count == 3)
        #expect(started.allSatisfy { $0.contains("\"type\":\"queue\"") && $0.contains("\"interface\":\"up0\"") })
        let keys = JSONKeys.all(in: lines.joined(separator: "\n"))
        #expect(keys.subtracting(ManualPage("reach-events.7").arguments(of: "Va")) == [])
        daemon.send(SIGTERM)
        #expect(try daemon.finish(within: .seconds(2)).status == 0)
    }

    @Test func `a large file is sent whole, also one that begins in the middle and one that is a pipe`() throws {
        let directory = try TemporaryDirectory()
        let (file, socket) = (directory.path + "/body", directory.path + "/socket")
        // Two pieces of memory and a rest, each byte of which shows its place.
        try ChildProcess.run(["sh", "-c", "seq 4200000 | head -c 33000001 > \(file)"])
        let daemon = try reachd.start(["--socket", socket, "--state", directory.path + "/state", "--events"])
        _ = try daemon.nextLine()
        let add = "\(BuiltProgram.reach.path) queue add --when wifi --socket \(socket)"
        for command in [
            "\(add) -T \(file) http://192.0.2.1/a", "\(add) -T - http://192.0.2.1/b < \(file)",
            "cat \(file) | \(add) -T - http://192.0.2.1/c",
            "(head -c 700000 > \(directory.path)/head; \(add) -T - http://192.0.2.1/d) < \(file)",
        ] {
            try ChildProcess.run(["sh", "-c", command])
        }
        daemon.send(SIGTERM)
        _ = try daemon.finish(within: .seconds(2))
        let spool = directory.path + "/state/queue"
        let sums = try ChildProcess.run([
            "sh", "-c", "cd \(spool) && find . -name 'body-*' | xargs md5sum | cut -c1-32 | sort",
        ])
        // head(1) sets the position of a file back to what it printed.
        let wanted = try ChildProcess.run([
            "sh", "-c",
            "for i in 1 2 3; do md5sum < \(file); done | cut -c1-32; tail -c +700001 \(file) | md5sum | cut -c1-32",
        ])
        #expect(sums.split(separator: "\n").sorted() == wanted.split(separator: "\n").sorted())
    }

    @Test func `an upload that a command adds goes on where it was when the daemon is killed`() throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        let peer = try namespace.vethPair()
        try namespace.run("ip", "route", "replace", "default", "via", "192.0.2.1")
        let directory = try TemporaryDirectory()
        let server = try TusServer(in: peer, at: IPAddress(ipv4: 0xc000_0201), port: 80) { $0.standstill = 400_000 }
        let file = directory.path + "/body"
        try ChildProcess.run(["truncate", "-s", "1500000", file])
        let socket = directory.path + "/socket"
        func daemon() throws -> RunningProgram {
            let daemon = try reachd.start(
                ["--socket", socket, "--state", directory.path + "/state", "--events"], in: namespace.name)
            _ = try daemon.nextLine()
            return daemon
        }
        func reach(_ arguments: [String]) throws -> String {
            let run = try BuiltProgram.reach.start(["queue"] + arguments + ["--socket", socket])
            let finished = try run.finish()
            try #require(finished.status == 0, "\(arguments): \(finished)")
            return finished.lines.joined(separator: "\n")
        }
        let first = try daemon()
        let id = try reach(["add", "--upload-protocol", "tus", "-T", file, "http://192.0.2.1/files"])
        while server.state.withLock({ $0.standstill }) != nil { usleep(10_000) }
        first.send(SIGKILL)
        _ = try first.finish()
        // What is recorded is shown before the server has been asked again.
        try namespace.run("ip", "link", "set", "up0", "down")
        let second = try daemon()
        let waiting = try JSONReader.read(Array(try reach(["show", id, "--json"]).utf8))
        #expect(waiting["upload_protocol"]?.string == "tus" && waiting["uploaded_bytes"]?.integer == 0)
        try namespace.run("ip", "link", "set", "up0", "up")
        try namespace.run("ip", "route", "replace", "default", "via", "192.0.2.1")
        _ = try reach(["wait", id])
        let log = server.state.withLock { $0.log.filter { !$0.hasSuffix("cut") } }
        #expect(log == ["POST 201", "HEAD 1 200", "PATCH 1 at 409600 204"])
        #expect(server.state.withLock { $0.uploads } == [1: [UInt8](repeating: 0, count: 1_500_000)])
        second.send(SIGTERM)
        _ = try second.finish(within: .seconds(2))
    }

    @Test(.enabled(if: getuid() == 0, "only root can become another user"))
    func `reach watch prints a user's own requests, and all requests for root`() throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        try namespace.vethPair()
        let directory = try TemporaryDirectory()
        try ChildProcess.run(["chmod", "755", directory.path])
        let socket = directory.path + "/socket"
        let daemon = try reachd.start(
            ["--socket", socket, "--state", directory.path + "/state", "--events"], in: namespace.name)
        _ = try daemon.nextLine()
        // Only root may have access to the build directory.
        try ChildProcess.run(["install", "-m", "755", BuiltProgram.reach.path, directory.path])
        func start(user: Int, _ arguments: [String]) throws -> RunningProgram {
            try BuiltProgram(named: "/bin/sh").start(
                [
                    "-c", "exec setpriv --reuid \(user) --regid \(user) --clear-groups \"$@\"", "sh",
                    directory.path + "/reach",
                ] + arguments + ["--socket", socket], environment: ["REACH_SOCKET": nil, "XDG_RUNTIME_DIR": nil])
        }
        let watches = try [0, 4001, 4002].map { try start(user: $0, ["watch"]) }
        let pretty = try start(user: 4001, ["watch", "--pretty"])
        for watch in watches { #expect(try watch.nextLine().contains("\"type\":\"snapshot\"")) }
        // Nothing that happens after its first line is missed.
        _ = try pretty.nextLine()
        for user in [4001, 4002] {
            let add = try start(user: user, ["queue", "add", "--when", "interface=none0", "http://192.0.2.1/"])
            #expect(try add.finish().status == 0)
        }
        func event(_ watch: RunningProgram, of user: Int) throws -> JSONValue {
            while true {
                let json = try JSONReader.read(Array(try watch.nextLine().utf8))
                guard json["type"]?.string == "queue" else { continue }
                if json["user"]?.integer == Int64(user) { return json }
                try #require(watch === watches[0], "\(json)")
            }
        }
        for (watch, user) in [(0, 4001), (0, 4002), (1, 4001), (2, 4002)] {
            let queued = try event(watches[watch], of: user)
            #expect(queued["event"]?.string == "queued")
        }
        var line = ""
        while !line.contains("queued") { line = try pretty.nextLine() }
        #expect(line.contains("request 1 "))
    }

    @Test func `[queue] can be disabled, and then nothing is stored`() throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        let directory = try TemporaryDirectory()
        let file = try directory.file("reach.toml", "[queue]\nenabled = false\n")
        let daemon = try reachd.start(
            ["--config", file, "--socket", directory.path + "/socket", "--state", directory.path, "--events"],
            in: namespace.name)
        _ = try daemon.nextLine()
        #expect(access(directory.path + "/queue", F_OK) == -1)
        daemon.send(SIGTERM)
        #expect(try daemon.finish().status == 0)
    }
}
