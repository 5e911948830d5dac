internal import Glibc
internal import ReachTesting
internal import Testing

/// The values that shells offer. The scripts call the program with `---completion`.
@Suite(.timeLimit(.minutes(1))) struct ValueCompletionTests {
    /// - Parameters:
    ///   - commands: The commands before the argument.
    ///   - name: The option, or `positional@NUMBER`.
    ///   - word: What was typed of the value.
    private func offered(
        _ commands: [String], _ name: String, _ word: String = "", socket: String = "/nonexistent/socket",
        before: [String] = []
    ) throws -> [String] {
        let line = ["reach"] + commands + before + [name, word]
        let result = try BuiltProgram.reach.run(
            ["---completion"] + commands + ["--", name, "\(line.count - 1)", "\(word.count)"] + line,
            environment: ["SAP_SHELL": "bash", "SAP_SHELL_VERSION": "5.2", "REACH_SOCKET": socket])
        #expect(result.status == 0, "\(result.standardError)")
        return result.lines
    }

    @Test func `conditions are offered, also after a comma, and with the names of interfaces`() throws {
        let words = try offered(["wait"], "--until")
        #expect(Set(words).isSuperset(of: ["wifi", "not wwan", "unmetered", "class=wired", "interface=lo"]))
        let more = try offered(["queue", "add"], "--when", "wifi,un")
        #expect(more.contains("wifi,unmetered") && !more.contains("unmetered"))
    }

    @Test func `a mistyped link gets the one that was meant`() throws {
        let link = try BuiltProgram.reach.run(["links", "--no-daemon", "la"])
        #expect(link.standardError == "reach: no link is named 'la'; did you mean 'lo'?\n")
    }

    @Test func `targets, interfaces, and patterns with their values are offered`() throws {
        #expect(Set(try offered(["status"], "positional@0")).isSuperset(of: ["internet", "interface:lo"]))
        #expect(try offered(["links"], "positional@0").contains("lo"))
        #expect(try offered(["probe"], "--interface").contains("lo"))
        #expect(try offered(["status"], "--class", "lo").contains("lo="))
        #expect(try offered(["status"], "--class", "wwan*=w").contains("wwan*=wired"))
        #expect(try offered(["status"], "--metered", "lo=") == ["lo=yes", "lo=no"])
    }

    @Test func `numbers of requests and names of probes are those of the daemon, and without one there are none`()
        throws
    {
        let directory = try TemporaryDirectory()
        let file = try directory.file(
            "reach.toml",
            """
            [targets]
            office = "203.0.113.7"
            [[network]]
            name = "home"
            prefix = "192.0.2.0/24"
            [[network]]
            name = "home"
            prefix = "198.51.100.0/24"
            [[probe]]
            name = "till"
            target = "tcp://127.0.0.1:1"
            group = "shops"

            """)
        let socket = directory.path + "/socket"
        let daemon = try BuiltProgram(named: "reachd").start(
            ["--config", file, "--socket", socket, "--state", directory.path, "--events"])
        _ = try daemon.nextLine()
        let added = try BuiltProgram.reach.run(
            ["queue", "add", "--when", "interface=none0", "--socket", socket, "http://192.0.2.1/"])
        #expect(added.status == 0, "\(added.standardError)")
        #expect(try offered(["queue", "cancel"], "positional@0", socket: socket) == added.lines)
        #expect(try offered(["probes"], "positional@0", socket: socket) == ["till"])
        #expect(try offered(["probes"], "--group", socket: socket) == ["shops"])
        #expect(try offered(["queue", "show"], "positional@0") == [])
        for command in ["status", "watch", "wait", "explain"] {
            #expect(try offered([command], "positional@0", socket: socket).prefix(2) == ["internet", "office"])
        }
        let networks = try offered(["wait"], "--until", socket: socket).filter { $0.contains("network") }
        #expect(networks == ["network=home", "not network=home"])
        #expect(try offered(["run"], "--when").filter { $0.contains("network") } == [])
        let refusal = "no [[network]] is named 'hoem'; did you mean 'home'?\n"
        let waiting = ["--timeout", "0s", "--socket", socket]
        let mistyped = try BuiltProgram.reach.run(["wait", "--until", "network=hoem"] + waiting)
        #expect(mistyped.status == 2 && mistyped.standardError.hasSuffix(refusal), "\(mistyped)")
        #expect(
            try BuiltProgram.reach.run(["wait", "--until", "network=home,not network=net-1"] + waiting).standardError
                == "")
        let refused = try BuiltProgram.reach.run(
            ["queue", "add", "--when", "not network=hoem,interface=none0", "--socket", socket, "http://192.0.2.1/"])
        #expect(refused.status == 2 && refused.standardError.hasSuffix(refusal), "\(refused)")
        let recorded = ["--state", directory.path]
        #expect(try offered(["history"], "positional@0", before: recorded).contains("office"))
        #expect(try offered(["report"], "positional@0", before: recorded).contains("office"))
        let status = try BuiltProgram.reach.run(["status", "--socket", socket, "ofice"])
        #expect(status.standardError == "reach: 'ofice' is not a configured target; did you mean 'office'?\n")
        let history = try BuiltProgram.reach.run(["history", "ofice"] + recorded)
        #expect(history.standardError.hasSuffix("recorded: internet, office; did you mean 'office'?\n"))
        let misspelt = try BuiltProgram.reach.run(["probes", "--socket", socket, "tll"])
        #expect(misspelt.standardError == "reach: no probe is named 'tll'; did you mean 'till'?\n")
        daemon.send(SIGTERM)
        #expect(try daemon.finish().status == 0)
    }
}
