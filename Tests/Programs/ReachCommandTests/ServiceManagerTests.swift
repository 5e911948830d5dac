internal import Glibc
internal import ReachTesting
internal import Testing

/// `reachd` with the test in place of systemd: sd_notify(3), sd_listen_fds(3), sd_watchdog_enabled(3).
@Suite(.timeLimit(.minutes(1))) struct ServiceManagerTests {
    private let reachd = BuiltProgram(named: "reachd")
    private let directory: TemporaryDirectory
    private let manager: NotifySocket

    init() throws {
        directory = try TemporaryDirectory()
        manager = try NotifySocket(at: directory.path + "/notify")
    }

    private func start(_ more: [String] = [], environment: [String: String?] = [:]) throws -> RunningProgram {
        try reachd.start(
            ["--socket", directory.path + "/socket", "--state", directory.path] + more,
            environment: environment.merging(["NOTIFY_SOCKET": manager.path]) { own, _ in own })
    }

    @Test func `it notifies when it is ready, when it reloads, and when it ends`() throws {
        let file = try directory.file("reach.toml", "")
        let daemon = try start(["--config", file])
        #expect(try manager.next() == ["READY=1", "STATUS=Watching"])
        #expect(access(directory.path + "/socket", F_OK) == 0, "it is ready only when it answers")
        daemon.send(SIGHUP)
        let reloading = try manager.next()
        #expect(reloading.first == "RELOADING=1")
        // systemd recognises this reload by its time (sd_notify(3), Type=notify-reload).
        #expect(reloading.last?.hasPrefix("MONOTONIC_USEC=") == true)
        #expect(try manager.next() == ["STATUS=Watching"], "no table waits for the next start")
        #expect(try manager.next() == ["READY=1"])
        daemon.send(SIGTERM)
        #expect(try manager.next() == ["STOPPING=1"])
        #expect(try daemon.finish().status == 0)
    }

    @Test func `a rejected configuration ends the reload too`() throws {
        let file = try directory.file("reach.toml", "")
        let daemon = try start(["--config", file])
        _ = try manager.next()
        try directory.file("reach.toml", "oops")
        daemon.send(SIGHUP)
        #expect(try manager.next().first == "RELOADING=1")
        #expect(try manager.next() == ["READY=1"])
        daemon.send(SIGTERM)
        #expect(try daemon.finish().status == 0)
    }

    @Test func `the watchdog is notified twice in its interval`() throws {
        let daemon = try start(environment: ["WATCHDOG_USEC": "200000"])
        #expect(try manager.next() == ["READY=1", "STATUS=Watching"])
        let begin = ContinuousClock.now
        for _ in 0..<5 { #expect(try manager.next(within: 1000) == ["WATCHDOG=1"]) }
        // The first comes at once.
        #expect(ContinuousClock.now - begin >= .milliseconds(390))
        daemon.send(SIGTERM)
        _ = try daemon.finish()
    }

    @Test func `without a watchdog, or with another process's, nothing is sent`() throws {
        let daemon = try start(environment: ["WATCHDOG_USEC": "20000", "WATCHDOG_PID": "1"])
        _ = try manager.next()
        #expect(throws: NotifySocket.Failure.self) { try manager.next(within: 200) }
        daemon.send(SIGTERM)
        _ = try daemon.finish()
    }

    /// Opens a socket that listens as descriptor 3 and becomes `reachd`, as systemd does for a socket unit.
    private static let activate = """
        import os, socket, sys
        path, who, program = sys.argv[1], sys.argv[2], sys.argv[3:]
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(path)
        listener.listen(16)
        if listener.fileno() != 3:
            os.dup2(listener.fileno(), 3)
        os.set_inheritable(3, True)
        os.environ.update(LISTEN_FDS="1", LISTEN_PID=str(os.getpid() if who == "me" else 1), LISTEN_FDNAMES="control")
        os.execv(program[0], program)
        """

    private func startActivated(for who: String, socket: String) throws -> RunningProgram {
        try BuiltProgram(named: "python3").start(
            [
                "-c", Self.activate, socket, who, reachd.path, "--socket", directory.path + "/own", "--state",
                directory.path,
            ],
            environment: ["NOTIFY_SOCKET": manager.path])
    }

    @Test func `a socket of the manager is used, and is not removed`() throws {
        let socket = directory.path + "/activated"
        let daemon = try startActivated(for: "me", socket: socket)
        _ = try manager.next()
        #expect(access(directory.path + "/own", F_OK) != 0)
        let result = try BuiltProgram.reach.run(["status", "--json", "--socket", socket, "127.0.0.1"])
        #expect(result.standardOutput.contains("\"source\":\"daemon\""))
        daemon.send(SIGTERM)
        #expect(try daemon.finish().status == 0)
        #expect(access(socket, F_OK) == 0, "the next process gets it")
    }

    @Test func `descriptors for another process are ignored`() throws {
        let daemon = try startActivated(for: "another", socket: directory.path + "/activated")
        _ = try manager.next()
        #expect(access(directory.path + "/own", F_OK) == 0)
        daemon.send(SIGTERM)
        #expect(try daemon.finish().status == 0)
    }

    @Test func `the journal gets priorities, but not a program that only inherited its variable`() throws {
        // The program's standard error is a file of the test's, which no JOURNAL_STREAM names.
        let daemon = try start(environment: ["JOURNAL_STREAM": "8:12345"])
        _ = try manager.next()
        daemon.send(SIGTERM)
        #expect(try daemon.finish().standardError.contains("info: listening socket="))
        let log = try directory.file("log", "")
        let script = "exec 2>\"$0\"; JOURNAL_STREAM=$(stat -c %d:%i \"$0\") exec \"$@\""
        let journalled = try BuiltProgram(named: "sh").start(
            ["-c", script, log, reachd.path, "--socket", directory.path + "/socket", "--state", directory.path],
            environment: ["NOTIFY_SOCKET": manager.path])
        #expect(try manager.next() == ["STOPPING=1"])
        _ = try manager.next()
        journalled.send(SIGTERM)
        _ = try journalled.finish()
        #expect(try ChildProcess.run(["cat", log]).hasPrefix("<6>listening socket="))
    }

    @Test(.enabled(if: TestNamespace.isAvailable, "\(TestNamespace.whyNot)"))
    func `it raises its limit of descriptors, and hooks get the original limit`() throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        try namespace.vethPair()
        try ChildProcess.run(["mkdir", "-m", "755", directory.path + "/hooks.d"])
        let (said, held) = (directory.path + "/said", directory.path + "/held")
        try ChildProcess.run(["mkfifo", said, held])
        try directory.file("hooks.d/record", "#!/bin/sh\necho $$ >\(said)\nexec cat \(held)\n", mode: 0o755)
        let file = try directory.file("reach.toml", "[hooks]\ndirectory = \"\(directory.path)/hooks.d\"")
        let daemon = try BuiltProgram(named: "sh").start(
            [
                "-c", "ulimit -Sn 512; exec \"$@\"", "sh", reachd.path, "--config", file, "--socket",
                directory.path + "/socket", "--state", directory.path, "--events",
            ], environment: ["NOTIFY_SOCKET": manager.path], in: namespace.name)
        _ = try daemon.nextLine()
        let limits = try ChildProcess.run(["grep", "open files", "/proc/\(daemon.process)/limits"]).split(
            separator: " ")
        #expect(limits.count >= 5 && limits[3] == limits[4], "\(limits)")
        try namespace.run("ip", "route", "del", "default")
        let hook = try ChildProcess.run(["timeout", "10", "cat", said]).split(separator: "\n")
        // The limit may be raised shortly after the start.
        let isLimited =
            "for i in $(seq 100); do grep -q 'open files *512 ' /proc/$0/limits && exit; sleep 0.1; done; exit 1"
        try ChildProcess.run(["sh", "-c", isLimited, String(hook[0])])
        daemon.send(SIGTERM)
        #expect(try daemon.finish().status == 0)
    }
}
