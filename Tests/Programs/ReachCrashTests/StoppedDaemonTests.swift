internal import Glibc
internal import ReachTesting
internal import Testing

/// A daemon that neither answers nor ends: its connections stay, and the kernel accepts new ones for it.
@Suite(.timeLimit(.minutes(2))) struct StoppedDaemonTests {
    private let reach = BuiltProgram.reach

    private final class Stage {
        let directory: TemporaryDirectory
        let daemon: RunningProgram
        /// A replacement of `/run`, for programs that use the default path of the daemon.
        var run: String { directory.path + "/run" }
        var socket: String { run + "/reach/reach.sock" }

        init() throws {
            directory = try TemporaryDirectory()
            try ChildProcess.run(["mkdir", "-p", directory.path + "/run/reach"])
            daemon = try BuiltProgram(named: "reachd").start([
                "--socket", directory.path + "/run/reach/reach.sock", "--state", directory.path, "--events",
            ])
            _ = try daemon.nextLine()
        }

        deinit { daemon.send(SIGCONT) }
    }

    /// All at once, since each waits for some seconds.
    @Test func `a named daemon is reported after a few seconds as not answering`() throws {
        let stage = try Stage()
        stage.daemon.send(SIGSTOP)
        let commands = try [
            ["status"], ["links"], ["explain"], ["watch"], ["wait", "--timeout", "20s"], ["queue", "list"],
            ["queue", "add", "http://127.0.0.1/"], ["queue", "wait", "1"], ["queue", "top"],
            ["probe", "tcp://127.0.0.1:1"],
        ].map { words in (words, try reach.start(words, environment: ["REACH_SOCKET": stage.socket])) }
        for (words, program) in commands {
            let result = try program.finish()
            #expect(result.status == 4, "\(words): \(result)")
            #expect(result.standardError.contains("did not answer in time"), "\(words): \(result.standardError)")
        }
    }

    @Test(.enabled(if: getuid() == 0, "other users have another default path"))
    func `a daemon at the default path is replaced by the kernel, with a note`() throws {
        let stage = try Stage()
        stage.daemon.send(SIGSTOP)
        let script = "exec unshare --mount sh -c 'mount --bind \"$0\" /run && exec \"$@\"' \"$0\" \"$@\""
        func start(_ words: [String]) throws -> RunningProgram {
            try BuiltProgram(named: "sh").start(
                ["-c", script, stage.run, reach.path] + words, environment: ["REACH_SOCKET": nil])
        }
        let asked = try [["status", "interface:lo"], ["links"], ["explain", "127.0.0.1"]].map(start)
        let probe = try start(["probe", "tcp://127.0.0.1:1"])
        let json = try start(["status", "--json", "interface:lo"])
        for program in asked {
            let result = try program.finish()
            #expect(result.status == 0, "\(result)")
            #expect(
                result.standardOutput.contains(
                    "(answered by the kernel: the daemon at /run/reach/reach.sock did not answer"),
                "\(result.standardOutput)")
        }
        // There is no listener, which the client finds out by itself.
        let probed = try probe.finish()
        #expect(probed.status == 1, "\(probed)")
        #expect(try json.finish().standardOutput.contains("\"source\":\"kernel\""))
    }

    @Test func `a resumed daemon sends events again`() throws {
        let stage = try Stage()
        let follower = try reach.start(["queue", "top"], environment: ["REACH_SOCKET": stage.socket])
        #expect(try follower.nextLine().contains("\"event\":\"watching\""))
        stage.daemon.send(SIGSTOP)
        // Longer than a client waits for an answer: a connected client does not notice.
        #expect(try follower.lines(during: .seconds(6)).isEmpty)
        stage.daemon.send(SIGCONT)
        let added = try reach.run(
            ["queue", "add", "--when", "interface=nosuch0", "http://127.0.0.1:1/"],
            environment: ["REACH_SOCKET": stage.socket])
        #expect(added.status == 0)
        #expect(try follower.nextLine().contains("\"event\":\"queued\""))
        follower.send(SIGTERM)
        _ = try follower.finish()
    }
}
