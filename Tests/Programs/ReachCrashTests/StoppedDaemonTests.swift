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

    @Test(arguments: [
        ["status"], ["links"], ["explain"], ["watch"], ["wait", "--timeout", "20s"], ["queue", "list"],
        ["queue", "add", "http://127.0.0.1/"], ["queue", "wait", "1"], ["queue", "top"],
        ["probe", "tcp://127.0.0.1:1"],
    ])
    func `a named daemon is reported after a few seconds as not answering`(words: [String]) throws {
        let stage = try Stage()
        stage.daemon.send(SIGSTOP)
        let began = ContinuousClock.now
        let result = try reach.run(words, environment: ["REACH_SOCKET": stage.socket])
        #expect(result.status == 4, "\(result)")
        #expect(result.standardError.contains("did not answer in time"), "\(result.standardError)")
        #expect(ContinuousClock.now - began < .seconds(9))
    }

    @Test(.enabled(if: getuid() == 0, "other users have another default path"))
    func `a daemon at the default path is replaced by the kernel, with a note`() throws {
        let stage = try Stage()
        stage.daemon.send(SIGSTOP)
        let script = "exec unshare --mount sh -c 'mount --bind \"$0\" /run && exec \"$@\"' \"$0\" \"$@\""
        func ask(_ words: [String]) throws -> BuiltProgram.Result {
            try BuiltProgram(named: "sh").run(
                ["-c", script, stage.run, reach.path] + words, environment: ["REACH_SOCKET": nil])
        }
        for words in [["status", "interface:lo"], ["links"], ["explain", "127.0.0.1"]] {
            let began = ContinuousClock.now
            let result = try ask(words)
            #expect(result.status == 0, "\(result)")
            #expect(
                result.standardOutput.contains(
                    "(answered by the kernel: the daemon at /run/reach/reach.sock did not answer"),
                "\(result.standardOutput)")
            #expect(ContinuousClock.now - began < .seconds(9))
        }
        // There is no listener, which the client finds out by itself.
        let probe = try ask(["probe", "tcp://127.0.0.1:1"])
        #expect(probe.status == 1, "\(probe)")
        #expect(try ask(["status", "--json", "interface:lo"]).standardOutput.contains("\"source\":\"kernel\""))
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
