internal import Glibc
internal import ReachTesting
internal import Testing

/// `reach run --while` with real processes, a real kernel and a terminal.
@Suite(.timeLimit(.minutes(2))) struct RunWhileProgramTests {
    private let reach = BuiltProgram.reach

    private func run(_ options: [String], _ script: String, in namespace: TestNamespace) throws -> RunningProgram {
        try reach.start(
            ["run", "--no-daemon", "--while", "reachable"] + options + ["--", "sh", "-c", script], in: namespace.name)
    }

    private func setRoute(_ isThere: Bool, in namespace: TestNamespace) throws {
        if isThere {
            try namespace.run("ip", "route", "add", "default", "via", "192.0.2.1")
        } else {
            try namespace.run("ip", "route", "del", "default")
        }
    }

    /// Whether the program writes this to standard error within a time that is long enough for any machine.
    private func says(_ text: String, _ program: RunningProgram) throws -> Bool {
        for _ in 0..<2_000 {
            if program.errorText.contains(text) { return true }
            usleep(10_000)
        }
        return false
    }

    @Test func `a pipeline pauses with the loss of its condition, and goes on with its return`() throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        try namespace.vethPair()
        let directory = try TemporaryDirectory()
        let file = directory.path + "/ticks"
        let program = try run(
            ["--hold", "300ms"], "(for i in $(seq 600); do echo tick; sleep 0.05; done) | (echo on; cat > \(file))",
            in: namespace)
        _ = try program.nextLine()
        func ticks() throws -> Int {
            usleep(400_000)
            return try ChildProcess.run(["cat", file]).utf8.count
        }
        let first = try ticks()
        try setRoute(false, in: namespace)
        #expect(try says("paused: its condition no longer holds", program))
        let paused = try ticks()
        #expect(paused > first)
        #expect(try ticks() == paused, "the processes of its group ran on")
        try setRoute(true, in: namespace)
        #expect(try says("goes on", program))
        #expect(try ticks() > paused)
        program.send(SIGTERM)
        #expect(try program.finish().status == 143)
    }

    @Test func `what ignores the request to end is killed after the grace, with its children, and the status is 75`()
        throws
    {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        try namespace.vethPair()
        let script = "trap '' TERM; (trap '' TERM; echo $$; exec sleep 3071) & sleep 3071"
        let program = try run(["--hold", "0", "--on-loss", "stop", "--grace", "300ms"], script, in: namespace)
        _ = try program.nextLine()
        try setRoute(false, in: namespace)
        #expect(try program.finish().status == 75)
        #expect((try? ChildProcess.run(["pgrep", "-xf", "sleep 3071"])) == nil)
    }

    @Test func `a restart starts the command again, and its own end ends it`() throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        try namespace.vethPair()
        let directory = try TemporaryDirectory()
        // The file is there before the test may go on and have the command ended.
        let script =
            "[ -e \(directory.path)/second ] && { echo go; exit 9; }; touch \(directory.path)/second; echo go; sleep 60"
        let program = try run(["--hold", "0", "--on-loss", "restart"], script, in: namespace)
        _ = try program.nextLine()
        try setRoute(false, in: namespace)
        #expect(try says("is asked to end", program))
        try setRoute(true, in: namespace)
        #expect(try program.nextLine() == "go")
        #expect(try program.finish().status == 9)
    }

    @Test func `a unit is started and stopped by its name as it is, and stopped at the end`() throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        try namespace.vethPair()
        let directory = try TemporaryDirectory()
        let said = directory.path + "/said"
        // Each argument of the program on a line of its own.
        try directory.file("systemctl", "#!/bin/sh\nprintf '%s\\n' \"$@\" >>\(said)\n", mode: 0o755)
        let name = #"reach@wifi\x2cunmetered.target"#
        let program = try reach.start(
            ["run", "--no-daemon", "--while", "reachable", "--hold", "0", "--unit", name],
            environment: ["PATH": directory.path + ":/usr/sbin:/usr/bin:/sbin:/bin"], in: namespace.name)
        func hasSaid(_ verbs: [String]) throws -> Bool {
            let wanted = verbs.flatMap { [$0, "--no-block", "--", name] }
            for _ in 0..<2_000 {
                let lines = (try? ChildProcess.run(["cat", said]))?.split(separator: "\n").map(String.init) ?? []
                if lines.filter({ $0 != "--quiet" && $0 != "--user" }) == wanted { return true }
                usleep(10_000)
            }
            return false
        }
        #expect(try hasSaid(["start"]))
        try setRoute(false, in: namespace)
        #expect(try hasSaid(["start", "stop"]))
        try setRoute(true, in: namespace)
        #expect(try hasSaid(["start", "stop", "start"]))
        program.send(SIGTERM)
        #expect(try program.finish().status == 0)
        #expect(try hasSaid(["start", "stop", "start", "stop"]))
    }

    @Test func `a unit that systemd does not start is an error`() throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        try namespace.vethPair()
        let result = try reach.run(
            ["run", "--no-daemon", "--while", "reachable", "--unit", "a.service"],
            environment: ["PATH": "/nonexistent"],
            in: namespace.name)
        #expect(result.status == 69)
        #expect(result.standardError.contains("systemd does not start a.service"))
    }

    @Test func `the statuses of a command that cannot run, or never may, are those of a wait`() throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        try namespace.vethPair()
        func status(_ words: String...) throws -> CInt {
            try reach.run(["run", "--no-daemon"] + words, in: namespace.name).status
        }
        #expect(try status("--while", "reachable", "--", "/nonexistent/command") == 127)
        #expect(try status("--while", "reachable", "--", "/etc/passwd") == 126)
        #expect(try status("--while", "wwan", "--timeout", "50ms", "--", "true") == 124)
        #expect(try status("--when", "reachable", "--while", "any", "--", "sh", "-c", "exit 5") == 5)
        #expect(try status("--when", "reachable", "--grace", "1s", "--", "true") == 2)
        #expect(try status("--while", "network=home", "--", "true") == 4)
    }

    /// A shell with job control on a terminal of its own types what a person would. The python interpreter makes the
    /// terminal.
    @Test(.enabled(if: Python.isThere, "python3 is missing")) func `ctrl-Z, fg and ctrl-C work as with any command`()
        throws
    {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        try namespace.vethPair()
        let command = "\(reach.path) run --no-daemon --hold 200ms --while reachable -- cat"
        let said = try ChildProcess.run(["python3", "-c", Python.terminal, namespace.name, command])
        #expect(
            said.split(separator: "\n").map(String.init) == [
                "typed", "stopped", "shell", "again", "paused", "silent", "kept", "status 130",
            ])
    }
}

private enum Python {
    static var isThere: Bool { (try? ChildProcess.run(["python3", "-c", "pass"])) != nil }

    /// Prints a word for each step that went as it should.
    static let terminal = #"""
        import os, pty, select, subprocess, sys, time
        namespace, command = sys.argv[1:]
        child, terminal = pty.fork()
        if child == 0:
            os.environ["PS1"] = "$ "
            os.execvp("ip", ["ip", "netns", "exec", namespace, "bash", "--norc", "--noprofile", "--noediting", "-i"])
        def read(wanted, limit=20):
            text, end = "", time.time() + limit
            while time.time() < end and not (wanted and wanted in text):
                if select.select([terminal], [], [], 0.05)[0]:
                    text += os.read(terminal, 65536).decode()
            return text
        def route(*words): subprocess.run(["ip", "-n", namespace, "route", *words, "default", "via", "192.0.2.1"], check=True)
        def step(word, keys, wanted):
            os.write(terminal, keys.encode())
            if wanted in read(wanted): print(word)
        read("$ ")
        os.write(terminal, (command + "\n").encode())
        time.sleep(1)
        step("typed", "one\n", "one\r\none\r\n")
        step("stopped", "\x1a", "Stopped")
        step("shell", "echo $((40+2))\n", "42\r\n")
        os.write(terminal, b"fg\n")
        read(" -- cat\r\n")
        step("again", "two\n", "two\r\ntwo\r\n")
        route("del")
        if "paused" in read("paused: its condition no longer holds"): print("paused")
        os.write(terminal, b"three\n")
        if read(None, 1).count("three") <= 1: print("silent")
        route("add")
        if "three" in read("three"): print("kept")
        route("del")
        read("paused: its condition no longer holds")
        os.write(terminal, b"\x03")
        read("$ ")
        step("status 130", "echo status $?\n", "status 130")
        os.close(terminal)
        """#
}
