internal import Foundation
internal import ReachTesting
internal import Testing

/// `reach` as a client of `reachd`: the same answers, and one stream across restarts of the daemon.
@Suite(.enabled(if: TestNamespace.isAvailable, "\(TestNamespace.whyNot)"), .timeLimit(.minutes(2)))
struct DaemonClientTests {
    private let reach = BuiltProgram.reach

    /// A daemon in a namespace with an uplink; clients run outside, where the kernel's answers differ.
    private final class Stage {
        let namespace: TestNamespace
        let directory: TemporaryDirectory
        private(set) var daemon: RunningProgram

        var socket: String { directory.path + "/socket" }

        init() throws {
            namespace = try TestNamespace()
            try namespace.vethPair()
            directory = try TemporaryDirectory()
            daemon = try Self.start(directory, namespace)
        }

        /// Starts the daemon and waits until it answers: it prints its first line after it listens.
        private static func start(
            _ directory: TemporaryDirectory, _ namespace: TestNamespace
        ) throws -> RunningProgram {
            let arguments = ["--socket", directory.path + "/socket", "--state", directory.path, "--events"]
            let daemon = try BuiltProgram(named: "reachd").start(arguments, in: namespace.name)
            _ = try daemon.nextLine()
            return daemon
        }

        func kill() throws {
            daemon.send(SIGKILL)
            _ = try daemon.finish()
        }

        func start() throws { daemon = try Self.start(directory, namespace) }

        func ip(_ words: String) throws {
            try ChildProcess.run(["ip", "-n", namespace.name] + words.split(separator: " ").map(String.init))
        }

        /// Waits until this number of clients is connected and their calls are answered.
        func waitForSubscribers(_ count: Int) throws {
            let script = """
                for i in $(seq 200); do
                    [ $(ss -xH state connected src "$0" | wc -l) -ge \(count) ] && exit; sleep 0.05
                done; exit 1
                """
            // The kernel counts both ends of a connection to the namespace of the client.
            try ChildProcess.run(["sh", "-c", script, socket])
            for _ in 0..<3 { _ = try BuiltProgram.reach.run(["status", "--socket", socket]) }
        }

        /// The daemon's own code that is mapped, in KiB.
        var mappedCode: Int {
            get throws {
                let script = """
                    /^[0-9a-f]+-/ { code = $2 ~ /^r-x/ && $6 ~ /reachd$/ } code && /^Rss:/ { sum += $2 } END { print sum }
                    """
                let text = try ChildProcess.run(["awk", script, "/proc/\(daemon.process)/smaps"])
                return try #require(Int(text.dropLast()))
            }
        }

        /// Waits until at most this much is mapped, for 10 s.
        func mapsAtMost(_ limit: Int) throws -> Bool {
            for _ in 0..<200 {
                if try mappedCode <= limit { return true }
                usleep(50_000)
            }
            return false
        }

        /// The `defer` that calls this also keeps it alive.
        func end() {
            daemon.send(SIGKILL)
            namespace.remove()
        }
    }

    /// Runs a command that waits, through a daemon without probes and requests, whose router is back although the
    /// kernel's entry is failed. Nothing else sends.
    private func outcome(ofWaiting command: [String]) throws -> (status: Int32, last: String) {
        let stage = try Stage()
        defer { stage.end() }
        try stage.namespace.failGateway()
        while try !stage.daemon.nextLine().contains("gateway-unreachable") {}
        // Who only watches sends nothing.
        let watch = try reach.start(["watch", "--socket", stage.socket])
        #expect(try watch.nextLine().contains("gateway-unreachable"))
        #expect(try stage.namespace.run("ip", "neigh", "show", "192.0.2.1").contains("FAILED"))
        let end = command.first == "run" ? ["--", "true"] : []
        let result = try reach.run(command + ["--socket", stage.socket, "--timeout", "5s"] + end)
        return (result.status, try stage.namespace.run("ip", "neigh", "show", "192.0.2.1"))
    }

    @Test(arguments: [["wait"], ["run", "--when", "reachable"]])
    func `a router that is back is found for who waits, though only the daemon's kernel knows it`(command: [String])
        throws
    {
        let (status, entry) = try outcome(ofWaiting: command)
        #expect(status == 0)
        #expect(entry.contains("REACHABLE"))
    }

    private func object(_ line: String) throws -> [String: Any] {
        try #require(JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
    }

    /// A line without its number.
    private func unnumbered(_ line: String) -> String {
        line.replacing(#/"seq":[0-9]+/#, with: "\"seq\":0")
    }

    @Test func `a watch through the daemon prints the daemon's own lines, in the same order`() throws {
        let stage = try Stage()
        defer { stage.end() }
        let watch = try reach.start(["watch", "--socket", stage.socket])
        let first = try object(watch.nextLine())
        #expect(first["type"] as? String == "snapshot" && first["seq"] as? Int == 1)
        for _ in 0..<15 {
            try stage.ip("link set up0 down")
            try stage.ip("link set up0 up")
            try stage.ip("route add default via 192.0.2.1")
        }
        try stage.ip("route replace blackhole default")
        var daemonLines: [String] = []
        while daemonLines.last?.contains("\"blackhole\"") != true { daemonLines.append(try stage.daemon.nextLine()) }
        #expect(daemonLines.count > 20)
        for (number, line) in daemonLines.enumerated() {
            let own = try watch.nextLine()
            #expect(unnumbered(own) == unnumbered(line))
            #expect(own.contains("\"seq\":\(number + 2),"))
        }
        watch.send(SIGTERM)
        #expect(try watch.finish().status == 0)
    }

    @Test func `what the daemon read to answer a client is unmapped, also while the client watches`() throws {
        let stage = try Stage()
        defer { stage.end() }
        usleep(1_000_000)
        let atRest = try stage.mappedCode
        let watch = try reach.start(["watch", "--socket", stage.socket])
        _ = try watch.nextLine()
        #expect(try stage.mapsAtMost(atRest * 5 / 4), "more than the \(atRest) KiB of before")
        watch.send(SIGTERM)
    }

    @Test func `the daemon remembers which link carried the path, for the status and the explanation`() throws {
        let stage = try Stage()
        defer { stage.end() }
        try stage.ip("link del up0")
        let event = try object(stage.daemon.nextLine())
        let status = try #require(event["status"] as? [String: Any])
        #expect(status["reason"] as? String == "no-route")
        #expect(status["root_cause"] as? String == "interface-gone")
        #expect(status["root_interface"] as? String == "up0")
        let previous = try #require(event["previous"] as? [String: Any])
        #expect(previous["root_cause"] is NSNull)
        for command in ["status", "explain"] {
            let result = try reach.run([command, "--socket", stage.socket])
            #expect(result.lines.first == "internet is not reachable: up0 is gone", "\(result.standardOutput)")
        }
        let explained = try reach.run(["explain", "--socket", stage.socket])
        #expect(explained.standardOutput.contains("The cause is that up0 is gone."))
        let history = try reach.run(["history", "--state", stage.directory.path])
        #expect(history.standardOutput.contains("interface-gone up0"), "\(history.standardOutput)")
    }

    @Test func `a restart of the daemon prints two lines, and one for the difference`() throws {
        let stage = try Stage()
        defer { stage.end() }
        let watch = try reach.start(["watch"], environment: ["REACH_SOCKET": stage.socket])
        var number = 1
        var printed = ""
        func next() throws -> [String: Any] {
            let text = try watch.nextLine()
            printed += text
            let line = try object(text)
            #expect(line["seq"] as? Int == number)
            number += 1
            return line
        }
        let first = try next()
        var status = try #require(first["status"] as? [String: Any])
        for round in 0..<6 {
            try stage.kill()
            let gone = try next()
            #expect(gone["type"] as? String == "disconnected")
            #expect((gone["reason"] as? String)?.contains("hung up") == true)
            let last = try #require(gone["status"] as? [String: Any])
            #expect(last["stale"] as? Bool == true)
            #expect(last["status"] as? String == status["status"] as? String)
            // Every other time nothing differs; changes that were undone meanwhile are not reported.
            if round % 2 == 0 {
                let isAway = status["status"] as? String == "not-reachable"
                try stage.ip("route \(isAway ? "add" : "del") default via 192.0.2.1")
            } else {
                try stage.ip("link set up0 mtu \(1400 + round)")
            }
            try stage.start()
            let back = try next()
            #expect(back["type"] as? String == "reconnected")
            #expect((back["away_ms"] as? Int ?? -1) >= 0)
            guard round % 2 == 0 else { continue }
            let change = try next()
            #expect(change["type"] as? String == "change" && change["cause"] as? String == "resync")
            #expect(change["changed"] as? [String] == ["status"])
            let previous = try #require(change["previous"] as? [String: Any])
            #expect(previous["status"] as? String == status["status"] as? String)
            let epoch = status["epoch"] as? Int ?? 0
            status = try #require(change["status"] as? [String: Any])
            #expect(status["stale"] as? Bool == false)
            #expect(status["epoch"] as? Int == epoch + 1)
        }
        // From then on it gets events like any other client.
        try stage.ip("route replace prohibit default")
        #expect(try next()["type"] as? String == "change")
        #expect(JSONKeys.all(in: printed).subtracting(ManualPage("reach-events.7").arguments(of: "Va")) == [])
        #expect(JSONKeys.all(in: printed).contains("away_ms"))
        watch.send(SIGTERM)
        #expect(try watch.finish().status == 0)
    }

    @Test func `a daemon that stays away leaves the state stale, then unknown`() throws {
        let stage = try Stage()
        defer { stage.end() }
        let watch = try reach.start(["watch", "--pretty", "--socket", stage.socket])
        #expect(
            try watch.nextLine().hasSuffix(
                "internet is reachable through up0 (virtual); IPv4 up0 from 192.0.2.2 via 192.0.2.1"))
        #expect(try watch.nextLine() == "(answered by the daemon)")
        try stage.kill()
        let gone = try watch.nextLine()
        #expect(gone.contains("hung up; internet is reachable") && gone.hasSuffix(", stale"))
        #expect(
            try watch.nextLine(within: .seconds(15)).hasSuffix(
                "internet is unknown: it cannot be observed [cannot-observe]"))
        try stage.start()
        #expect(try watch.nextLine().contains("the daemon is back after "))
        #expect(try watch.nextLine().contains("internet is reachable"))
        watch.send(SIGINT)
        #expect(try watch.finish().status == 0)
    }

    @Test func `an alternative name means the link in conditions and for attempts, with and without the daemon`() throws
    {
        let stage = try Stage()
        defer { stage.end() }
        // Sockets cannot be bound by the long one.
        for name in ["uplink", "a-name-of-more-than-15-bytes"] {
            try stage.ip("link property add dev up0 altname \(name)")
            for daemon in [["--socket", stage.socket], ["--no-daemon"]] {
                let waited = try reach.run(
                    ["wait", "--until", "interface=" + name, "--timeout", "10s"] + daemon, in: stage.namespace.name)
                #expect(waited.status == 0)
                // Nothing listens there, which the host itself says.
                let probe = try reach.run(
                    ["probe", "--interface", name, "tcp://192.0.2.1:9"] + daemon, in: stage.namespace.name)
                #expect(probe.status == 1 && probe.standardOutput.contains("refused"), "\(probe)")
            }
        }
    }

    @Test func `wait and run use the daemon, and survive its restart`() throws {
        let stage = try Stage()
        defer { stage.end() }
        let daemon = ["--socket", stage.socket]
        #expect(try reach.run(["wait", "--until", "interface=up0", "--timeout", "0"] + daemon).status == 0)
        #expect(try reach.run(["wait", "--until", "not-reachable", "--timeout", "50ms"] + daemon).status == 124)
        let ran = try reach.run(["run", "--when", "interface=up0"] + daemon + ["--", "sh", "-c", "echo on; exit 7"])
        #expect(ran.status == 7 && ran.standardOutput == "on\n")
        let waiting = try reach.start(["wait", "--until", "not-reachable", "--timeout", "60s"] + daemon)
        let running = try reach.start(["run", "--when", "not-reachable"] + daemon + ["--", "echo", "off"])
        try stage.waitForSubscribers(2)
        try stage.kill()
        try stage.ip("route del default")
        try stage.start()
        #expect(try waiting.finish().status == 0)
        #expect(try running.nextLine() == "off")
        let never = try reach.start(["wait", "--until", "reachable", "--timeout", "1s"] + daemon)
        try stage.waitForSubscribers(1)
        try stage.kill()
        #expect(try never.finish().status == 124)
    }

    /// Nothing differs then, so that no change says that the condition holds.
    @Test func `a condition holds again when the daemon is back`() throws {
        let stage = try Stage()
        defer { stage.end() }
        let script = "trap 'echo end; exit 0' TERM; echo go; while :; do sleep 0.1; done"
        let lasting = try reach.start(
            [
                "run", "--socket", stage.socket, "--while", "interface=up0", "--hold", "0", "--on-loss", "restart",
                "--", "sh", "-c", script,
            ])
        #expect(try lasting.nextLine() == "go")
        try stage.kill()
        #expect(try lasting.nextLine() == "end")
        try stage.start()
        #expect(try lasting.nextLine() == "go")
        lasting.send(SIGTERM)
        #expect(try lasting.finish().status == 0)
    }

    @Test(arguments: [
        ["links"], ["links", "--all"], ["links", "up0", "lo"], ["explain"], ["explain", "192.0.2.1"],
        ["explain", "203.0.113.9"], ["explain", "interface:nosuch0"], ["explain", "localhost"],
    ])
    func `links and explanations from the daemon equal those from the kernel`(arguments: [String]) throws {
        let stage = try Stage()
        defer { stage.end() }
        try stage.ip("link add br0 type bridge")
        try stage.ip("link add end0 type veth peer name end1")
        try stage.ip("link set end0 master br0")
        try stage.ip("link set br0 up")
        try stage.ip("link property add dev up0 altname uplink")
        try stage.ip("address add 2001:db8::7/64 dev up0 preferred_lft 0 nodad")
        try stage.ip("route add unreachable 203.0.113.0/24")
        let result = try reach.run(arguments + ["--socket", stage.socket])
        let own = try reach.run(arguments + ["--no-daemon"], in: stage.namespace.name)
        #expect(result.status == own.status)
        #expect(result.lines.dropLast() == own.lines[...])
        #expect(result.lines.last == "(answered by the daemon)")
        func members(_ result: BuiltProgram.Result) throws -> [NSDictionary] {
            try result.lines.map { line in
                var members = try object(line)
                for key in ["time", "boottime_ns", "source"] { #expect(members.removeValue(forKey: key) != nil) }
                return members as NSDictionary
            }
        }
        // Links that just came up count packets of their own, such as reports of multicast groups.
        var before: [NSDictionary] = []
        for _ in 0..<20 {
            let json = try reach.run(arguments + ["--json", "--socket", stage.socket])
            #expect(json.standardOutput.contains("\"source\":\"daemon\""))
            let ownJSON = try reach.run(arguments + ["--json", "--no-daemon"], in: stage.namespace.name)
            #expect(ownJSON.standardOutput.contains("\"source\":\"kernel\""))
            let after = try members(ownJSON)
            if before == after { return #expect(try members(json) == after) }
            before = after
        }
        Issue.record("the counters of the links never stop")
    }

    /// A mount replaces the default directory of root's socket for one process.
    @Test(.enabled(if: getuid() == 0, "other users have another default path"))
    func `only programs in its network namespace ask a daemon at the default path`() throws {
        let stage = try Stage()
        defer { stage.end() }
        try ChildProcess.run(["mkdir", "-p", stage.directory.path + "/run/reach"])
        let place = stage.directory.path + "/run/reach/reach.sock"
        let daemon = try BuiltProgram(named: "reachd").start(
            ["--socket", place, "--state", stage.directory.path + "/run", "--events"], in: stage.namespace.name)
        _ = try daemon.nextLine()
        for (isInside, expected) in [(true, "daemon"), (false, "kernel")] {
            let enter = isInside ? "nsenter --net=/run/netns/\(stage.namespace.name) " : ""
            let script = "exec \(enter)unshare --mount sh -c 'mount --bind \"$0\" /run && exec \"$@\"' \"$0\" \"$@\""
            let shell = [script, stage.directory.path + "/run", reach.path]
            func answer(to command: [String]) throws -> String {
                let program = try BuiltProgram(named: "sh").start(
                    ["-c"] + shell + command, environment: ["REACH_SOCKET": nil])
                return try program.nextLine()
            }
            for command in [["status", "--json"], ["watch"], ["links", "--json"], ["explain", "--json"]] {
                #expect(try answer(to: command).contains("\"source\":\"\(expected)\""), "\(command)")
            }
        }
        daemon.send(SIGTERM)
        #expect(try daemon.finish().status == 0)
    }

    @Test func `with options that the daemon cannot honour the kernel answers, and a note says so`() throws {
        let stage = try Stage()
        defer { stage.end() }
        let environment = ["REACH_SOCKET": stage.socket as String?]
        let own = try reach.run(
            ["status", "--anchor", "192.0.2.1"], environment: environment, in: stage.namespace.name)
        #expect(own.lines.last == "(answered by the kernel: --anchor is not for the daemon)")
        for arguments in [["watch", "--hold-down", "1s"], ["watch", "--all"], ["watch", "--class", "up*=wifi"]] {
            let watch = try reach.start(arguments, environment: environment, in: stage.namespace.name)
            #expect(try watch.nextLine().contains("\"source\":\"kernel\""))
        }
        let named = try reach.start(["watch"], environment: environment)
        #expect(try named.nextLine().contains("\"source\":\"daemon\""))
        let without = try reach.start(["watch", "--no-daemon"], environment: environment)
        #expect(try without.nextLine().contains("\"source\":\"kernel\""))
    }
}

/// Tests without a namespace.
@Suite(.timeLimit(.minutes(1))) struct AbsentDaemonTests {
    private let reach = BuiltProgram.reach

    @Test(arguments: [
        ["status"], ["watch"], ["wait"], ["run", "--when", "reachable"], ["links"], ["explain"],
    ])
    func `a named daemon that does not answer ends the command with 4`(command: [String]) throws {
        let end = command.first == "run" ? ["--", "true"] : []
        let named = try reach.run(command + ["--socket", "/nonexistent/socket"] + end)
        #expect(named.status == 4)
        #expect(named.standardOutput.isEmpty)
        #expect(
            named.standardError
                == "reach: no daemon answers at /nonexistent/socket; start one: reachd --socket /nonexistent/socket &\n"
        )
        let environment = ["REACH_SOCKET": "/nonexistent/socket" as String?]
        #expect(try reach.run(command + end, environment: environment).status == 4)
        let both = try reach.run(command + ["--socket", "/s", "--mark", "1"] + end)
        #expect(both.status == 2)
        #expect(both.standardError.contains("--socket and --mark exclude each other"))
    }

    /// A killed daemon leaves a socket without a listener.
    @Test func `without a named daemon the kernel answers instead`() throws {
        let directory = try TemporaryDirectory()
        defer { withExtendedLifetime(directory) {} }
        // An empty variable counts as unset.
        let environment = ["REACH_SOCKET": "", "XDG_RUNTIME_DIR": directory.path as String?]
        for command in [
            ["status", "--json", "127.0.0.1"], ["links", "--json", "lo"], ["explain", "--json", "127.0.0.1"],
        ] {
            let result = try reach.run(command, environment: environment)
            #expect(result.status == 0)
            #expect(result.standardOutput.contains("\"source\":\"kernel\""))
        }
        #expect(try reach.run(["wait", "--timeout", "0", "127.0.0.1"], environment: environment).status == 0)
        let watch = try reach.start(["watch", "127.0.0.1"], environment: environment)
        #expect(try watch.nextLine().contains("\"source\":\"kernel\""))
    }

    @Test(.enabled(if: TestNamespace.isAvailable, "\(TestNamespace.whyNot)"))
    func `without netlink the daemon answers the command and the library`() throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        try namespace.vethPair()
        let directory = try TemporaryDirectory()
        defer { withExtendedLifetime(directory) {} }
        let socket = directory.path + "/socket"
        func startDaemon() throws -> RunningProgram {
            let daemon = try BuiltProgram(named: "reachd").start(
                ["--socket", socket, "--state", directory.path, "--events"], in: namespace.name)
            _ = try daemon.nextLine()
            return daemon
        }
        let confine = BuiltProgram(named: "confine")
        let monitor = try confine.start(["no-netlink", BuiltProgram(named: "monitor").path, socket])
        #expect(try monitor.nextLine() == "1 unknown start ")
        var daemon = try startDaemon()
        #expect(try monitor.nextLine() == "2 reachable resync status")
        for command in [["status"], ["links", "up0"], ["explain"], ["wait"], ["run", "--when", "reachable"]] {
            let end = command.first == "run" ? ["--", "true"] : []
            let result = try confine.run(["no-netlink", reach.path] + command + ["--socket", socket] + end)
            #expect(result.status == 0, "\(command)")
        }
        try namespace.run("ip", "route", "del", "default")
        #expect(try monitor.nextLine() == "3 not-reachable route-removed status")
        daemon.send(SIGKILL)
        _ = try daemon.finish()
        #expect(try monitor.nextLine() == "stale")
        daemon = try startDaemon()
        #expect(try monitor.nextLine() == "fresh")
        daemon.send(SIGKILL)
        _ = try daemon.finish()
        #expect(try monitor.nextLine() == "stale")
        try namespace.run("ip", "route", "add", "default", "via", "192.0.2.1")
        // Their order is undefined: one comes from another thread.
        daemon = try startDaemon()
        #expect(Set([try monitor.nextLine(), try monitor.nextLine()]) == ["fresh", "4 reachable resync status"])
        daemon.send(SIGTERM)
        #expect(try daemon.finish().status == 0)
        let late = [try monitor.nextLine(), try monitor.nextLine(within: .seconds(15)), try monitor.nextLine()]
        #expect(late.first == "stale")
        #expect(Set(late.dropFirst()) == ["fresh", "5 unknown cannot-observe status"])
    }
}
