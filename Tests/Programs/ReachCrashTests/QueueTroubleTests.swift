internal import Glibc
internal import ReachCore
internal import ReachTesting
internal import Testing

/// The daemon's queue on disks that are full, read-only or damaged, and with clocks that jump: acknowledged requests
/// survive.
@Suite(.timeLimit(.minutes(3))) struct QueueTroubleTests {
    private final class Stage {
        let directory: TemporaryDirectory
        let state: String
        private(set) var daemon: RunningProgram
        /// The command that starts the daemon in its own place.
        private let entrance: [String]
        private var isMounted = false

        var socket: String { directory.path + "/socket" }
        var file: String { state + "/queue/queue.sqlite" }

        /// - Parameter size: The size of a file system for the state, as mount(8) accepts it; `nil` for none.
        init(size: String? = nil, entrance: [String] = []) throws {
            directory = try TemporaryDirectory()
            state = directory.path + "/state"
            self.entrance = entrance
            mkdir(state, 0o700)
            if let size {
                try ChildProcess.run(["mount", "-t", "tmpfs", "-o", "size=\(size)", "tmpfs", state])
                isMounted = true
            }
            daemon = try Self.start(directory.path, entrance)
        }

        deinit {
            daemon.send(SIGKILL)
            if isMounted { umount2(state, CInt(MNT_DETACH)) }
        }

        private static func start(_ path: String, _ entrance: [String]) throws -> RunningProgram {
            let daemon = try BuiltProgram(named: "env").start(
                entrance + [
                    BuiltProgram(named: "reachd").path, "--socket", path + "/socket", "--state", path + "/state",
                    "--events",
                ])
            _ = try daemon.nextLine()
            return daemon
        }

        func remount(_ options: String) throws {
            try ChildProcess.run(["mount", "-o", "remount,\(options)", state])
        }

        func kill() throws {
            daemon.send(SIGKILL)
            _ = try daemon.finish()
        }

        func restart() throws { daemon = try Self.start(directory.path, entrance) }

        func queue(_ words: [String]) throws -> BuiltProgram.Result {
            try BuiltProgram.reach.run(["queue"] + words, environment: ["REACH_SOCKET": socket])
        }

        /// Adds requests that cannot start, until the disk is full or there are this many.
        ///
        /// - Returns: The numbers of the acknowledged requests.
        func add(upTo count: Int, body: String) throws -> (ids: [String], last: BuiltProgram.Result) {
            var ids: [String] = []
            while true {
                let added = try queue(["add", "--when", "interface=nosuch0", "-d", "@" + body, "http://127.0.0.1:1/"])
                guard added.status == 0, ids.count < count, let id = added.lines.first else { return (ids, added) }
                ids.append(id)
            }
        }

        func waiting() throws -> [String] {
            try queue(["list", "--state", "waiting", "--json"]).lines.compactMap { line in
                line.split(separator: "\"id\":").dropFirst().first.map { String($0.prefix { $0.isNumber }) }
            }
        }

        func waitForEvent(_ word: String, within limit: Duration = .seconds(45)) throws {
            while try !daemon.nextLine(within: limit).contains("\"event\":\"\(word)\"") {}
        }
    }

    @Test(.enabled(if: getuid() == 0, "only root mounts file systems"))
    func `on a full disk new requests end with 75, and acknowledged ones survive a kill`() throws {
        let stage = try Stage(size: "4m")
        let body = try stage.directory.file("body", String(repeating: "b", count: 100_000))
        let (ids, refused) = try stage.add(upTo: 100, body: body)
        #expect(refused.status == 75 && refused.standardOutput.isEmpty, "\(refused)")
        #expect(ids.count > 3 && ids.count < 60)
        // A body that is stored in a file of its own.
        let long = try stage.directory.file("long", String(repeating: "b", count: 3_000_000))
        #expect(try stage.queue(["add", "-d", "@" + long, "http://127.0.0.1:1/"]).status == 75)
        // Commands that need no disk still work.
        let status = try BuiltProgram.reach.run(
            ["status", "interface:lo"], environment: ["REACH_SOCKET": stage.socket])
        #expect(status.status == 0)
        #expect(try stage.waiting() == ids)
        try stage.kill()
        try stage.restart()
        #expect(try stage.waiting() == ids)
        try stage.remount("size=40m")
        let again = ContinuousClock.now + .seconds(45)
        var added = try stage.queue(["add", "--when", "interface=nosuch0", "-d", "@" + long, "http://127.0.0.1:1/"])
        while added.status == 75, ContinuousClock.now < again {
            usleep(300_000)
            added = try stage.queue(["add", "--when", "interface=nosuch0", "-d", "@" + long, "http://127.0.0.1:1/"])
        }
        #expect(added.status == 0, "\(added)")
        #expect(try stage.waiting() == ids + added.lines)
    }

    @Test(.enabled(if: getuid() == 0, "only root mounts file systems"))
    func `confirmations on a full disk survive a kill`() throws {
        let stage = try Stage(size: "4m")
        let body = try stage.directory.file("body", String(repeating: "b", count: 100_000))
        let (ids, refused) = try stage.add(upTo: 100, body: body)
        #expect(refused.status == 75, "\(refused)")
        // Only the reserve is left on the disk.
        let filler = stage.state + "/filler"
        _ = try? ChildProcess.run(["dd", "if=/dev/zero", "of=\(filler)", "bs=4096", "count=4096"])
        try #require(ids.count > 5)
        var confirmed: [String] = []
        for id in ids.prefix(3) where try stage.queue(["cancel", id]).status == 0 { confirmed.append(id) }
        #expect(confirmed == Array(ids.prefix(3)))
        #expect(try stage.queue(["hold", ids[3]]).status == 0)
        try stage.kill()
        // The disk is as full as before.
        try stage.restart()
        #expect(try stage.waiting() == Array(ids.dropFirst(4)))
        #expect(try stage.queue(["cancel", ids[4]]).status == 0)
        try stage.kill()
        unlink(filler)
        try stage.restart()
        #expect(try stage.waiting() == Array(ids.dropFirst(5)))
        #expect(try stage.queue(["show", "--json", ids[3]]).standardOutput.contains("\"state\":\"held\""))
    }

    @Test(.enabled(if: getuid() == 0, "only root mounts file systems"))
    func `on a read-only disk only the queue is missing`() throws {
        let stage = try Stage(size: "40m")
        let body = try stage.directory.file("body", "b")
        let (ids, _) = try stage.add(upTo: 3, body: body)
        try stage.kill()
        try stage.remount("ro")
        try stage.restart()
        let refused = try stage.queue(["add", "http://127.0.0.1:1/"])
        #expect(refused.status == 69, "\(refused)")
        #expect(
            try BuiltProgram.reach.run(["status", "interface:lo"], environment: ["REACH_SOCKET": stage.socket]).status
                == 0)
        try stage.kill()
        try stage.remount("rw")
        try stage.restart()
        #expect(Array(try stage.waiting().prefix(3)) == ids)
    }

    @Test func `a damaged file is set aside and reported, and the next start has a valid one`() throws {
        let stage = try Stage()
        let body = try stage.directory.file("body", "b")
        _ = try stage.add(upTo: 20, body: body)
        stage.daemon.send(SIGTERM)
        #expect(try stage.daemon.finish().status == 0)
        try ChildProcess.run(["dd", "if=/dev/urandom", "of=\(stage.file)", "bs=1", "count=200", "conv=notrunc"])
        try stage.restart()
        try stage.waitForEvent("storage-reset")
        #expect(try stage.waiting().isEmpty)
        let (ids, _) = try stage.add(upTo: 2, body: body)
        #expect(ids.count == 2 && ids.allSatisfy { (Int($0) ?? 0) > 1_000_000_000 })
        try stage.kill()
        try stage.restart()
        #expect(try stage.waiting().prefix(2) == ids[...])
        let files = try ChildProcess.run(["ls", stage.state + "/queue"]).split(separator: "\n")
        let aside = files.filter { $0.hasPrefix("queue.sqlite.corrupt-") }
        #expect(aside.count { !$0.hasSuffix("-wal") && !$0.hasSuffix("-log") } == 1, "\(files)")
    }

    @Test(.enabled(if: getuid() == 0, "only root can become another user"))
    func `without permission for the socket the command ends with 77`() throws {
        let stage = try Stage()
        chmod(stage.directory.path, 0o755)
        chmod(stage.socket, 0o600)
        let script = "exec setpriv --reuid=65534 --regid=65534 --clear-groups \"$0\" queue add http://127.0.0.1:1/"
        // A place where another user can execute it.
        let program = stage.directory.path + "/reach"
        try ChildProcess.run(["cp", BuiltProgram.reach.path, program])
        let result = try BuiltProgram(named: "sh").run(
            ["-c", script, program], environment: ["REACH_SOCKET": stage.socket])
        #expect(result.status == 77, "\(result)")
        #expect(result.standardError.contains("Permission denied"))
    }

    // MARK: Clocks

    private static let isSanitized = getenv("ASAN_OPTIONS") != nil || getenv("TSAN_OPTIONS") != nil

    /// The daemon has its own wall clock, which a file sets; the other clocks are the machine's.
    @Test(
        .disabled(if: isSanitized, "a sanitizer's runtime must be the first library"),
        arguments: ["86400", "-86400"])
    func `setting the wall clock starts no request early or late, and ends none`(step: String) throws {
        let clock = try TemporaryDirectory()
        let file = try clock.file("offset", "0\n")
        let library = clock.path + "/wallclock.so"
        try ChildProcess.run([
            "cc", "-shared", "-fPIC", "-o", library, ProjectFile.path("Tests/Support/wallclock/wallclock.c"),
        ])
        let stage = try Stage(entrance: ["LD_PRELOAD=\(library)", "WALL_CLOCK_OFFSET=\(file)"])
        let tries = EventLog<ContinuousClock.Instant>()
        let server = try ScriptedServer { connection in
            connection.readRequest()
            tries.append(.now)
            connection.write(
                tries.values.count == 1
                    ? "HTTP/1.1 503 Busy\r\nRetry-After: 3\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
                    : "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        }
        let url = "http://127.0.0.1:\(server.port)/"
        let waiting = try stage.queue(["add", "--when", "interface=nosuch0", "--expires", "1h", url])
        let id = try #require(try stage.queue(["add", url]).lines.first)
        try stage.waitForEvent("retrying")
        try clock.file("offset", step + "\n")
        // The new time is in effect: events are of another day.
        #expect(try stage.queue(["wait", "--timeout", "15s", id]).status == 0)
        let times = tries.values
        try #require(times.count == 2)
        let gap = times[1] - times[0]
        #expect(gap >= .seconds(3) && gap < .milliseconds(3900), "\(gap)")
        #expect(try stage.waiting() == waiting.lines)
        // The boot is the same, whatever the wall clock shows.
        try stage.kill()
        try stage.restart()
        #expect(try stage.waiting() == waiting.lines)
        let shown = try stage.queue(["show", "--json", waiting.lines.first ?? ""]).standardOutput
        let over = try stage.queue(["show", "--json", id]).standardOutput
        // The clock moved: the end of the first run is a day away from the beginning of the second.
        #expect(Self.day(of: "over", in: over) != Self.day(of: "created", in: shown))
    }

    private static func day(of key: String, in json: String) -> Substring? {
        json.split(separator: "\"\(key)\":\"").dropFirst().first?.prefix(10)
    }
}
