internal import Glibc
internal import ReachCore
internal import ReachTesting
internal import Testing

/// `reachd` as a service manager and its clients use it.
@Suite(.timeLimit(.minutes(1))) struct DaemonProgramTests {
    private let reachd = BuiltProgram(named: "reachd")
    private let reach = BuiltProgram.reach

    /// A directory that only this user may write to.
    private func withDirectory<Value>(_ body: (String) throws -> Value) throws -> Value {
        let directory = try TemporaryDirectory()
        return try withExtendedLifetime(directory) { try body(directory.path) }
    }

    private func write(_ text: String, to path: String) throws {
        try ChildProcess.run(["sh", "-c", "printf '%s\\n' \"$1\" > \"$0\"", path, text])
    }

    @Test(.enabled(if: TestNamespace.isAvailable, "\(TestNamespace.whyNot)"))
    func `it answers, prints its events, and shuts down`() throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        try namespace.vethPair()
        try withDirectory { directory in
            let socket = directory + "/socket"
            let daemon = try reachd.start(["--socket", socket, "--state", directory, "--events"], in: namespace.name)
            #expect(try daemon.nextLine().contains("\"source\":\"daemon\""))
            // The client is in another namespace, where the answer would differ.
            let result = try reach.run(["status", "--json", "--socket", socket])
            #expect(result.status == 0)
            #expect(result.standardOutput.contains("\"source\":\"daemon\""))
            #expect(result.standardOutput.contains("\"interface\":\"up0\""))
            try namespace.run("ip", "route", "del", "default")
            #expect(try daemon.nextLine().contains("\"cause\":\"route-removed\""))
            #expect(try reach.run(["status", "--socket", socket]).status == 1)
            #expect(try reach.run(["status", "--socket", socket, "192.0.2.1"]).status == 0)
            daemon.send(SIGTERM)
            #expect(try daemon.finish(within: .seconds(2)).status == 0)
            #expect(access(socket, F_OK) == -1)
            // The history remains.
            let history = try reach.run(["history", "--state", directory, "--since", "1h"])
            #expect(history.status == 0)
            #expect(history.standardOutput.contains("internet"))
            #expect(history.standardOutput.contains("no-default-route up0, no-route"))
            let records = try reach.run(["history", "--state", directory, "--json", "internet"]).lines
            #expect(records.count == 2)
            #expect(records.allSatisfy { $0.hasPrefix("{\"v\":1,\"type\":\"state\"") })
        }
    }

    @Test(.enabled(if: TestNamespace.isAvailable, "\(TestNamespace.whyNot)"))
    func `a hook runs on a change, and not before`() throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        try namespace.vethPair()
        try withDirectory { directory in
            let (file, socket, hook) = (directory + "/reach.toml", directory + "/socket", directory + "/hook")
            try ChildProcess.run(["mkdir", "-m", "755", directory + "/hooks.d"])
            try write("[hooks]\ndirectory = \"\(directory)/hooks.d\"", to: file)
            let said = directory + "/said"
            let words = "$REACH_PREVIOUS_STATUS $REACH_STATUS $REACH_CAUSE"
            try write("#!/bin/sh\necho \(words) > \(said).new && mv \(said).new \(said)", to: hook)
            try ChildProcess.run(["install", "-m", "755", hook, directory + "/hooks.d/record"])
            let daemon = try reachd.start(
                ["--config", file, "--socket", socket, "--state", directory, "--events"], in: namespace.name)
            _ = try daemon.nextLine()
            try namespace.run("ip", "route", "del", "default")
            _ = try daemon.nextLine()
            let wait = "for i in $(seq 100); do [ -s \"$0\" ] && break; sleep 0.1; done; cat \"$0\""
            #expect(try ChildProcess.run(["sh", "-c", wait, said]) == "reachable not-reachable route-removed\n")
            daemon.send(SIGTERM)
            #expect(try daemon.finish().status == 0)
        }
    }

    @Test(.enabled(if: TestNamespace.isAvailable, "\(TestNamespace.whyNot)"))
    func
        `the hook of a target runs at the start and after a change, and a new one at a reload`()
        throws
    {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        let peer = try namespace.vethPair()
        try withDirectory { directory in
            let (file, said) = (directory + "/reach.toml", directory + "/said")
            let words = "$(basename \"$0\") $REACH_NAME $REACH_EVENT $REACH_WORKS"
            for name in ["one", "two"] {
                try write("#!/bin/sh\necho \"\(words)\" >> \(said)", to: directory + "/hook")
                try ChildProcess.run(["install", "-m", "755", directory + "/hook", directory + "/\(name)"])
            }
            let hook = { (target: String, name: String) in
                "[[hook]]\ntarget = \"\(target)\"\nrun = \"\(directory)/\(name)\"\n"
            }
            let base = "[hold]\nflaps = \"0s\"\n[targets]\nline = \"interface:up0\"\n\(hook("line", "one"))"
            try write(base, to: file)
            let daemon = try reachd.start(
                ["--config", file, "--socket", directory + "/socket", "--state", directory, "--events"],
                in: namespace.name)
            func expect(_ line: String) throws {
                let wait =
                    "for i in $(seq 200); do tail -n 2 \"$0\" | grep -qx \"$1\" && exit; sleep 0.1; done; cat \"$0\""
                let found = try ChildProcess.run(["sh", "-c", wait, said, line])
                #expect(found.isEmpty, "\(line): \(found)")
            }
            try expect("one line snapshot true")
            try peer.run("ip", "link", "set", "up1", "down")
            try expect("one line change false")
            try peer.run("ip", "link", "set", "up1", "up")
            try expect("one line change true")
            try write(base + hook("internet", "two"), to: file)
            daemon.send(SIGHUP)
            try expect("two  snapshot true")
            daemon.send(SIGTERM)
            #expect(try daemon.finish().status == 0)
            try write(base + hook("lnie", "two"), to: file)
            let checked = try reachd.run(["--config", file, "--check-config"])
            #expect(checked.status == 78 && checked.standardError.contains("no target has the name \"lnie\""))
        }
    }

    @Test(.enabled(if: TestNamespace.isAvailable, "\(TestNamespace.whyNot)"))
    func `a link that flaps is one run of a hook and one line of the log, and two events`() throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        let peer = try namespace.vethPair()
        try withDirectory { directory in
            let (file, said) = (directory + "/reach.toml", directory + "/said")
            try ChildProcess.run(["mkdir", "-m", "755", directory + "/hooks.d"])
            try write("[hooks]\ndirectory = \"\(directory)/hooks.d\"\n[hold]\nflaps = \"20s\"", to: file)
            try write(
                "#!/bin/sh\necho \"$REACH_STATUS,$REACH_CHANGED,$REACH_FLAP_TEXT\" >> \(said)", to: directory + "/hook")
            try ChildProcess.run(["install", "-m", "755", directory + "/hook", directory + "/hooks.d/record"])
            let daemon = try reachd.start(
                ["--config", file, "--socket", directory + "/socket", "--state", directory, "--events"],
                in: namespace.name)
            _ = try daemon.nextLine()
            try peer.run("ip", "link", "set", "up1", "down")
            #expect(try daemon.nextLine().contains("\"reason\":\"no-carrier\""))
            try peer.run("ip", "link", "set", "up1", "up")
            #expect(try daemon.nextLine().contains("\"cause\":\"carrier-gained\""))
            let wait = "for i in $(seq 100); do [ -s \"$0\" ] && break; sleep 0.1; done; cat \"$0\""
            let run = try ChildProcess.run(["sh", "-c", wait, said])
            #expect(run.hasPrefix("reachable,,it was lost for ") && run.hasSuffix(": up0 has no carrier\n"), "\(run)")
            daemon.send(SIGTERM)
            let log = try daemon.finish().standardError
            #expect(
                log.split(separator: "\n").count { $0.contains("the Internet flapped: it was lost for ") } == 1,
                "\(log)")
            #expect(!log.contains("the Internet is lost") && !log.contains("the Internet is back"), "\(log)")
        }
    }

    /// What `reach explain --probe` says beside a daemon that has seen a change and said this root cause.
    private func tested(
        in namespace: TestNamespace, says cause: String, after change: () throws -> Void
    ) throws -> BuiltProgram.Result {
        try withDirectory { directory in
            let socket = directory + "/socket"
            let daemon = try reachd.start(
                ["--config", "/dev/null", "--socket", socket, "--state", directory, "--events"], in: namespace.name)
            _ = try daemon.nextLine()
            try change()
            #expect(try daemon.nextLine().contains("\"root_cause\":\"\(cause)\""))
            let tested = try reach.run(
                ["explain", "--probe", "internet"], environment: ["REACH_SOCKET": socket], in: namespace.name)
            daemon.send(SIGTERM)
            _ = try daemon.finish()
            return tested
        }
    }

    @Test(.enabled(if: TestNamespace.isAvailable, "\(TestNamespace.whyNot)"))
    func `a test of the way names the link that is gone, since the daemon knew it`() throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        try namespace.vethPair()
        let tested = try tested(in: namespace, says: "interface-gone") {
            try namespace.run("ip", "link", "del", "up0")
        }
        #expect(tested.standardOutput.contains("up0 is gone"), "\(tested)")
    }

    @Test(.enabled(if: TestNamespace.isAvailable, "\(TestNamespace.whyNot)"))
    func `a test of the way misses no address of IPv6 on a link that the daemon knew by IPv4 alone`() throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        try namespace.vethPair()
        try namespace.run("ip", "address", "del", "2001:db8::2/64", "dev", "up0")
        let tested = try tested(in: namespace, says: "no-default-route") {
            try namespace.run("ip", "route", "del", "default")
        }
        #expect(tested.standardOutput.contains("up0 has an address, but no default route"), "\(tested)")
    }

    @Test(.enabled(if: TestNamespace.isAvailable, "\(TestNamespace.whyNot)"))
    func `a hook gets begin and length of an outage as the history has them, and the end of a removed probe`() throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        let peer = try namespace.vethPair()
        try withDirectory { directory in
            let (file, said) = (directory + "/reach.toml", directory + "/said")
            try ChildProcess.run(["mkdir", "-m", "755", directory + "/hooks.d"])
            let rest = "[hooks]\ndirectory = \"\(directory)/hooks.d\"\nevents = [\"change\", \"probe\"]\n"
            let probe = "[[probe]]\nname = \"nas\"\ntarget = \"tcp://127.0.0.1:1\"\ndown = 1\ninterval = \"1s\"\n"
            try write(rest + "[hold]\nflaps = \"0s\"\n" + probe, to: file)
            let words = "$REACH_NAME|$REACH_STATUS|$REACH_REASON|$REACH_OUTAGE_SINCE|$REACH_OUTAGE_MS"
            try write("#!/bin/sh\necho \"$REACH_TARGET|\(words)\" >> \(said)", to: directory + "/hook")
            try ChildProcess.run(["install", "-m", "755", directory + "/hook", directory + "/hooks.d/record"])
            let daemon = try reachd.start(
                ["--config", file, "--socket", directory + "/socket", "--state", directory], in: namespace.name)
            func wait(for text: String) throws -> [[Substring]] {
                let wait = "for i in $(seq 200); do grep -q \"$1\" \"$0\" && break; sleep 0.1; done; cat \"$0\""
                return try ChildProcess.run(["sh", "-c", wait, said, text]).split(separator: "\n").map {
                    $0.split(separator: "|", omittingEmptySubsequences: false)
                }
            }
            let down = try #require(try wait(for: "^probe:nas").first { $0[0] == "probe:nas" })
            #expect(down[1] == "probe:nas" && down[2] == "not-reachable" && down[3] == "refused" && down[5] == "")
            try peer.run("ip", "link", "set", "up1", "down")
            _ = try wait(for: "^internet|[a-z]*|not-reachable")
            try peer.run("ip", "link", "set", "up1", "up")
            let back = try #require(
                try wait(for: "^internet|[a-z]*|reachable").first { $0[0] == "internet" && $0[2] == "reachable" })
            try write(rest + "[hold]\nflaps = \"0s\"\n", to: file)
            daemon.send(SIGHUP)
            let over = try #require(try wait(for: "unwatched").last { $0[0] == "probe:nas" })
            #expect(over[2] == "unknown" && over[3] == "unwatched")
            daemon.send(SIGTERM)
            #expect(try daemon.finish().status == 0)
            let lines = try reach.run(["history", "--state", directory, "--json", "internet"]).standardOutput
            let states = try lines.split(separator: "\n").map { try JSONReader.read(Array($0.utf8)) }
            let place = try #require(states.firstIndex { $0["status"]?.string == "not-reachable" })
            let lost = states[place]
            let again = try #require(states[place...].first { $0["status"]?.string == "reachable" })
            #expect(lost["time"]?.string == String(back[4]))
            let begin = try #require(lost["boottime_ns"]?.integer), end = try #require(again["boottime_ns"]?.integer)
            #expect(String((end - begin) / 1_000_000) == back[5])
            let text = try reach.run(["history", "--state", directory]).standardOutput
            #expect(!text.contains("down now"), "\(text)")
        }
    }

    @Test func `hooks run for probes that fail and for requests that fail for good, if they are wanted`() throws {
        try withDirectory { directory in
            let (file, socket, hook) = (directory + "/reach.toml", directory + "/socket", directory + "/hook")
            try ChildProcess.run(["mkdir", "-m", "755", directory + "/hooks.d"])
            // Nothing listens there.
            let probe =
                "[[probe]]\nname = \"shop\"\ntarget = \"tcp://127.0.0.1:1\"\ndown = 1\ninterval = \"1s\"\ntimeout = \"500ms\""
            try write(
                "[hooks]\ndirectory = \"\(directory)/hooks.d\"\nevents = [\"probe\", \"request-dead\"]\n\(probe)",
                to: file)
            let said = directory + "/said"
            try write("#!/bin/sh\necho \"$REACH_EVENT $REACH_TARGET $REACH_STATUS$REACH_OWNER\" >> \(said)", to: hook)
            try ChildProcess.run(["install", "-m", "755", hook, directory + "/hooks.d/record"])
            let daemon = try reachd.start(["--config", file, "--socket", socket, "--state", directory, "--events"])
            _ = try daemon.nextLine()
            let added = try reach.run(["queue", "add", "--socket", socket, "--expires", "1s", "http://127.0.0.1:1/"])
            #expect(added.status == 0, "\(added)")
            let wait = "for i in $(seq 100); do [ $(wc -l < \"$0\") = 2 ] && break; sleep 0.1; done; sort \"$0\""
            #expect(
                try ChildProcess.run(["sh", "-c", wait, said])
                    == "probe probe:shop not-reachable\nrequest-dead request:1 \(getuid())\n")
            daemon.send(SIGTERM)
            #expect(try daemon.finish().status == 0)
        }
    }

    @Test func `without the right to read advertisements it says that no network has a name by its pvd`() throws {
        try withDirectory { directory in
            let file = directory + "/reach.toml"
            try write("[[network]]\nname = \"office\"\npvd = \"office.example.com\"", to: file)
            let words = ["--config", file, "--socket", directory + "/socket", "--state", directory, "--events"]
            // As root, drops the right; no one else has it.
            let daemon =
                getuid() == 0
                ? try BuiltProgram(named: "setpriv").start(["--bounding-set=-net_raw", reachd.path] + words)
                : try reachd.start(words)
            _ = try daemon.nextLine()
            daemon.send(SIGTERM)
            let result = try daemon.finish()
            #expect(result.status == 0)
            #expect(result.standardError.contains("no network has a name by its pvd"), "\(result.standardError)")
        }
    }

    @Test func `libcurl is loaded when something is sent, and not before`() throws {
        try withDirectory { directory in
            let socket = directory + "/socket"
            let daemon = try reachd.start(["--socket", socket, "--state", directory + "/state", "--events"])
            _ = try daemon.nextLine()
            let libraries = { try ChildProcess.run(["cat", "/proc/\(daemon.process)/maps"]) }
            #expect(try !libraries().contains("libcurl.so"))
            // Nothing listens there.
            #expect(try reach.run(["probe", "--socket", socket, "http://127.0.0.1:1/"]).status == 1)
            #expect(try libraries().contains("libcurl.so"))
            daemon.send(SIGTERM)
            #expect(try daemon.finish().status == 0)
        }
    }

    @Test func `a second daemon is refused, and a stale socket is replaced`() throws {
        try withDirectory { directory in
            let socket = directory + "/socket"
            let first = try reachd.start(["--socket", socket, "--state", directory, "--events"])
            _ = try first.nextLine()
            let second = try reachd.run(["--socket", socket, "--state", directory + "/another"])
            #expect(second.status == 73)
            #expect(second.standardError.contains("\(socket) belongs to process \(first.process)"))
            let third = try reachd.run(["--socket", directory + "/other", "--state", directory])
            #expect(third.status == 73)
            #expect(third.standardError.contains("\(directory) belongs to process \(first.process)"))
            #expect(access(directory + "/other", F_OK) == -1)
            first.send(SIGKILL)
            _ = try first.finish()
            #expect(access(socket, F_OK) == 0)
            let fourth = try reachd.start(["--socket", socket, "--state", directory, "--events"])
            _ = try fourth.nextLine()
            #expect(try reach.run(["status", "--socket", socket]).status != 4)
            fourth.send(SIGTERM)
            #expect(try fourth.finish().status == 0)
        }
    }

    @Test func `an unusable state directory disables only the history and the queue`() throws {
        try withDirectory { directory in
            let socket = directory + "/socket"
            let daemon = try reachd.start(["--socket", socket, "--state", "/dev/null/reach", "--events"])
            _ = try daemon.nextLine()
            #expect(try reach.run(["status", "--socket", socket]).status != 4)
            daemon.send(SIGTERM)
            let end = try daemon.finish()
            #expect(end.status == 0)
            #expect(end.standardError.contains("warning: history, journal and queue are unavailable error="))
        }
    }

    @Test func `a named daemon that does not answer gives no status`() throws {
        let named = try reach.run(["status", "--socket", "/nonexistent/socket"])
        #expect(named.status == 4)
        #expect(named.standardError.contains("no daemon answers"))
        #expect(try reach.run(["status"], environment: ["REACH_SOCKET": "/nonexistent/socket"]).status == 4)
        let own = try reach.run(
            ["status", "--no-daemon", "--json", "127.0.0.1"], environment: ["REACH_SOCKET": "/nonexistent/socket"])
        #expect(own.status == 0)
        #expect(own.standardOutput.contains("\"source\":\"kernel\""))
    }

    @Test func `SIGUSR1 writes the state to the log, whatever its level, and ends nothing`() throws {
        try withDirectory { directory in
            let (file, socket) = (directory + "/reach.toml", directory + "/socket")
            try write("log_level = \"error\"\n[targets]\nself = \"127.0.0.1\"", to: file)
            let daemon = try reachd.start(["--config", file, "--socket", socket, "--state", directory, "--events"])
            _ = try daemon.nextLine()
            // It is answered after the states are known.
            #expect(try reach.run(["status", "--socket", socket, "self"]).status == 0)
            daemon.send(SIGUSR1)
            #expect(try reach.run(["status", "--socket", socket, "self"]).status == 0)
            daemon.send(SIGTERM)
            let end = try daemon.finish()
            #expect(end.status == 0)
            for words in ["notice: state: reachd ", " self is reachable", "state: queue: 0 waiting, ", " clients; "] {
                #expect(end.standardError.contains(words), "\(end.standardError)")
            }
        }
    }

    @Test func `the configuration is printed with its defaults, and a drop-in that is added is read with SIGHUP`()
        throws
    {
        try withDirectory { directory in
            let (file, socket) = (directory + "/reach.toml", directory + "/socket")
            try write("[hold]\nup = \"1s\"", to: file)
            let first = try reachd.run(["--config", file, "--dump-config"])
            #expect(first.status == 0 && first.standardError.isEmpty)
            #expect(first.standardOutput.contains("up = \"1s\"  # \(file):2\ndown = \"0s\"  # default\n"))
            let copy = directory + "/copy.toml"
            try write(first.standardOutput, to: copy)
            let second = try reachd.run(["--config", copy, "--dump-config"])
            let values = { (text: String) in text.split(separator: "\n").map { $0.split(separator: "  #").first ?? "" }
            }
            #expect(values(second.standardOutput) == values(first.standardOutput))
            let daemon = try reachd.start(["--config", file, "--socket", socket, "--state", directory, "--events"])
            _ = try daemon.nextLine()
            try ChildProcess.run(["mkdir", "-m", "755", directory + "/reach.d"])
            try write("[targets]\nself = \"127.0.0.1\"", to: directory + "/reach.d/10-self.toml")
            #expect(try reach.run(["status", "--socket", socket, "self"]).status == 1)
            daemon.send(SIGHUP)
            let deadline = ContinuousClock.now + .seconds(10)
            while try reach.run(["status", "--socket", socket, "self"]).status != 0, ContinuousClock.now < deadline {}
            #expect(try reach.run(["status", "--socket", socket, "self"]).status == 0)
            try write("oops", to: directory + "/reach.d/20-bad.toml")
            #expect(try reachd.run(["--config", file, "--check-config"]).status == 78)
            daemon.send(SIGTERM)
            #expect(try daemon.finish().status == 0)
        }
    }

    @Test func `as long as the configuration differs from that of the start, each reload says what waits for the next`()
        throws
    {
        try withDirectory { directory in
            let (file, socket) = (directory + "/reach.toml", directory + "/socket")
            try write("# nothing", to: file)
            let daemon = try reachd.start(["--config", file, "--socket", socket, "--state", directory, "--events"])
            _ = try daemon.nextLine()
            for number in 0..<4 {
                // The last one is as at the start.
                let limits = number < 3 ? "[limits]\ntargets = 77" : ""
                try write("[targets]\nt\(number) = \"127.0.0.1\"\n\(limits)", to: file)
                daemon.send(SIGHUP)
                let deadline = ContinuousClock.now + .seconds(10)
                let isLoaded = { try self.reach.run(["status", "--socket", socket, "t\(number)"]).status == 0 }
                while try !isLoaded(), ContinuousClock.now < deadline {}
                #expect(try isLoaded())
            }
            daemon.send(SIGTERM)
            let end = try daemon.finish()
            #expect(end.standardError.split(separator: "take effect at the next start").count == 4)
        }
    }

    @Test func `a reload changes the limits of the queue, and names the keys that wait for the next start`() throws {
        try withDirectory { directory in
            let (file, socket) = (directory + "/reach.toml", directory + "/socket")
            let limits = { (count: Int) in "[queue]\nrequests = \(count)\nrequests_per_user = \(count)\n" }
            try write(limits(1), to: file)
            let daemon = try reachd.start(["--config", file, "--socket", socket, "--state", directory, "--events"])
            _ = try daemon.nextLine()
            let add = ["queue", "add", "--socket", socket, "--when", "wifi", "http://192.0.2.1/"]
            #expect(try reach.run(add).status == 0)
            #expect(try reach.run(add).status != 0)
            let more = "[history]\nentries = 20\ntest_outages = true\n[journal]\nage = \"1d\"\ngroup = \"daemon\"\n"
            try write("[targets]\nself = \"127.0.0.1\"\n\(limits(2))enabled = true\n\(more)", to: file)
            daemon.send(SIGHUP)
            let deadline = ContinuousClock.now + .seconds(10)
            while try reach.run(["status", "--socket", socket, "self"]).status != 0, ContinuousClock.now < deadline {}
            #expect(try reach.run(add).status == 0)
            daemon.send(SIGTERM)
            let end = try daemon.finish()
            #expect(end.standardError.contains("changes to journal.group take effect at the next start"), "\(end)")
        }
    }

    @Test func `an error in the configuration is reported with line and key, and ends with 78`() throws {
        try withDirectory { directory in
            let file = directory + "/reach.toml"
            try write("[hold]\nup = \"soon\"\ndwon = \"1s\"", to: file)
            for arguments in [["--check-config"], ["--socket", directory + "/socket"]] {
                let result = try reachd.run(["--config", file] + arguments)
                #expect(result.status == 78)
                #expect(result.standardError.contains("\(file):2: hold.up"))
                #expect(result.standardError.contains("\(file):3: hold.dwon"))
            }
            try write("[hold]\nup = \"1s\"", to: file)
            let good = try reachd.run(["--config", file, "--check-config"])
            #expect(good.status == 0 && good.standardOutput == "reachd: \(file) is good\n", "\(good)")
        }
    }

    @Test(.enabled(if: TestNamespace.isAvailable, "\(TestNamespace.whyNot)"))
    func `who watches a name of the configuration sees the target that it means after a reload`() throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        try namespace.vethPair()
        try namespace.run("ip", "route", "add", "unreachable", "203.0.113.7")
        try withDirectory { directory in
            let (file, socket) = (directory + "/reach.toml", directory + "/socket")
            try write("[targets]\noffice = \"192.0.2.1\"", to: file)
            let daemon = try reachd.start(
                ["--config", file, "--socket", socket, "--state", directory, "--events"], in: namespace.name)
            _ = try daemon.nextLine()
            let watcher = try reach.start(["watch", "--json", "--socket", socket, "office"], in: namespace.name)
            #expect(try watcher.nextLine().contains("\"status\":\"reachable\""))
            try write("[targets]\noffice = \"203.0.113.7\"", to: file)
            daemon.send(SIGHUP)
            let change = try watcher.nextLine()
            #expect(change.contains("\"cause\":\"configuration\""))
            #expect(change.contains("\"target\":\"203.0.113.7\",\"name\":\"office\",\"status\":\"not-reachable\""))
            watcher.send(SIGINT)
            _ = try watcher.finish()
            daemon.send(SIGTERM)
            #expect(try daemon.finish().status == 0)
        }
    }

    @Test(.enabled(if: TestNamespace.isAvailable, "\(TestNamespace.whyNot)"))
    func `a new configuration is applied as a whole, or not at all`() throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        try namespace.vethPair()
        try withDirectory { directory in
            let (file, socket) = (directory + "/reach.toml", directory + "/socket")
            try write("# nothing", to: file)
            let daemon = try reachd.start(
                ["--config", file, "--socket", socket, "--state", directory, "--events"], in: namespace.name)
            #expect(try daemon.nextLine().contains("\"class\":\"virtual\""))
            try write("[[interface]]\nmatch = \"up*\"\nclass = \"wwan\"", to: file)
            daemon.send(SIGHUP)
            let change = try daemon.nextLine()
            #expect(change.contains("\"cause\":\"configuration\""))
            #expect(change.contains("\"class\":\"wwan\""))
            // The path is judged again, which counts as an epoch.
            #expect(change.contains("\"epoch\":2"))
            try write("[[interface]]\nmatch = \"up*\"\nclass = \"fast\"", to: file)
            daemon.send(SIGHUP)
            let result = try reach.run(["status", "--json", "--socket", socket])
            #expect(result.standardOutput.contains("\"class\":\"wwan\""))
            daemon.send(SIGTERM)
            let end = try daemon.finish()
            #expect(end.status == 0)
            #expect(end.standardError.contains("\(file):3: interface.class"))
        }
    }
}
